#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "base/time_text.h"
#include "leasehold/testing.h"
#include "storage/backend.h"
#include "storage/sqlite/backend.h"
#include "store/store.h"

namespace leasehold {
namespace {

[[noreturn]] void stop(const std::string& misuse) {
  detail::stop_without_value({.code = Errc::invalid_argument, .message = misuse});
}

std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

std::string replaced(std::string text, std::string_view name, const std::string& value) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
    text.replace(at, name.size(), value);
  }
  return text;
}

}  // namespace

/// Wall clock and boot-time clock move together, so the store's clock is the wall clock.
class TestStore::Clock final : public leasehold::Clock {
 public:
  explicit Clock(Timestamp start) : wall_(start) {}

  [[nodiscard]] BootTime boot_now() const override {
    const std::lock_guard lock(mutex_);
    return boot_;
  }
  [[nodiscard]] Timestamp wall_now() const override {
    const std::lock_guard lock(mutex_);
    return wall_;
  }
  [[nodiscard]] MachineFacts machine() const override { return system_clock().machine(); }

  void advance(Duration by) {
    if (by < Duration(0)) stop("the clock of a TestStore moves forward only, not by " + format_duration(by));
    const std::lock_guard lock(mutex_);
    boot_ += by;
    wall_ += by;
  }

 private:
  mutable std::mutex mutex_;
  BootTime boot_{std::chrono::hours(1)};
  Timestamp wall_;
};

TestStore::TestStore(Timestamp start) : TestStore(std::make_shared<Clock>(start)) {}

TestStore::TestStore(const std::shared_ptr<Clock>& clock) : Store(open_memory_store(clock).value()), clock_(clock) {}

Timestamp TestStore::now() const { return clock_->wall_now(); }

void TestStore::advance(Duration by) const { clock_->advance(by); }

void TestStore::advance_to(Timestamp when) const { advance(when - now()); }

Result<void> TestStore::expire(HeldLease& held) const {
  auto expired = expire(held.grant());
  if (expired) held.heartbeat_now();
  return expired;
}

Result<void> TestStore::expire(std::string_view kind, std::string_view key) const {
  const auto held = fmt::format("SELECT lease_id FROM leasehold_leases WHERE kind = {} AND key = {}", in_quotes(kind),
                                in_quotes(key));
  return expire_those(held, fmt::format("{} {}", kind, key));
}

Result<void> TestStore::expire_lease(std::int64_t lease_id) const {
  return expire_those(std::to_string(lease_id), fmt::format("lease {}", lease_id));
}

Result<void> TestStore::expire_those(const std::string& lease_ids, const std::string& what) const {
  auto begun = impl().backend->begin(impl().deadline());
  if (!begun) return std::move(begun).error();
  const auto now_us = std::to_string(now().time_since_epoch().count());
  // A script has no parameters.
  auto script = replaced(std::string(sqlite::local::expire), ":now_us", now_us);
  auto expired = (*begun)->run_script(replaced(std::move(script), ":lease_ids", lease_ids));
  if (!expired) return std::move(expired).error();
  if (expired->empty()) {
    return Error{.code = Errc::not_found, .message = what + " is not held: only what is held can expire"};
  }
  return (*begun)->commit();
}

}  // namespace leasehold
