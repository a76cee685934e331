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

// The refusal says until when, if the store can still be asked. Others may be alive beside the grant that is in its
// delay.
Error refusal_with_delay(lease::StoreCall call, const sql::LeaseAnswer& answer) {
  auto error = lease::refusal_from(answer, describe(answer.key));
  if (answer.why != "delayed") return error;
  const auto holders = call.ask_rows(sql::LockHolders{.name = answer.key, .most = most_looked_at});
  if (!holders) return error;
  for (const auto& holder : *holders) {
    const bool is_live = !holder.ended_at && holder.expires_at > holder.store_now;
    if (is_live || !lease::tells_same_lease(holder, answer)) continue;
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

// The line before a lock: places in order of arrival, each held under a lease of its own.
namespace {

// A waiter that is silent for so long has lost its place.
constexpr Duration place_ttl = std::chrono::seconds(3);

/// A place in the line of every lock that is wanted. One of them is watched: the one that was last in the way.
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
    // If that fails, the place runs out by itself.
    const auto names = views();
    const sql::LockLeaveAll leave{.names = names, .request_id = request_.request_id};
    static_cast<void>(new_call().ask(leave));
  }

  /// Takes or keeps the place, and tells how things stand: `free` means that it is our turn to ask.
  Result<sql::LeaseAnswer> stand() {
    auto call = new_call();
    auto answer = call.repeat(lease::IfLost::ask_again, [&] { return ask_to_stand(call); });
    standing_ = standing_ || answer.ok();
    return answer;
  }

  /// What is watched, as it is now. Taken before asking for the lock: so no change after that is missed.
  Result<Picture> look() { return look_at(backend_, watched_, new_call().deadline()); }

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

/// It may be our turn by now: what stood before us when we took the place is not all there any more.
bool has_moved_on(const sql::LeaseAnswer& standing, const Picture& seen) {
  // A lock that nobody ever had is shown without its line: there the next heartbeat of the place says more.
  if (seen.outcome.refusal() == Errc::not_found) return false;
  return !lease::tells_same_lease(seen, standing) || seen.waiters <= standing.waiters;
}

}  // namespace

Result<Grant> acquire_in_line(storage::Backend& backend, const Request& request, BootTime until, Duration call_timeout,
                              const std::stop_token& stop) {
  Line line(backend, request, until, call_timeout, stop);
  for (;;) {
    auto standing = line.stand();
    const bool over = BootClock::now() >= until || stop.stop_requested();
    if (!standing) {
      // Somebody's open transaction has the lock's row: no reason to give up before the time is over.
      if (standing.error().code != Errc::busy || over) return std::move(standing).error();
      line.wait_a_little();
      continue;
    }
    const bool our_turn = standing->outcome.is("free");
    if (!our_turn && over) return refusal_with_delay(line.new_call(), *standing);
    if (!our_turn) line.watch(standing->key);
    const auto seen = line.look();
    if (our_turn) {
      auto grant = try_acquire(line.new_call(), request);
      if (grant) line.leave_with_grant();
      if (grant || !may_wait(grant.error().code) || BootClock::now() >= until || stop.stop_requested()) return grant;
      const auto& in_the_way = grant.error().current;
      if (in_the_way && line.watch(in_the_way->key)) continue;
    } else if (seen && has_moved_on(*standing, *seen)) {
      continue;
    }
    seen ? line.sleep(*seen) : line.wait_a_little();
  }
}

}  // namespace leasehold::lock
