// The line before a lock: places in order of arrival, each held under a lease of its own.
#include <algorithm>

#include "lease/answer.h"
#include "lease/retry.h"
#include "lease/with_holder.h"
#include "lock/attempt.h"
#include "storage/query.h"

namespace leasehold::lock {
namespace {

// A waiter that is silent for so long has lost its place.
constexpr Duration place_ttl = std::chrono::seconds(3);
// Wake-ups are hints; this is the truth.
constexpr Duration look_again = std::chrono::milliseconds(500);

class Line {
 public:
  Line(storage::Backend& backend, const Wish& wish, Duration call_timeout)
      : backend_(backend), wish_(wish), call_timeout_(call_timeout), watch_(backend.watch("lock:" + wish.name)) {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  ~Line() {
    if (!standing_) return;
    // If that fails, the place runs out by itself.
    const sql::LockLeave leave{.name = wish_.name, .request_id = wish_.request_id};
    static_cast<void>(storage::query_one(backend_, leave, deadline()));
  }

  /// Takes or keeps the place, and tells how things stand.
  Result<sql::LeaseAnswer> stand() {
    const auto call_deadline = deadline();
    const auto wait = lease::with_holder(
        sql::LockWait{.name = wish_.name, .request_id = wish_.request_id, .patience = place_ttl}, wish_.holder);
    auto answer = lease::ask_again(call_deadline, [&] { return storage::query_one(backend_, wait, call_deadline); });
    standing_ = standing_ || answer.ok();
    return answer;
  }

  /// Until the lock frees, changes hands or the line gets shorter, or the place needs a heartbeat. Only looks:
  /// if every wake-up wrote, the waiters of a file would wake each other all the time.
  void sleep(const sql::LeaseAnswer& standing, BootTime until) {
    const auto heartbeat_at = std::min(until, BootClock::now() + place_ttl / 3);
    auto first = look();
    if (!first || differs(standing, *first)) return;
    auto frees_in = first->expires_at.value_or(first->store_now) - first->store_now;
    while (BootClock::now() < heartbeat_at) {
      const auto pause = first->outcome == "running" ? std::clamp(frees_in, Duration(1000), look_again) : look_again;
      watch_->wait(std::min(heartbeat_at, BootClock::now() + pause));
      const auto now = look();
      if (!now || now->outcome != first->outcome || now->token != first->token || now->waiters < first->waiters) return;
      frees_in = now->expires_at.value_or(now->store_now) - now->store_now;
    }
  }

  /// For when the store would not even let us stand in line.
  void wait_a_little(BootTime until) { watch_->wait(std::min(until, BootClock::now() + look_again)); }

  /// Granted: the place was given back with it.
  void leave_with_grant() { standing_ = false; }

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout_; }

 private:
  Result<sql::LeaseAnswer> look() {
    return storage::query_one(backend_, sql::LockShow{.name = wish_.name}, deadline());
  }

  /// Something happened between standing and looking.
  static bool differs(const sql::LeaseAnswer& standing, const sql::LeaseAnswer& seen) {
    return (standing.outcome == "held") != (seen.outcome == "running") || standing.token != seen.token;
  }

  storage::Backend& backend_;
  const Wish& wish_;
  Duration call_timeout_;
  std::unique_ptr<storage::ChangeWatch> watch_;
  bool standing_ = false;
};

}  // namespace

Result<Grant> acquire_in_line(storage::Backend& backend, const Wish& wish, BootTime until, Duration call_timeout) {
  Line line(backend, wish, call_timeout);
  for (;;) {
    auto standing = line.stand();
    const bool late = BootClock::now() >= until;
    if (!standing) {
      // Somebody's open transaction has the lock's row: no reason to give up before the time is over.
      if (standing.error().code != Errc::busy || late) return std::move(standing).error();
      line.wait_a_little(until);
      continue;
    }
    if (standing->outcome == "free") {
      auto grant = try_acquire(backend, wish, line.deadline());
      if (grant) line.leave_with_grant();
      if (!is_refusal(grant) || BootClock::now() >= until) return grant;
    } else if (late) {
      return lease::refusal_from(*standing, describe(wish.name));
    }
    line.sleep(*standing, until);
  }
}

}  // namespace leasehold::lock
