#include "cli/lock_text.h"

#include <fmt/format.h>

#include "cli/print.h"
#include "core/duration.h"

namespace leasehold::cli {

bool is_taken(const LockInfo& lock) { return lock.state != LeaseState::free || lock.delayed; }

bool has_shares(const LockInfo& lock) { return lock.permits > 0; }

std::string holders_text(const LockInfo& lock) {
  if (!is_taken(lock)) return "-";
  return lock.holders > 1 ? counted(lock.holders, "holder") : printable(lock.holder.name);
}

std::string permits_text(const LockInfo& lock) {
  if (!has_shares(lock)) return "-";
  return lock.capacity ? fmt::format("{}/{}", lock.permits, *lock.capacity) : std::to_string(lock.permits);
}

std::string frees_text(const LockInfo& lock) {
  if (!is_taken(lock)) return "-";
  if (lock.delayed && lock.free_at) {
    return fmt::format("in {}: lock delay", format_duration(*lock.free_at - lock.store_now));
  }
  return lock.state == LeaseState::expired ? "now" : "in " + format_duration(lock.frees_in());
}

std::string delay_text(Timestamp free_at, Timestamp now) {
  return fmt::format("nobody gets it before {}, in {}: lock delay", local_time(free_at, now),
                     format_duration(free_at - now));
}

}  // namespace leasehold::cli
