// The verdicts: complete, fail, release, snooze; one by one, or many in one commit.
#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "job/jobs.h"
#include "lease/call.h"
#include "model/bounds.h"
#include "model/words.h"
#include "storage/query.h"

namespace leasehold {

Verdict Verdict::complete(std::string result) { return {.kind = Kind::complete, .text = std::move(result)}; }

Verdict Verdict::fail(std::string error) { return {.kind = Kind::fail, .text = std::move(error)}; }

Verdict Verdict::fail_finally(std::string error) {
  return {.kind = Kind::fail, .text = std::move(error), .retryable = false};
}

Verdict Verdict::retry_in(Duration delay, std::string error) {
  return {.kind = Kind::fail, .text = std::move(error), .delay = delay};
}

Verdict Verdict::release() { return {.kind = Kind::release}; }

Verdict Verdict::snooze(Duration delay) { return {.kind = Kind::snooze, .delay = delay}; }

Verdict Verdict::skip(std::string reason) { return {.kind = Kind::skip, .text = std::move(reason)}; }

Verdict Verdict::with_rows(std::int64_t total) const {
  auto changed = *this;
  changed.rows = total;
  return changed;
}

namespace job {

VerdictStatement::VerdictStatement(const Settlement& settlement)
    : statement_{.job_id = settlement.id, .token = settlement.token.value} {
  const auto& verdict = settlement.verdict;
  statement_.verdict = word_of(verdict.kind);
  statement_.retryable = verdict.retryable;
  switch (verdict.kind) {
    case Verdict::Kind::complete:
      if (!verdict.text.empty()) statement_.result = verdict.text;
      break;
    case Verdict::Kind::fail:
      error_ = clean_text(verdict.text, bounds::error_bytes);
      if (!error_.empty()) statement_.error = error_;
      statement_.delay = verdict.delay;
      break;
    case Verdict::Kind::snooze: statement_.delay = verdict.delay.value_or(Duration(0)); break;
    case Verdict::Kind::release:
    case Verdict::Kind::skip: break;
  }
}

namespace {

using Answers = std::vector<Result<JobSettled>>;

/// Settlements in one commit.
constexpr std::size_t max_settled = 1000;
/// Verdicts with a statement each, sent together.
constexpr std::size_t max_together = 64;

/// For when the last job of a grant of many was settled. If this fails, recover does it.
void tidy(storage::Backend& backend, std::optional<std::int64_t> lease_id, BootTime deadline) {
  if (!lease_id) return;
  static_cast<void>(storage::query_one(backend, sql::JobTidy{.lease_id = *lease_id}, deadline));
}

/// Verdicts on different jobs, settled together; each answer goes to its place.
class Batch {
 public:
  Batch(std::span<const Settlement> settlements, std::span<Result<JobSettled>> answers, lease::StoreCall call)
      : settlements_(settlements), answers_(answers), call_(call) {
    for (std::size_t i = 0; i < settlements.size(); ++i) places_.emplace(settlements[i].id, i);
  }

  void run() {
    run_alike(Verdict::Kind::complete);
    run_alike(Verdict::Kind::release);
    run_others();
  }

 private:
  /// Verdicts of one kind, in lists.
  struct Lists {
    std::vector<std::int64_t> ids;
    std::vector<std::int64_t> tokens;
    std::vector<std::string_view> results;
    bool any_result = false;

    void add(const Settlement& one) {
      ids.push_back(one.id);
      tokens.push_back(one.token.value);
      results.emplace_back(one.verdict.text);
      any_result = any_result || !one.verdict.text.empty();
    }
    [[nodiscard]] std::span<const std::string_view> results_or_none() const {
      return any_result ? std::span(results) : std::span<const std::string_view>();
    }
  };

  void run_alike(Verdict::Kind kind) {
    Lists lists;
    for (const auto& one : settlements_) {
      if (one.verdict.kind == kind) lists.add(one);
    }
    if (lists.ids.empty()) return;
    const sql::JobSettleMany statement{
        .verdict = word_of(kind), .job_ids = lists.ids, .tokens = lists.tokens, .results = lists.results_or_none()};
    auto done = call_.ask_again(statement);
    if (!done) return answer_all(lists.ids, done.error());
    for (const auto lease : done->to_tidy) tidy(call_.backend(), lease, call_.deadline());
    const auto state = kind == Verdict::Kind::complete ? JobState::completed : JobState::available;
    for (const auto id : done->settled) answer(id, JobSettled{.id = id, .state = state});
    if (done->settled.size() < lists.ids.size()) run_rest(kind, done->settled);
  }

  /// Each was settled before, is lost, or has a cancel request: a statement of its own has the answer.
  void run_rest(Verdict::Kind kind, std::span<const JobId> settled) {
    const std::set<JobId> done(settled.begin(), settled.end());
    run_singly([&](const Settlement& one) { return one.verdict.kind == kind && !done.contains(one.id); });
  }

  /// Each has its own error and delay, and therefore its own statement.
  void run_others() {
    run_singly([](const Settlement& one) {
      return one.verdict.kind != Verdict::Kind::complete && one.verdict.kind != Verdict::Kind::release;
    });
  }

  /// In id order, as everywhere.
  void run_singly(const std::function<bool(const Settlement&)>& wanted) {
    std::vector<const Settlement*> some;
    for (const auto& one : settlements_) {
      if (wanted(one)) some.push_back(&one);
    }
    std::sort(some.begin(), some.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
    for (std::size_t first = 0; first < some.size(); first += max_together) {
      run_each(std::span(some).subspan(first, std::min(max_together, some.size() - first)));
    }
  }

  void run_each(std::span<const Settlement* const> group) {
    std::vector<std::unique_ptr<VerdictStatement>> statements;
    for (const auto* one : group) statements.push_back(std::make_unique<VerdictStatement>(*one));
    auto rows = storage::query_all(call_.backend(), statements, call_.deadline());
    for (std::size_t i = 0; i < group.size(); ++i) {
      auto row = call_.repeat(lease::IfLost::ask_again, [&, first = true]() mutable {
        return std::exchange(first, false) ? std::move(rows[i]) : call_.ask(statements[i]->get());
      });
      if (row) {
        settled_by(*row);
      } else {
        answer(group[i]->id, std::move(row).error());
      }
    }
  }

  void settled_by(const sql::JobSettled& row) {
    answer(row.job_id, settled_from(row));
    if (row.tidy) tidy(call_.backend(), row.lease_id, call_.deadline());
  }

  void answer(JobId id, Result<JobSettled> result) {
    if (const auto place = places_.find(id); place != places_.end()) answers_[place->second] = std::move(result);
  }

  void answer_all(std::span<const JobId> ids, const Error& error) {
    for (const auto id : ids) answer(id, error);
  }

  std::span<const Settlement> settlements_;
  std::span<Result<JobSettled>> answers_;
  lease::StoreCall call_;
  std::unordered_map<JobId, std::size_t> places_;
};

/// How many at the front are on different jobs: a second verdict on the same job must come after the first.
std::size_t length_of_batch(std::span<const Settlement> settlements) {
  std::unordered_set<JobId> ids;
  std::size_t length = 0;
  while (length < std::min(settlements.size(), max_settled) && ids.insert(settlements[length].id).second) ++length;
  return length;
}

}  // namespace
}  // namespace job

Result<JobSettled> Jobs::Impl::settle(const job::VerdictStatement& statement,
                                      std::optional<Result<sql::JobSettled>> first) const {
  auto call = new_call();
  auto answer = call.repeat(lease::IfLost::ask_again,
                            [&] { return first ? *std::exchange(first, std::nullopt) : call.ask(statement.get()); });
  if (!answer) return std::move(answer).error();
  if (answer->tidy) job::tidy(*backend, answer->lease_id, call.deadline());
  return job::settled_from(*answer);
}

Result<JobSettled> Jobs::settle(const Settlement& settlement) const {
  if (auto checked = check_verdict(settlement.verdict); !checked) return std::move(checked).error();
  return impl_->settle(job::VerdictStatement(settlement));
}

Result<std::vector<Result<JobSettled>>> Jobs::settle(std::span<const Settlement> settlements) const {
  for (const auto& one : settlements) {
    if (auto checked = check_verdict(one.verdict); !checked) return std::move(checked).error();
  }
  job::Answers answers(settlements.size(), Result<JobSettled>(JobSettled{}));
  for (std::size_t first = 0; first < settlements.size();) {
    const auto length = job::length_of_batch(settlements.subspan(first));
    job::Batch(settlements.subspan(first, length), std::span(answers).subspan(first, length), impl_->new_call()).run();
    first += length;
  }
  return answers;
}

Result<JobSettled> Jobs::complete(JobId id, Token token, std::string result) const {
  return settle({id, token, Verdict::complete(std::move(result))});
}

Result<JobSettled> Jobs::fail(JobId id, Token token, std::string error) const {
  return settle({id, token, Verdict::fail(std::move(error))});
}

Result<JobSettled> Jobs::release(JobId id, Token token) const { return settle({id, token, Verdict::release()}); }

Result<JobSettled> Jobs::snooze(JobId id, Token token, Duration delay) const {
  return settle({id, token, Verdict::snooze(delay)});
}

}  // namespace leasehold
