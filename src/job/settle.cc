#include <set>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "job/jobs.h"
#include "lease/ask.h"
#include "model/bounds.h"
#include "storage/query.h"

namespace leasehold {

namespace job {
namespace {

std::string_view word_for(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::complete: return "complete";
    case Verdict::Kind::fail: return "fail";
    case Verdict::Kind::release: return "release";
    case Verdict::Kind::snooze: return "snooze";
  }
  return "unknown";
}

}  // namespace

VerdictStatement::VerdictStatement(JobId id, Token token, Verdict::Kind kind, std::string_view text, bool retryable,
                                   std::optional<Duration> delay)
    : statement_{.job_id = id, .token = token.value, .verdict = word_for(kind)} {
  if (kind == Verdict::Kind::complete && !text.empty()) statement_.result = text;
  if (kind == Verdict::Kind::fail) {
    error_ = clean_text(text, bounds::error_bytes);
    if (!error_.empty()) statement_.error = error_;
  }
  statement_.retryable = retryable;
  if (kind == Verdict::Kind::fail) statement_.delay = delay;
  if (kind == Verdict::Kind::snooze) statement_.delay = delay.value_or(Duration(0));
}

Result<void> VerdictStatement::check() const {
  if (statement_.result) {
    if (auto checked = check_result(*statement_.result); !checked) return checked;
  }
  return statement_.delay ? check_delay("delay", *statement_.delay) : Result<void>();
}

}  // namespace job

Verdict Verdict::complete(std::string result) { return {.kind = Kind::complete, .text = std::move(result)}; }

Verdict Verdict::fail(std::string error) { return {.kind = Kind::fail, .text = std::move(error)}; }

Verdict Verdict::fail_for_good(std::string error) {
  return {.kind = Kind::fail, .text = std::move(error), .retryable = false};
}

Verdict Verdict::retry_in(Duration delay, std::string error) {
  return {.kind = Kind::fail, .text = std::move(error), .delay = delay};
}

Verdict Verdict::release() { return {.kind = Kind::release}; }

Verdict Verdict::snooze(Duration delay) { return {.kind = Kind::snooze, .delay = delay}; }

// The verdicts: complete, fail, release, snooze; one by one, or many in one commit.
namespace job {
namespace {

constexpr std::size_t most_settled = 1000;

using Answers = std::vector<Result<Settled>>;

/// The last job of a grant of many has been settled. If this fails, recover does it.
void tidy(storage::Backend& backend, std::optional<std::int64_t> lease_id, BootTime deadline) {
  if (!lease_id) return;
  static_cast<void>(storage::query_one(backend, sql::JobTidy{.lease_id = *lease_id}, deadline));
}

Settled settled_plainly(std::string_view verdict) {
  return {.state = verdict == "complete" ? JobState::completed : JobState::available,
          .due_at = std::nullopt,
          .replayed = false};
}

/// Verdicts on different jobs: the store tells which is which by the job's id.
class Batch {
 public:
  /// Takes from the front of `verdicts` what fits into one statement.
  Batch(std::string_view verdict, std::span<const JobVerdict> verdicts) : verdict_(verdict) {
    for (const auto& one : verdicts) {
      if (ids_.size() == most_settled || !places_.emplace(one.id, ids_.size()).second) break;
      add(one);
    }
  }

  [[nodiscard]] std::size_t size() const { return ids_.size(); }

  /// Adds one answer per verdict, in their order.
  Result<void> run(storage::Backend& backend, BootTime deadline, Answers& answers) {
    const sql::JobSettlePlain statement{.verdict = verdict_, .job_ids = ids_, .tokens = tokens_, .results = results()};
    auto done = lease::ask_again(deadline, [&] { return storage::query_one(backend, statement, deadline); });
    if (!done) return std::move(done).error();
    for (const auto lease : done->to_tidy) tidy(backend, lease, deadline);
    const auto first = answers.size();
    answers.resize(first + ids_.size(), Result<Settled>(settled_plainly(verdict_)));
    if (done->settled.size() == ids_.size()) return {};
    run_rest(backend, deadline, done->settled, std::span(answers).subspan(first));
    return {};
  }

 private:
  void add(const JobVerdict& one) {
    ids_.push_back(one.id);
    tokens_.push_back(one.token.value);
    results_.push_back(one.result);
    any_result_ = any_result_ || !one.result.empty();
  }

  [[nodiscard]] std::span<const std::string_view> results() const {
    return any_result_ ? std::span(results_) : std::span<const std::string_view>();
  }

  /// Those that were settled before, are lost, or are wanted to stop: what became of each.
  void run_rest(storage::Backend& backend, BootTime deadline, std::span<const JobId> settled,
                std::span<Result<Settled>> answers) {
    Batch rest(verdict_, {});
    const std::set<JobId> plain(settled.begin(), settled.end());
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (!plain.contains(ids_[i])) rest.add({.id = ids_[i], .token = {tokens_[i]}, .result = results_[i]});
    }
    const sql::JobSettleMany statement{
        .verdict = verdict_, .job_ids = rest.ids_, .tokens = rest.tokens_, .results = rest.results()};
    auto rows = lease::ask_again(deadline, [&] { return storage::query(backend, statement, deadline); });
    for (const auto id : rest.ids_) answers[places_[id]] = rows ? Result<Settled>(no_such_job(id)) : rows.error();
    if (!rows) return;
    for (const auto& row : *rows) {
      if (const auto place = places_.find(row.job_id); place != places_.end())
        answers[place->second] = settled_from(row);
      if (row.tidy) tidy(backend, row.lease_id, deadline);
    }
  }

  std::string_view verdict_;
  std::vector<std::int64_t> ids_;
  std::vector<std::int64_t> tokens_;
  std::vector<std::string_view> results_;
  bool any_result_ = false;
  std::unordered_map<JobId, std::size_t> places_;
};

Result<Answers> settle_many(storage::Backend& backend, std::string_view verdict, std::span<const JobVerdict> verdicts,
                            Duration call_timeout) {
  Answers answers;
  answers.reserve(verdicts.size());
  while (!verdicts.empty()) {
    Batch batch(verdict, verdicts);
    auto done = batch.run(backend, BootClock::now() + call_timeout, answers);
    if (!done) {
      if (answers.empty()) return std::move(done).error();
      // Some have been settled already: their answers must not get lost with those of the rest.
      answers.resize(answers.size() + batch.size(), Result<Settled>(done.error()));
    }
    verdicts = verdicts.subspan(batch.size());
  }
  return answers;
}

}  // namespace
}  // namespace job

Result<Settled> Jobs::Impl::settle(const job::VerdictStatement& statement,
                                   std::optional<Result<sql::JobSettled>> first) const {
  if (auto checked = statement.check(); !checked) return std::move(checked).error();
  const auto until = deadline();
  auto answer = lease::ask_again(until, [&] {
    return first ? *std::exchange(first, std::nullopt) : storage::query_one(*backend, statement.get(), until);
  });
  if (!answer) return std::move(answer).error();
  if (answer->tidy) job::tidy(*backend, answer->lease_id, until);
  return job::settled_from(*answer);
}

Result<Settled> Jobs::complete(JobId id, Token token, std::string_view result) const {
  return impl_->settle({id, token, Verdict::Kind::complete, result});
}

Result<Settled> Jobs::fail(JobId id, Token token, const FailOptions& options) const {
  return impl_->settle({id, token, Verdict::Kind::fail, options.error, options.retryable, options.delay});
}

Result<Settled> Jobs::release(JobId id, Token token) const {
  return impl_->settle({id, token, Verdict::Kind::release});
}

Result<Settled> Jobs::snooze(JobId id, Token token, Duration delay) const {
  return impl_->settle({id, token, Verdict::Kind::snooze, {}, true, delay});
}

Result<Settled> Jobs::settle(JobId id, Token token, const Verdict& verdict) const {
  return impl_->settle({id, token, verdict});
}

Result<std::vector<Result<Settled>>> Jobs::complete(std::span<const JobVerdict> verdicts) const {
  for (const auto& verdict : verdicts) {
    if (auto checked = check_result(verdict.result); !checked) return std::move(checked).error();
  }
  return job::settle_many(*impl_->backend, "complete", verdicts, impl_->call_timeout);
}

Result<std::vector<Result<Settled>>> Jobs::release(std::span<const JobVerdict> verdicts) const {
  return job::settle_many(*impl_->backend, "release", verdicts, impl_->call_timeout);
}

}  // namespace leasehold
