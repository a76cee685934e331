#include <algorithm>

#include "base/text.h"
#include "lease/answer.h"
#include "lease/call.h"
#include "lock/locks.h"
#include "model/errors.h"
#include "storage/query.h"

namespace leasehold::lock {
namespace {

constexpr std::int64_t most_looked_at = 1000;

Result<sql::LeaseAnswer> ask(lease::StoreCall& call, const Request& request) {
  if (request.names.size() > 1) {
    const std::vector<std::string_view> names(request.names.begin(), request.names.end());
    const sql::LockAcquireAll all{
        .names = names, .ttl = request.ttl, .delay = request.delay, .request_id = request.request_id};
    return call.ask(lease::with_holder(all, request.holder));
  }
  const auto& name = request.names.front();
  if (request.share) {
    const sql::LockShare share{.name = name,
                               .permits = request.share->permits,
                               .capacity = request.share->capacity,
                               .ttl = request.ttl,
                               .delay = request.delay,
                               .request_id = request.request_id};
    return call.ask(lease::with_holder(share, request.holder));
  }
  const sql::LockAcquire acquire{
      .name = name, .ttl = request.ttl, .delay = request.delay, .request_id = request.request_id};
  return call.ask(lease::with_holder(acquire, request.holder));
}

}  // namespace

std::string describe(std::string_view name) { return "lock " + quoted(name); }

// Adds until when, if the store can still be reached. Other holders may be alive beside the grant in its delay.
Error refusal_with_delay(lease::StoreCall call, const sql::LeaseAnswer& answer) {
  auto error = lease::refusal_from(answer, describe(answer.key));
  if (answer.why != "delayed") return error;
  const auto holders = call.ask_rows(sql::LockHolders{.name = answer.key, .max = most_looked_at});
  if (!holders) return error;
  for (const auto& holder : *holders) {
    const bool is_live = !holder.ended_at && holder.expires_at > holder.store_now;
    if (is_live || !lease::is_same_lease(holder, answer)) continue;
    error.retry_at = holder.free_at;
    error.retry_in = holder.free_at - holder.store_now;
  }
  return error;
}

Result<Grant> try_acquire(lease::StoreCall call, const Request& request) {
  auto answer = call.repeat(lease::IfLost::ask_again, [&] { return ask(call, request); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return lease::grant_from(*answer, call.before_sending());
  return refusal_with_delay(call, *answer);
}

Result<Grant> heartbeat(lease::StoreCall call, std::string_view name, Token token, std::optional<Duration> ttl) {
  auto answer = call.ask_again(sql::LockHeartbeat{.name = name, .token = token.value, .ttl = ttl});
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return lease::grant_from(*answer, call.before_sending());
  return lease::refusal_from(*answer, describe(name));
}

// The line before a lock: places in order of arrival, each with a lease of its own.
namespace {

// A waiter that is silent for this long loses its place.
constexpr Duration place_ttl = std::chrono::seconds(3);

/// A place in the line of every requested lock. Only one of them is watched: the last one in the way.
class Line {
 public:
  Line(storage::Backend& backend, const Request& request, BootTime until, Duration call_timeout,
       const std::stop_token& stop)
      : backend_(backend), request_(request), until_(until), call_timeout_(call_timeout), stop_(stop) {
    watch(request.names.front());
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  ~Line() {
    if (!standing_) return;
    // If this fails, the place expires by itself.
    const auto names = views();
    const sql::LockLeaveAll leave{.names = names, .request_id = request_.request_id};
    static_cast<void>(new_call().ask(leave));
  }

  /// Takes or keeps the place, and returns the state of the locks: `free` means that it is our turn.
  Result<sql::LeaseAnswer> stand() {
    auto call = new_call();
    auto answer = call.repeat(lease::IfLost::ask_again, [&] { return ask_to_stand(call); });
    standing_ = standing_ || answer.ok();
    return answer;
  }

  /// The current state of the watched lock. Taken before requesting the lock, so that no later change is missed.
  Result<Picture> look() { return look_at(backend_, watched_, new_call().deadline()); }

  /// Returns true if another lock was watched before.
  bool watch(const std::string& name) {
    if (name == watched_) return false;
    watched_ = name;
    watch_ = backend_.watch("lock:" + name);
    return true;
  }

  /// Sleeps until the lock frees or changes hands, the line gets shorter, or the place needs a heartbeat. Only reads:
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

  /// For when the store did not even give us a place in line.
  void wait_a_little() { watch_->wait(std::min(until_, BootClock::now() + look_again)); }

  /// The grant has given back the place.
  void leave_with_grant() { standing_ = false; }

  [[nodiscard]] lease::StoreCall new_call() const { return {backend_, call_deadline(call_timeout_, until_)}; }

 private:
  [[nodiscard]] std::vector<std::string_view> views() const { return {request_.names.begin(), request_.names.end()}; }

  Result<sql::LeaseAnswer> ask_to_stand(lease::StoreCall& call) {
    if (request_.names.size() == 1) {
      const sql::LockWait wait{
          .name = request_.names.front(), .request_id = request_.request_id, .patience = place_ttl};
      return call.ask(lease::with_holder(wait, request_.holder));
    }
    const auto names = views();
    const sql::LockWaitAll wait{.names = names, .request_id = request_.request_id, .patience = place_ttl};
    return call.ask(lease::with_holder(wait, request_.holder));
  }

  storage::Backend& backend_;
  const Request& request_;
  BootTime until_;
  Duration call_timeout_;
  const std::stop_token& stop_;
  std::string watched_;
  std::unique_ptr<storage::ChangeWatch> watch_;
  bool standing_ = false;
};

/// It may be our turn now: not everything that was ahead of us when we took the place is still there.
bool has_moved_on(const sql::LeaseAnswer& standing, const Picture& seen) {
  // A lock that was never held is shown without its line: the next heartbeat of the place knows more.
  if (seen.outcome.refusal() == Errc::not_found) return false;
  return !lease::is_same_lease(seen, standing) || seen.waiters <= standing.waiters;
}

}  // namespace

Result<Grant> acquire_in_line(storage::Backend& backend, const Request& request, BootTime until, Duration call_timeout,
                              const std::stop_token& stop) {
  Line line(backend, request, until, call_timeout, stop);
  for (;;) {
    auto standing = line.stand();
    const bool over = BootClock::now() >= until || stop.stop_requested();
    if (!standing) {
      // Another open transaction holds the lock's row: no reason to give up before the time is over.
      if (standing.error().code != Errc::busy || over) return std::move(standing).error();
      line.wait_a_little();
      continue;
    }
    const bool our_turn = standing->outcome.is(Reply::free);
    if (!our_turn && over) return refusal_with_delay(line.new_call(), *standing);
    if (!our_turn) line.watch(standing->key);
    const auto seen = line.look();
    if (our_turn) {
      auto grant = try_acquire(line.new_call(), request);
      if (grant) line.leave_with_grant();
      if (grant || !may_wait(grant.error().code) || BootClock::now() >= until || stop.stop_requested()) return grant;
      const auto& in_the_way = grant.error().held_by;
      if (in_the_way && line.watch(in_the_way->key)) continue;
    } else if (seen && has_moved_on(*standing, *seen)) {
      continue;
    }
    seen ? line.sleep(*seen) : line.wait_a_little();
  }
}

}  // namespace leasehold::lock
