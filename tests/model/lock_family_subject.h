// A real store, asked about the lock family in the model's words: statement by statement, past the waiting that the
// library does.
#pragma once

#include "base/process.h"
#include "lease/call.h"
#include "model/lock_family_state.h"
#include "storage/query.h"
#include "storage/statements.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::lock_family {

class LockFamilySubject {
 public:
  explicit LockFamilySubject(support::StoreKind kind)
      : test_store_(kind), store_(test_store_.open()), backend_(test_store_.open_backend()) {}
  LockFamilySubject(const LockFamilySubject&) = delete;
  LockFamilySubject& operator=(const LockFamilySubject&) = delete;
  ~LockFamilySubject() { backend_->close(); }

  void advance(Moment by) { test_store_.advance(Duration(by)); }
  [[nodiscard]] Moment now() const { return micros(test_store_.now()); }

  /// Ends what is left of an earlier sequence: that must not be counted later.
  void start_afresh(std::string prefix) {
    prefix_ = std::move(prefix);
    advance(30LL * 86'400'000'000);
    support::must(store_.recover());
    news();
  }

  std::string acquire(const Names& names, const Request& request) {
    const auto all = views(names);
    if (names.size() == 1) return answer(ask(with_request(sql::LockAcquire{.name = names.front()}, request)));
    return answer(ask(with_request(sql::LockAcquireAll{.names = all}, request)));
  }
  std::string share(const std::string& name, const Permits& permits, const Request& request) {
    return answer(ask(
        with_request(sql::LockShare{.name = name, .permits = permits.count, .capacity = permits.capacity}, request)));
  }
  std::string heartbeat(const std::string& name, Moment token, std::optional<Moment> ttl) {
    sql::LockHeartbeat heartbeat{.name = name, .token = token};
    if (ttl) heartbeat.ttl = Duration(*ttl);
    return answer(ask(heartbeat));
  }
  std::string release(const std::string& name, Moment token) {
    return answer(ask(sql::LockRelease{.name = name, .token = token}));
  }
  std::string revoke(const std::string& name, std::optional<Moment> token) {
    return answer(ask(sql::LockRevoke{.name = name, .token = token, .reason = "because"}));
  }
  std::string wait(const Names& names, const Request& request) {
    const auto all = views(names);
    // A separate process: a reap of a holder's leases does not look for its places.
    auto who = support::holder("waiter");
    who.name = request.holder;
    who.instance = request.instance;
    const Duration patience(request.ttl);
    if (names.size() == 1) {
      const sql::LockWait wait{.name = names.front(), .request_id = request.request_id, .patience = patience};
      return answer(ask(lease::with_holder(wait, who)));
    }
    const sql::LockWaitAll wait{.names = all, .request_id = request.request_id, .patience = patience};
    return answer(ask(lease::with_holder(wait, who)));
  }
  std::string leave(const Names& names, const std::string& request) {
    const auto all = views(names);
    const bool left = names.size() == 1 ? ask(sql::LockLeave{.name = names.front(), .request_id = request}).left_line
                                        : ask(sql::LockLeaveAll{.names = all, .request_id = request}).left_line;
    return left ? "left" : "was not there";
  }
  std::string recover(std::int64_t max) {
    const auto stale = ask(sql::RecoverPreview{}).locks;
    return std::to_string(ask(sql::Recover{.max = max}).locks) + " of " + std::to_string(stale);
  }
  std::string reap(const std::string& holder) {
    const auto space = support::holder(holder).boot_id;
    const auto boot_id = boot_id_of(space);
    const auto suspects =
        support::must(storage::query(*backend_, sql::LeaseSuspects{.boot_id = boot_id, .max = 1}, soon()));
    if (suspects.empty()) return "nobody";
    const auto& suspect = suspects.front();
    return ask(sql::LeaseReap{.lease_id = suspect.lease_id,
                              .boot_id = boot_id,
                              .process_space = space,
                              .pid = suspect.pid,
                              .process_start = suspect.process_start})
        .outcome.word();
  }
  std::string prune(Moment older_than) {
    const auto foreseen = support::must(store_.prune_preview(Duration(older_than)));
    return support::must(store_.prune(Duration(older_than))) == foreseen ? "pruned" : "pruned other than foreseen";
  }

  std::string show(const std::string& name) {
    const auto row = ask(sql::LockShow{.name = name});
    Look look{.answer = answer_from(row), .holders = row.holders, .permits = row.permits, .capacity = row.capacity};
    if (row.free_at) look.free_at = micros(*row.free_at);
    return say(look, now());
  }
  std::string holders(const std::string& name) {
    std::string text;
    for (const auto& row :
         support::must(storage::query(*backend_, sql::LockHolders{.name = name, .max = 100}, soon()))) {
      Reported reported{
          .token = row.token, .holder = row.holder, .ttl = row.ttl.count(), .expires_at = micros(row.expires_at)};
      if (row.ended_at) reported.ended_at = micros(*row.ended_at);
      reported.end_reason = row.end_reason.value_or("");
      reported.end_detail = row.end_detail.value_or("");
      text += say(
          Has{.reported = reported, .permits = row.permits, .capacity = row.capacity, .free_at = micros(row.free_at)},
          now());
    }
    return text;
  }
  std::string list(bool only_held) {
    std::string text;
    for (const auto& lock : support::must(store_.locks().list({.prefix = prefix_, .only_held = only_held}))) {
      text += lock.key + " ";
    }
    return text;
  }
  std::string status() {
    const auto counted = support::status_of(store_);
    return std::to_string(counted.held_leases) + " held, " + std::to_string(counted.expired_leases) + " expired, " +
           std::to_string(counted.waiters) + " waiting";
  }
  std::string news() {
    std::vector<Happened> happened;
    for (const auto& event : support::must(store_.events({.after_id = reported_, .max = 1000}))) {
      happened.push_back({.key = event.key,
                          .what = event.what,
                          .token = event.token.value,
                          .holder = support::name_of(event.holder),
                          .previous_holder = support::name_of(event.previous_holder),
                          .detail = event.detail});
      reported_ = event.id;
    }
    return say_all(happened, now());
  }

 private:
  static Moment micros(Timestamp when) { return when.time_since_epoch().count(); }
  static BootTime soon() { return BootClock::now() + std::chrono::seconds(10); }
  static std::vector<std::string_view> views(const Names& names) { return {names.begin(), names.end()}; }

  template <typename Statement>
  typename Statement::Row ask(const Statement& statement) {
    return support::must(storage::query_one(*backend_, statement, soon()));
  }
  template <typename Statement>
  static Statement with_request(Statement statement, const Request& request) {
    statement.ttl = Duration(request.ttl);
    statement.delay = Duration(request.delay);
    if (!request.request_id.empty()) statement.request_id = request.request_id;
    // Only read, and the statement does not outlive the request.
    statement.holder = request.holder;
    statement.instance = request.instance;
    statement.boot_id = request.boot_id;
    statement.pid = 4711;
    statement.process_start = 99;
    return statement;
  }

  template <typename Row>
  static Answer answer_from(const Row& row) {
    Answer answer{.outcome = row.outcome.word(), .why = row.why.value_or(""), .key = row.key};
    if (row.holder) {
      answer.reported = Reported{.token = row.token.value_or(0),
                                 .holder = row.holder.value_or(""),
                                 .ttl = row.ttl->count(),
                                 .expires_at = micros(*row.expires_at)};
      if (row.ended_at) answer.reported->ended_at = micros(*row.ended_at);
      answer.reported->end_reason = row.end_reason.value_or("");
      answer.reported->end_detail = row.end_detail.value_or("");
    }
    answer.waiters = row.waiters;
    answer.replayed = row.replayed;
    return answer;
  }
  [[nodiscard]] std::string answer(const sql::LeaseAnswer& row) const { return say(answer_from(row), now()); }

  support::TestStore test_store_;
  Store store_;
  std::shared_ptr<storage::Backend> backend_;
  std::string prefix_;
  std::int64_t reported_ = 0;  ///< the last event that news() has reported
};

}  // namespace leasehold::lock_family
