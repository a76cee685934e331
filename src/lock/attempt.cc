#include "lock/attempt.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "lease/answer.h"
#include "lease/retry.h"
#include "storage/query.h"

namespace leasehold::lock {
namespace {

// A waiter that is silent for so long has lost its place.
constexpr Duration patience = std::chrono::seconds(3);
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
    auto answer = lease::ask_again(deadline(), [&] {
      return storage::query_one(backend_,
                                sql::LockWait{.name = wish_.name,
                                              .holder = wish_.holder.name,
                                              .request_id = wish_.request_id,
                                              .patience = patience,
                                              .host = wish_.holder.host,
                                              .boot_id = wish_.holder.boot_id,
                                              .pid = wish_.holder.pid,
                                              .process_start = wish_.holder.process_start,
                                              .tty = wish_.holder.tty,
                                              .instance = wish_.holder.instance},
                                deadline());
    });
    standing_ = standing_ || answer.ok();
    return answer;
  }

  /// Until something happens, or the lease of the present holder runs out.
  void sleep(const sql::LeaseAnswer& answer, BootTime until) {
    const auto frees_in = answer.expires_at.value_or(answer.store_now) - answer.store_now;
    const auto pause = answer.outcome == "held" ? std::min(look_again, frees_in) : look_again;
    watch_->wait(std::min(until, BootClock::now() + pause));
  }

  /// Granted: the place was given back with it.
  void leave_with_grant() { standing_ = false; }

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout_; }

 private:
  storage::Backend& backend_;
  const Wish& wish_;
  Duration call_timeout_;
  std::unique_ptr<storage::ChangeWatch> watch_;
  bool standing_ = false;
};

}  // namespace

std::string describe(std::string_view name) { return "lock " + quoted(name); }

Result<Grant> try_acquire(storage::Backend& backend, const Wish& wish, BootTime deadline) {
  BootTime before_sending;
  auto answer = lease::ask_again(deadline, [&] {
    before_sending = BootClock::now();
    return storage::query_one(backend,
                              sql::LockAcquire{.name = wish.name,
                                               .holder = wish.holder.name,
                                               .ttl = wish.ttl,
                                               .request_id = wish.request_id,
                                               .host = wish.holder.host,
                                               .boot_id = wish.holder.boot_id,
                                               .pid = wish.holder.pid,
                                               .process_start = wish.holder.process_start,
                                               .tty = wish.holder.tty,
                                               .instance = wish.holder.instance},
                              deadline);
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "granted") return lease::grant_from(*answer, before_sending);
  return lease::refusal_from(*answer, describe(wish.name));
}

Result<Grant> acquire_in_line(storage::Backend& backend, const Wish& wish, BootTime until, Duration call_timeout) {
  Line line(backend, wish, call_timeout);
  for (;;) {
    auto standing = line.stand();
    if (!standing) return std::move(standing).error();
    if (standing->outcome == "free") {
      auto grant = try_acquire(backend, wish, line.deadline());
      if (grant) line.leave_with_grant();
      const bool refused = !grant && (grant.error().code == Errc::held || grant.error().code == Errc::busy);
      if (!refused || BootClock::now() >= until) return grant;
    } else if (BootClock::now() >= until) {
      return lease::refusal_from(*standing, describe(wish.name));
    }
    line.sleep(*standing, until);
  }
}

}  // namespace leasehold::lock
