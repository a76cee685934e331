// A call of the public API on its way to the store: sends the request, and repeats it where that is right.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "lease/housekeeper.h"
#include "leasehold/call.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/result.h"
#include "leasehold/time.h"
#include "model/bounds.h"
#include "storage/query.h"

namespace leasehold::lease {

/// If any attempt was in doubt, a later `unavailable` cannot be trusted: report `in_doubt`.
inline Error error_of_all_attempts(Error last, bool doubted) {
  if (doubted && (last.code == Errc::unavailable || last.code == Errc::busy)) {
    last.code = Errc::in_doubt;
    last.message += "; an earlier attempt may have succeeded";
  }
  return last;
}

/// What to do when an answer got lost on its way (`in_doubt`). Only requests that may be repeated, those with a request
/// id or a token, are sent again.
enum class IfLost { ask_again, give_up };

/// What every request needs: the store, the deadline, and this machine's clock just before the latest request was sent.
/// A holder trusts its lease from that moment on.
class StoreCall {
 public:
  StoreCall(storage::Backend& backend, BootTime deadline) : backend_(backend), deadline_(deadline) {}

  [[nodiscard]] storage::Backend& backend() const { return backend_; }
  [[nodiscard]] BootTime deadline() const { return deadline_; }
  [[nodiscard]] BootTime before_sending() const { return before_sending_; }

  /// Sends it once: for reads, and for actions that must not happen twice. The statement returns exactly one row.
  template <typename S>
  Result<typename S::Row> ask(const S& statement) {
    before_sending_ = BootClock::now();
    return storage::query_one(backend_, statement, deadline_);
  }
  template <typename S>
  Result<std::vector<typename S::Row>> ask_rows(const S& statement) {
    before_sending_ = BootClock::now();
    return storage::query(backend_, statement, deadline_);
  }

  /// For actions that a token or a request id makes repeatable.
  template <typename S>
  Result<typename S::Row> ask_again(const S& statement) {
    return repeat(IfLost::ask_again, [&] { return ask(statement); });
  }
  template <typename S>
  Result<std::vector<typename S::Row>> ask_rows_again(const S& statement) {
    return repeat(IfLost::ask_again, [&] { return ask_rows(statement); });
  }

  /// For actions that must not happen twice: repeated only if nothing has happened yet.
  template <typename S>
  Result<typename S::Row> ask_until_free(const S& statement) {
    return repeat(IfLost::give_up, [&] { return ask(statement); });
  }

  /// The rows of a list, each converted to a type of the public API.
  template <typename S, typename Convert>
  auto list(const S& statement, Convert convert) {
    return storage::query_list(backend_, statement, deadline_, convert);
  }

  /// Repeats `once` until it succeeds, returns a final answer, or the deadline nears. After `busy` nothing has
  /// happened, so that is always repeated: five times from 50 ms, doubling.
  template <typename Once>
  auto repeat(IfLost if_lost, Once&& once) -> decltype(once()) {
    auto pause = Duration(std::chrono::milliseconds(50));
    bool doubted = false;
    for (int tries = 1;; ++tries) {
      auto answer = once();
      if (answer) return answer;
      const auto code = answer.error().code;
      doubted = doubted || code == Errc::in_doubt;
      const bool repeat_lost = code == Errc::in_doubt && if_lost == IfLost::ask_again;
      const bool again = repeat_lost || (code == Errc::busy && tries < 5);
      if (!again || BootClock::now() + pause >= deadline_) {
        return error_of_all_attempts(std::move(answer).error(), doubted);
      }
      std::this_thread::sleep_for(pause);
      pause *= 2;
    }
  }

 private:
  storage::Backend& backend_;
  BootTime deadline_;
  BootTime before_sending_{};
};

/// What the handles of every feature contain.
struct StoreAccess {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;
  /// Shared by all handles of a store.
  std::shared_ptr<Housekeeper> housekeeper = std::make_shared<Housekeeper>(backend);

  [[nodiscard]] BootTime deadline(const Call& call = {}) const {
    return BootClock::now() + call.timeout.value_or(call_timeout);
  }
  [[nodiscard]] StoreCall new_call(const Call& call = {}) const { return {*backend, deadline(call)}; }
  /// A heartbeat must not use up its lease: a hung connection must leave time for another try.
  [[nodiscard]] StoreCall new_heartbeat(const Grant& held) const {
    return {*backend, BootClock::now() + std::min(call_timeout, held.ttl / 3)};
  }
};

// Shared by the heartbeats of a job, of a chunk and of a whole lease.

/// Fills in ttl, end and trust for the outcome `extended` of a statement that returns the lease's ttl and end.
template <typename Heartbeat, typename Row>
void note_extension(Heartbeat& heartbeat, const Row& answer, BootTime before_sending) {
  heartbeat.ttl = answer.ttl.value_or(Duration{});
  heartbeat.expires_at = answer.expires_at.value_or(Timestamp{});
  heartbeat.trusted_until = trusted_until(before_sending, heartbeat.ttl, heartbeat.expires_at - answer.store_now);
}

// Fills the holder into a statement.

inline Holder holder_of(const Call& call) { return call.holder ? *call.holder : Holder::self(); }

/// S is one of the generated structs that open a lease: LockAcquire, LockWait, JobClaim, LeaseOpen.
template <typename S>
S with_holder(S statement, const Holder& holder) {
  statement.holder = holder.name;
  statement.host = holder.host;
  statement.boot_id = holder.boot_id;
  statement.pid = holder.pid;
  statement.process_start = holder.process_start;
  statement.tty = holder.tty;
  statement.instance = holder.instance;
  return statement;
}

// Rows of something large that was removed: it is gone at once, and its rows follow in steps.

/// Removes rows until none are left, including those of another process's unfinished removal. Errors are ignored: the
/// next removal or prune sweeps the rest.
template <typename Statement>
void sweep(const StoreAccess& store) {
  for (;;) {
    const auto step = store.new_call().ask(Statement{.batch = defaults::sweep_batch});
    if (!step || step->removed == 0) return;
  }
}

}  // namespace leasehold::lease
