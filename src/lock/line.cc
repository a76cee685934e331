// The line before a lock: places in order of arrival, each held under a lease of its own.
#include <algorithm>

#include "lease/answer.h"
#include "lease/retry.h"
#include "lease/with_holder.h"
#include "lock/attempt.h"
#include "lock/picture.h"
#include "storage/query.h"

namespace leasehold::lock {
namespace {

// A waiter that is silent for so long has lost its place.
constexpr Duration place_ttl = std::chrono::seconds(3);

/// A place in the line of every lock that is wanted. One of them is watched: the one that was last in the way.
class Line {
 public:
  Line(storage::Backend& backend, const Wish& wish, BootTime until, Duration call_timeout, const std::stop_token& stop)
      : backend_(backend), wish_(wish), until_(until), call_timeout_(call_timeout), stop_(stop) {
    watch(wish.names.front());
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  ~Line() {
    if (!standing_) return;
    // If that fails, the place runs out by itself.
    const auto names = views();
    const sql::LockLeaveAll leave{.names = names, .request_id = wish_.request_id};
    static_cast<void>(storage::query_one(backend_, leave, deadline()));
  }

  /// Takes or keeps the place, and tells how things stand: `free` means that it is our turn to ask.
  Result<sql::LeaseAnswer> stand() {
    const auto call_deadline = deadline();
    auto answer = lease::ask_again(call_deadline, [&] { return ask_to_stand(call_deadline); });
    standing_ = standing_ || answer.ok();
    return answer;
  }

  /// What is watched, as it is now. Taken before asking for the lock: so no change after that is missed.
  Result<Picture> look() { return look_at(backend_, watched_, deadline()); }

  /// True if that lock was not the one being watched.
  bool watch(const std::string& name) {
    if (name == watched_) return false;
    watched_ = name;
    watch_ = backend_.watch("lock:" + name);
    return true;
  }

  /// Until the lock frees, changes hands or the line gets shorter, or the place needs a heartbeat. Only looks:
  /// if every wake-up wrote, the waiters of a file would wake each other all the time.
  void sleep(const Picture& seen) {
    const std::stop_callback wake_up(stop_, [this] { watch_->wake(); });
    const auto heartbeat_at = std::min(until_, BootClock::now() + place_ttl / 3);
    auto now = Result<Picture>(seen);
    while (now && !is_better(*now, seen) && BootClock::now() < heartbeat_at && !stop_.stop_requested()) {
      watch_->wait(std::min(heartbeat_at, BootClock::now() + until_next_look(*now)));
      now = look();
    }
  }

  /// For when the store would not even let us stand in line.
  void wait_a_little() { watch_->wait(std::min(until_, BootClock::now() + look_again)); }

  /// Granted: the place was given back with it.
  void leave_with_grant() { standing_ = false; }

  [[nodiscard]] BootTime deadline() const { return call_deadline(call_timeout_, until_); }

 private:
  [[nodiscard]] std::vector<std::string_view> views() const { return {wish_.names.begin(), wish_.names.end()}; }

  Result<sql::LeaseAnswer> ask_to_stand(BootTime call_deadline) {
    if (wish_.names.size() == 1) {
      const sql::LockWait wait{.name = wish_.names.front(), .request_id = wish_.request_id, .patience = place_ttl};
      return storage::query_one(backend_, lease::with_holder(wait, wish_.holder), call_deadline);
    }
    const auto names = views();
    const sql::LockWaitAll wait{.names = names, .request_id = wish_.request_id, .patience = place_ttl};
    return storage::query_one(backend_, lease::with_holder(wait, wish_.holder), call_deadline);
  }

  storage::Backend& backend_;
  const Wish& wish_;
  BootTime until_;
  Duration call_timeout_;
  const std::stop_token& stop_;
  std::string watched_;
  std::unique_ptr<storage::ChangeWatch> watch_;
  bool standing_ = false;
};

/// It may be our turn by now: what stood before us when we took the place is not all there any more.
bool has_moved_on(const sql::LeaseAnswer& standing, const Picture& seen) {
  // A lock that nobody ever had is shown without its line: there the next heartbeat of the place says more.
  if (seen.outcome == "not_found") return false;
  return seen.token != standing.token || seen.waiters <= standing.waiters;
}

}  // namespace

Result<Grant> acquire_in_line(storage::Backend& backend, const Wish& wish, BootTime until, Duration call_timeout,
                              const std::stop_token& stop) {
  Line line(backend, wish, until, call_timeout, stop);
  for (;;) {
    auto standing = line.stand();
    const bool over = BootClock::now() >= until || stop.stop_requested();
    if (!standing) {
      // Somebody's open transaction has the lock's row: no reason to give up before the time is over.
      if (standing.error().code != Errc::busy || over) return std::move(standing).error();
      line.wait_a_little();
      continue;
    }
    if (standing->outcome != "free" && over) return refusal_with_delay(backend, *standing, line.deadline());
    if (standing->outcome != "free") line.watch(standing->key);
    const auto seen = line.look();
    if (standing->outcome == "free") {
      auto grant = try_acquire(backend, wish, line.deadline());
      if (grant) line.leave_with_grant();
      if (!is_refusal(grant) || BootClock::now() >= until || stop.stop_requested()) return grant;
      const auto& in_the_way = grant.error().current;
      if (in_the_way && line.watch(in_the_way->key)) continue;
    } else if (seen && has_moved_on(*standing, *seen)) {
      continue;
    }
    seen ? line.sleep(*seen) : line.wait_a_little();
  }
}

}  // namespace leasehold::lock
