#include "cli/bind/job_options.h"

#include <fmt/format.h>
#include <charconv>
#include <limits>

#include "base/text.h"
#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/wrapper_variables.h"
#include "model/bounds.h"
#include "model/job_text.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

JobId job_id_from(const std::string& names, const std::string& text) {
  JobId id = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, id);
  if (parsed.ec != std::errc() || parsed.ptr != end || id <= 0) {
    throw CLI::ValidationError(names, leasehold::quoted(text) + " is not a job: write the number that `job add` gave");
  }
  return id;
}

CLI::Option* add_id(CLI::App& command, JobId& id, const std::string& help) {
  return add_job_option(command, "ID", id, help)->required()->type_name("");
}

/// An option whose text a parser reads; what the parser says is the complaint.
template <typename T, typename Parse>
CLI::Option* add_parsed(CLI::App& command, const std::string& names, T& value, Parse parse, const std::string& help) {
  const auto take = [&value, names, parse](const std::string& text) {
    auto parsed = parse(text);
    if (!parsed) throw CLI::ValidationError(names, parsed.error().message);
    value = std::move(*parsed);
  };
  return command.add_option_function<std::string>(names, take, help);
}

void add_predecessors(CLI::App& command, NewJob& job) {
  const auto take = [&after = job.after](const std::vector<std::string>& texts) {
    for (const auto& text : texts) after.push_back(job_id_from("--after", text));
  };
  command
      .add_option_function<std::vector<std::string>>("--after", take, "Wait for this job to complete; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ID");
  add_parsed(command, "--if-failed", job.if_failed, parse_if_failed,
             "When a job of --after fails for good, is cancelled or removed: cancel this one too, run it anyway, or "
             "wait until the other is retried (default cancel)")
      ->type_name("cancel|run|wait");
}

void add_times(CLI::App& command, NewJob& job) {
  auto* delay = add_duration(command, "--delay", job.delay, "Not before so much time has passed");
  add_parsed(
      command, "--at", job.run_at, [](const std::string& text) { return parse_moment(text, wall_clock()); },
      "Not before: 2026-03-01T09:30:00Z, or in local time '2026-03-01 09:30' or 09:30")
      ->type_name("TIME")
      ->excludes(delay);
}

void add_budgets(CLI::App& command, NewJob& job) {
  add_number(command, "--failure-budget", job.failure_budget, 1, bounds::max_budget,
             fmt::format("So many failures, and it is a dead letter (default {})", job.failure_budget));
  add_number(command, "--crash-budget", job.crash_budget, 1, bounds::max_budget,
             fmt::format("The same for holders that died with it (default {})", job.crash_budget));
  add_parsed(
      command, "--backoff", job.backoff, [](const std::string& text) { return parse_backoff(text); },
      fmt::format("Between a failure and the next attempt: 5s..1h doubles up to an hour, 5s does not (default {}..{})",
                  format_duration(job.backoff.base), format_duration(job.backoff.most)))
      ->type_name("BACKOFF");
}

}  // namespace

CLI::Option* add_queue_name(CLI::App& command, std::string& queue) {
  return add_name(command, "QUEUE", queue, "The queue");
}

CLI::Option* add_job_option(CLI::App& command, const std::string& names, JobId& id, const std::string& help) {
  const auto take = [&id, names](const std::string& text) { id = job_id_from(names, text); };
  return command.add_option_function<std::string>(names, take, help)->type_name("ID");
}

bool is_own_job(JobId id) { return environment_says(held::job.key_variable, std::to_string(id)); }

CLI::Option* add_job_id(CLI::App& command, JobId& id) { return add_id(command, id, "The job's number"); }

void add_held_job(CLI::App& command, Context& context, HeldJob& job) {
  add_id(command, job.id, "The job's number")->envname(held::job.key_variable);
  add_held_token(command, context, job.token, held::job, [&job] { return is_own_job(job.id); });
}

void add_job_settings(CLI::App& command, NewJob& job) {
  using Priority = std::numeric_limits<std::int16_t>;
  add_number(command, "--priority", job.priority, Priority::min(), Priority::max(),
             "Higher first, then earliest (default 0)");
  add_times(command, job);
  command.add_option("--limit-key", job.limit_key, "Counts against the queue's --max-per-key together with its like")
      ->check(not_empty)
      ->type_name("KEY");
  add_budgets(command, job);
  command.add_option("--tag", job.tags, "A word to find it by; may be repeated")
      ->check(not_empty)
      ->allow_extra_args(false)
      ->type_name("TAG");
  add_predecessors(command, job);
}

CLI::Option* add_limit(CLI::App& command, const std::string& names, std::optional<int>& value,
                       const std::string& help) {
  const auto take = [&value, names](const std::string& text) {
    int limit = 0;
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, limit);
    const bool number = parsed.ec == std::errc() && parsed.ptr == end && limit >= 1;
    if (!number && text != "none") {
      throw CLI::ValidationError(names, leasehold::quoted(text) + " is neither a number from 1 nor none");
    }
    value = number ? limit : 0;
  };
  return command.add_option_function<std::string>(names, take, help)->type_name("N");
}

namespace {

std::string what_became_of(JobId id, const JobSettled& settled) {
  switch (settled.state) {
    case JobState::completed: return fmt::format("completed {}", id);
    case JobState::failed: return fmt::format("failed {} for good: it is a dead letter", id);
    case JobState::cancelled: return fmt::format("cancelled {}: somebody had asked for it", id);
    case JobState::deferred: break;
    case JobState::available:
    case JobState::blocked:
    case JobState::running:
    case JobState::expired: return fmt::format("returned {}: it is {}", id, to_string(settled.state));
  }
  const auto when = settled.due_at ? " until " + local_time(*settled.due_at, wall_clock()) : "";
  return fmt::format("deferred {}{}", id, when);
}

int tell_settled(const Context& context, JobId id, const Result<JobSettled>& settled, bool quiet) {
  if (!settled) return report(context, settled.error());
  if (context.json) {
    print_line(wire::to_json(*settled));
  } else if (!quiet) {
    print("{}{}", what_became_of(id, *settled), settled->replayed ? "  (said before)" : "");
  }
  return exit_code::ok;
}

}  // namespace

void add_next_claim(CLI::App& command, NextClaim& next) {
  auto* queue = command.add_option("--next", next.queue, "Claim the next job of this queue in the same step")
                    ->check(not_empty)
                    ->type_name("QUEUE");
  add_duration(command, "--ttl", next.claim.ttl, "With --next: how long its lease lasts without a heartbeat")
      ->needs(queue);
  add_duration(command, "--wait", next.claim.wait, "With --next: how long to wait for a job")->needs(queue);
  add_holder(command, next.holder)->needs(queue);
  command.add_flag("-q,--quiet", next.quiet, "With --next: print nothing but number and token of the next job")
      ->needs(queue);
}

int settle(const Context& context, const HeldJob& job, const Verdict& verdict, const NextClaim& next) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto jobs = store->jobs();
  if (next.queue.empty()) return tell_settled(context, job.id, jobs.settle({job.id, job.token, verdict}), false);
  const auto& claim = next.claim;
  const Call call{.holder = calling_process(next.holder)};
  const auto both = say_while_waiting(
      wants_wait_line(context, claim.wait, next.quiet), [&] { return waits_for_job(*store, next.queue); },
      [&] {
        return jobs.settle_and_claim({job.id, job.token, verdict}, next.queue, claim, call);
      });
  // Whatever became of the verdict: what was claimed has a holder now, who must hear of it.
  const auto settled_code = tell_settled(context, job.id, both.settled, next.quiet);
  const auto granted_code = tell_granted(context, both.grant, next.quiet, exit_code::held);
  return settled_code != exit_code::ok ? settled_code : granted_code;
}

namespace {

void print_jobs(const JobGrant& grant, bool quiet) {
  const auto until =
      fmt::format("{} ({})", local_time(grant.expires_at, grant.expires_at - grant.ttl), format_duration(grant.ttl));
  for (const auto& job : grant.jobs) {
    if (quiet) {
      print("{} {}", job.id, job.token.value);
    } else {
      print("claimed {}  token {}  attempt {}  until {}", job.id, job.token.value, job.attempt, until);
    }
  }
  if (grant.replayed) say_line("again: this request id was granted before");
}

}  // namespace

int tell_granted(const Context& context, const Result<JobGrant>& grant, bool quiet, int refused_code) {
  if (!grant) return report(context, grant.error(), refused_code);
  if (context.json) {
    print_line(wire::to_json(*grant));
  } else {
    print_jobs(*grant, quiet);
  }
  return exit_code::ok;
}

}  // namespace leasehold::cli
