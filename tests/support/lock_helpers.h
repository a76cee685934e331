// Short words for what lock tests do all the time.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "leasehold/leasehold.h"
#include "support/results.h"

namespace leasehold::support {

/// A holder on some machine, the same on every run.
inline Holder holder(const std::string& name) {
  return {.name = name,
          .host = "host-of-" + name,
          .boot_id = "boot-of-" + name,
          .pid = 4711,
          .process_start = 99,
          .tty = "pts/7",
          .instance = "instance-of-" + name};
}

/// A call of a named holder.
inline Call by(const std::string& name) { return {.holder = holder(name)}; }

/// A ttl that is left out where it is zero.
inline std::optional<Duration> unless_zero(Duration ttl) {
  return ttl == Duration(0) ? std::nullopt : std::optional(ttl);
}

/// Acquires where a refusal would be the test's own mistake.
inline Grant take(const Locks& locks, const std::string& name, const AcquireOptions& options = {},
                  const Call& call = {}) {
  auto grant = locks.acquire(name, options, call);
  if (!grant) throw std::runtime_error("cannot acquire " + name + ": " + describe(grant.error()));
  return *grant;
}

inline LeaseState state_of(const Locks& locks, const std::string& name) {
  auto info = locks.show(name);
  if (!info) throw std::runtime_error("cannot show " + name + ": " + describe(info.error()));
  return info->state;
}

/// The counts of a store that must be there.
inline StoreStatus status_of(const Store& store) {
  auto status = store.status();
  if (!status) throw std::runtime_error("cannot ask for the status: " + describe(status.error()));
  return *status;
}

}  // namespace leasehold::support
