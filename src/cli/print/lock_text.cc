#include "cli/print/lock_text.h"

#include <fmt/format.h>

#include "base/time_text.h"
#include "cli/print/print.h"

namespace leasehold::cli {
namespace {

/// The lock delay, which is added to a lease that expires.
Duration delay_of(const LeaseInfo& lease, const std::optional<Timestamp>& free_at) {
  return lease.state == LeaseState::running && free_at ? *free_at - lease.expires_at : Duration(0);
}

/// For a lease that occupies a place.
std::string place_frees(const LeaseInfo& lease, const std::optional<Timestamp>& free_at) {
  if (lease.state != LeaseState::running && free_at && *free_at > lease.store_now) {
    return fmt::format("in {}: lock delay", format_duration(*free_at - lease.store_now));
  }
  if (lease.state != LeaseState::running) return "now";
  const auto delay = delay_of(lease, free_at);
  return fmt::format("in {}{}", format_duration(lease.retry_in()),
                     delay > Duration(0) ? fmt::format(" + {} delay", format_duration(delay)) : "");
}

}  // namespace

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

std::string frees_text(const LockInfo& lock) { return is_taken(lock) ? place_frees(lock, lock.free_at) : "-"; }

std::string frees_text(const LockHolder& holder) { return place_frees(holder, holder.free_at); }

std::string delay_after(const LeaseInfo& lease, const std::optional<Timestamp>& free_at) {
  const auto delay = delay_of(lease, free_at);
  return delay > Duration(0) ? fmt::format("then {} lock delay unless it is released", format_duration(delay)) : "";
}

void say_delay_after(const Locks& locks, const Error& refusal) {
  if (refusal.code != Errc::held || !refusal.held_by) return;
  const auto lock = locks.show(refusal.held_by->key);
  const bool is_same =
      lock && lock->acquired_at == refusal.held_by->acquired_at && lock->holder.name == refusal.held_by->holder.name;
  if (!is_same) return;
  const auto delay = delay_after(*lock, lock->free_at);
  if (!delay.empty()) say("  {}", delay);
}

std::string names_text(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const auto& name : names) shown.push_back(printable(name));
  return enumerated(shown);
}

std::string together_text(const std::vector<std::string>& names) {
  return names.empty() ? "" : ", together with " + names_text(names);
}

std::string delay_text(Timestamp free_at, Timestamp now) {
  return fmt::format("not free before {}, in {}: lock delay", local_time(free_at, now), format_duration(free_at - now));
}

}  // namespace leasehold::cli
