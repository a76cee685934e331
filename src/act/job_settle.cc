// Acts that settle jobs: complete, fail, release, snooze; one by one, or many in one call.
#include "act/job_settle.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "act/act.h"
#include "act/answers.h"
#include "act/arguments.h"
#include "base/text.h"
#include "model/bounds.h"
#include "model/errors.h"

namespace leasehold::act {
namespace {

struct JobHeld {
  JobId id = 0;
  Token token{};
};

Described describe(Type<JobHeld>) {
  static constexpr auto fields = fields_of<JobHeld>({
      field<&JobHeld::id>("id").needed().means("the job's id"),
      field<&JobHeld::token>("token").needed(),
  });
  static const JobHeld fresh;
  return {"JobHeld", fields, &fresh};
}

struct JobComplete {
  JobHeld job{};
  std::string result{};
};

Described describe(Type<JobComplete>) {
  static constexpr auto fields = fields_of<JobComplete>({
      inlined<&JobComplete::job>(),
      field<&JobComplete::result>("result").as(model::Kind::bytes).up_to(bounds::result_bytes),
  });
  static const JobComplete fresh;
  return {"JobComplete", fields, &fresh};
}

struct JobFail {
  JobHeld job{};
  std::string error{};
  bool retryable = true;
  std::optional<Duration> delay{};
};

Described describe(Type<JobFail>) {
  static constexpr auto fields = fields_of<JobFail>({
      inlined<&JobFail::job>(),
      field<&JobFail::error>("error").means("what went wrong; kept with the attempt"),
      field<&JobFail::retryable>("retryable"),
      field<&JobFail::delay>("delay_seconds")
          .from(Duration(0), bounds::max_delay)
          .means("retry after this time instead of the backoff"),
  });
  static const JobFail fresh;
  return {"JobFail", fields, &fresh};
}

struct JobSnooze {
  JobHeld job{};
  Duration delay{};
};

Described describe(Type<JobSnooze>) {
  static constexpr auto fields = fields_of<JobSnooze>({
      inlined<&JobSnooze::job>(),
      field<&JobSnooze::delay>("delay_seconds")
          .from(Duration(0), bounds::max_delay)
          .needed()
          .means("run it after this time at the earliest"),
  });
  static const JobSnooze fresh;
  return {"JobSnooze", fields, &fresh};
}

struct JobsSettle {
  std::vector<JobVerdict> settlements{};
};

Described describe(Type<JobsSettle>) {
  static constexpr auto fields = fields_of<JobsSettle>({
      field<&JobsSettle::settlements>("settlements").needed().means("a verdict for each job"),
  });
  static const JobsSettle fresh;
  return {"JobsSettle", fields, &fresh};
}

Result<JobSettled> job_complete(const Store& store, const JobComplete& given, const Call& /*call*/) {
  return store.jobs().complete(given.job.id, given.job.token, given.result);
}

Result<JobSettled> job_fail(const Store& store, const JobFail& given, const Call& /*call*/) {
  return store.jobs().settle(
      {given.job.id,
       given.job.token,
       {.kind = Verdict::Kind::fail, .text = given.error, .retryable = given.retryable, .delay = given.delay}});
}

Result<JobSettled> job_release(const Store& store, const JobHeld& given, const Call& /*call*/) {
  return store.jobs().release(given.id, given.token);
}

Result<JobSettled> job_snooze(const Store& store, const JobSnooze& given, const Call& /*call*/) {
  return store.jobs().snooze(given.job.id, given.job.token, given.delay);
}

Result<std::vector<Settlement>> settlements_in(const JobsSettle& given) {
  std::vector<Settlement> all;
  all.reserve(given.settlements.size());
  for (std::size_t i = 0; i < given.settlements.size(); ++i) {
    auto one = settlement_from(given.settlements[i]);
    if (!one) return about_field("settlements", about_element(i, std::move(one).error()));
    all.push_back(std::move(*one));
  }
  return all;
}

/// If the store fails for every verdict, the whole call fails: its status says whether to repeat it.
Result<JobsSettled> job_settle(const Store& store, const JobsSettle& given, const Call& /*call*/) {
  const auto settlements = settlements_in(given);
  if (!settlements) return settlements.error();
  const auto answers = store.jobs().settle(*settlements);
  if (!answers) return answers.error();
  JobsSettled all;
  add_answers(*settlements, *answers, all);
  const auto has_trouble = [](const auto& item) { return item.error && is_store_trouble(item.error->code); };
  if (!all.items.empty() && std::all_of(all.items.begin(), all.items.end(), has_trouble)) {
    return *all.items.front().error;
  }
  return all;
}

}  // namespace

Described describe(Type<JobVerdict>) {
  static constexpr auto verdicts = std::span(words<Verdict::Kind>).first<4>();
  static_assert(words<Verdict::Kind>[verdicts.size()] == std::string_view("skip"), "for chunks only, and the last one");
  static constexpr auto fields = fields_of<JobVerdict>({
      field<&JobVerdict::id>("id").needed().means("the job's id"),
      field<&JobVerdict::token>("token").needed(),
      field<&JobVerdict::verdict>("verdict").among(verdicts).needed().means("what became of the job"),
      field<&JobVerdict::result>("result").as(model::Kind::bytes).up_to(bounds::result_bytes).means("of `complete`"),
      field<&JobVerdict::error>("error").or_null().means("of `fail`: what went wrong; kept with the attempt"),
      field<&JobVerdict::retryable>("retryable").means("of `fail`; false: a retry would not help"),
      field<&JobVerdict::delay>("delay_seconds")
          .from(Duration(0), bounds::max_delay)
          .means("of `snooze`: run it after this time at the earliest; of `fail`: retry then, not after the backoff"),
  });
  static const JobVerdict fresh;
  return {"JobVerdict", fields, &fresh};
}

Result<Settlement> settlement_from(const JobVerdict& given) {
  using Kind = Verdict::Kind;
  const auto only_of = [](std::string_view key, std::string_view verdict) {
    return about_field(key, invalid(fmt::format("\"{}\" belongs to the verdict {}", key, verdict)));
  };
  const bool is_failure = given.verdict == Kind::fail;
  if (!given.result.empty() && given.verdict != Kind::complete) return only_of("result", "complete");
  if (!given.error.empty() && !is_failure) return only_of("error", "fail");
  if (!given.retryable && !is_failure) return only_of("retryable", "fail");
  if (given.delay && !is_failure && given.verdict != Kind::snooze) return only_of("delay_seconds", "snooze or fail");
  if (!given.delay && given.verdict == Kind::snooze) {
    return about_field("delay_seconds", invalid("\"delay_seconds\" is missing"));
  }
  Verdict verdict{.kind = given.verdict,
                  .text = is_failure ? given.error : given.result,
                  .retryable = given.retryable,
                  .delay = given.delay};
  if (auto checked = check_verdict(verdict); !checked) return std::move(checked).error();
  return Settlement{.id = given.id, .token = given.token, .verdict = std::move(verdict)};
}

void add_answers(std::span<const Settlement> settlements, std::span<const Result<JobSettled>> answers,
                 JobsSettled& all) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& answer = answers[i];
    all.items.push_back(answer ? JobVerdictAnswer{.id = answer->id, .settled = *answer}
                               : JobVerdictAnswer{.id = settlements[i].id, .error = answer.error()});
    ++(answer ? all.settled : all.refused);
  }
}

// NOLINTNEXTLINE(readability-function-size): a table.
std::span<const Act> job_settle_acts() {
  static constexpr Act acts[] = {
      act<job_settle>({
          .name = "job.settle",
          .help = "Settle several jobs; each is settled or refused for itself",
          .scope = Scope::work,
          .sql = "job_settle",
          .idempotent = true,
          .example =
              R"({"settlements":[{"id":17,"token":1763200000000000,"verdict":"complete","result":{"sent":true}},)"
              R"({"id":18,"token":1763200000000000,"verdict":"fail","error":"no route to host"}]})",
      }),
      act<job_complete>({
          .name = "job.complete",
          .help = "Complete a job",
          .scope = Scope::work,
          .sql = "job_complete",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found>,
          .example = R"({"id":17,"token":1763200000000000,"result":{"sent":true}})",
      }),
      act<job_fail>({
          .name = "job.fail",
          .help = "Fail a job; it is retried after a backoff until its budget is spent",
          .scope = Scope::work,
          .sql = "job_fail",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found>,
          .example = R"({"id":17,"token":1763200000000000,"error":"no route to host"})",
      }),
      act<job_release>({
          .name = "job.release",
          .help = "Release a job; it is available at once, and no budget is charged",
          .scope = Scope::work,
          .sql = "job_release",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found>,
          .example = R"({"id":17,"token":1763200000000000})",
      }),
      act<job_snooze>({
          .name = "job.snooze",
          .help = "Return a job to its queue for later; no budget is charged",
          .scope = Scope::work,
          .sql = "job_snooze",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found>,
          .example = R"({"id":17,"token":1763200000000000,"delay_seconds":600})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
