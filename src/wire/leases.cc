#include "wire/leases.h"

#include <algorithm>
#include <optional>

#include "core/duration.h"
#include "wire/json.h"

namespace leasehold::wire {
namespace {

/// A refusal about a job does not know every time of the lease that decided it.
boost::json::value known(Timestamp when) {
  return timestamp_or_null(when == Timestamp{} ? std::nullopt : std::optional(when));
}

boost::json::value count_or_null(const std::optional<std::int64_t>& count) {
  return count ? boost::json::value(*count) : boost::json::value(nullptr);
}

/// What is told of a claimed item besides: whose it is, what that session does, for how long it has had it.
void put_session(boost::json::object& out, const LeaseInfo& lease) {
  out["session"] = text(lease.session);
  out["label"] = text(lease.label);
  out["taken_at"] = timestamp_or_null(lease.taken_at);
  out["progress_at"] = timestamp_or_null(lease.progress_at);
  put_age(out, "heartbeat", lease.heartbeat_age());
  if (lease.progress_at) put_age(out, "progress", lease.store_now - *lease.progress_at);
  if (lease.taken_at)
    out["claim_duration_minutes"] = minutes(lease.ended_at.value_or(lease.store_now) - *lease.taken_at);
}

}  // namespace

boost::json::object encode(const Grant& grant) {
  const Duration trusted_for = std::max(grant.trusted_until - BootClock::now(), Duration::zero());
  return {{"key", text(grant.key)},
          {"token", grant.token.value},
          {"holder", encode(grant.holder)},
          {"ttl_seconds", seconds(grant.ttl)},
          {"acquired_at", timestamp(grant.acquired_at)},
          {"expires_at", timestamp(grant.expires_at)},
          {"trusted_for_seconds", seconds(trusted_for)},
          {"replayed", grant.replayed}};
}

boost::json::object encode(const LeaseInfo& lease) {
  boost::json::object out{{"kind", text(lease.kind)},
                          {"key", text(lease.key)},
                          {"state", leasehold::to_string(lease.state)},
                          {"token", lease.token.value},
                          {"holder", encode(lease.holder)},
                          {"ttl_seconds", seconds(lease.ttl)},
                          {"acquired_at", known(lease.acquired_at)},
                          {"heartbeat_at", known(lease.heartbeat_at)},
                          {"expires_at", known(lease.expires_at)},
                          {"ended_at", timestamp_or_null(lease.ended_at)},
                          {"end_reason", text_or_null(lease.end_reason)},
                          {"end_detail", text_or_null(lease.end_detail)},
                          {"waiters", lease.waiters},
                          {"store_now", timestamp(lease.store_now)}};
  if (!lease.session.empty()) put_session(out, lease);
  if (lease.state != LeaseState::free) {
    if (lease.heartbeat_at != Timestamp{}) out["heartbeat_age_seconds"] = seconds(lease.heartbeat_age());
    out["frees_in_seconds"] = seconds(std::max(lease.frees_in(), Duration::zero()));
  }
  return out;
}

boost::json::object encode(const LockInfo& lock) {
  auto out = encode(static_cast<const LeaseInfo&>(lock));
  out["holders"] = lock.holders;
  out["permits"] = lock.permits;
  out["capacity"] = count_or_null(lock.capacity);
  out["free_at"] = timestamp_or_null(lock.free_at);
  out["delayed"] = lock.delayed;
  out["together"] = texts(lock.together);
  return out;
}

boost::json::object encode(const LockHolder& holder) {
  auto out = encode(static_cast<const LeaseInfo&>(holder));
  out["permits"] = count_or_null(holder.permits);
  out["capacity"] = count_or_null(holder.capacity);
  out["free_at"] = timestamp(holder.free_at);
  return out;
}

boost::json::value minutes(Duration span) {
  return std::int64_t{std::chrono::duration_cast<std::chrono::minutes>(span).count()};
}

void put_age(boost::json::object& out, std::string_view what, Duration age) {
  out[std::string(what) + "_age_seconds"] = seconds(age);
  out[std::string(what) + "_age_human"] = format_age(age);
}

}  // namespace leasehold::wire
