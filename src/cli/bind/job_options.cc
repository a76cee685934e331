#include "cli/bind/job_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <charconv>
#include <limits>

#include "base/clock.h"
#include "base/text.h"
#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/wrapper_variables.h"
#include "model/bounds.h"
#include "model/job_text.h"
#include "model/json.h"
#include "model/words.h"

namespace leasehold::cli {
namespace {

JobId job_id_from(const std::string& names, const std::string& text) {
  JobId id = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, id);
  if (parsed.ec != std::errc() || parsed.ptr != end || id <= 0) {
    throw CLI::ValidationError(names,
                               leasehold::quoted(text) + " is not a job id: write the number that `job add` printed");
  }
  return id;
}

CLI::Option* add_id(CLI::App& command, JobId& id, const std::string& help) {
  return add_job_option(command, "ID", id, help)->required()->type_name("");
}

/// An option with its own parser; a parser error becomes the message.
template <typename T, typename Parse>
CLI::Option* add_parsed(CLI::App& command, const std::string& names, T& value, Parse parse, const std::string& help) {
  const auto take = [&value, names, parse](const std::string& text) {
    auto parsed = parse(text);
    if (!parsed) throw CLI::ValidationError(names, parsed.error().message);
    value = std::move(*parsed);
  };
  return command.add_option_function<std::string>(names, take, help);
}

constexpr std::string_view job_states[] = {"available", "deferred", "blocked",   "running", "expired",
                                           "completed", "failed",   "cancelled", "lapsed"};

Result<JobState> parse_state(const std::string& text) {
  if (const auto state = from_word<JobState>(text)) return *state;
  return Error{.code = Errc::invalid_argument,
               .message = fmt::format("{} is none of {}", leasehold::quoted(text), fmt::join(job_states, ", "))};
}

void add_predecessors(CLI::App& command, NewJob& job) {
  const auto take = [&depends_on = job.depends_on](const std::vector<std::string>& texts) {
    for (const auto& text : texts) depends_on.push_back(job_id_from("--depends-on", text));
  };
  command
      .add_option_function<std::vector<std::string>>("--depends-on", take,
                                                     "Wait for this job to complete; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ID");
  add_parsed(
      command, "--if-failed", job.if_failed, parse_if_failed,
      "When a job of --depends-on fails finally, lapses, is cancelled or removed: cancel this one too, run it anyway, "
      "or wait until the other is retried (default cancel)")
      ->type_name("cancel|run|wait");
}

void add_times(CLI::App& command, NewJob& job) {
  auto* delay = add_duration(command, "--delay", job.delay, "Run it after this time at the earliest");
  add_parsed(
      command, "--at", job.run_at, [](const std::string& text) { return parse_moment(text, wall_clock()); },
      "Earliest start: 2026-03-01T09:30:00Z, or in local time '2026-03-01 09:30' or 09:30")
      ->type_name("TIME")
      ->excludes(delay);
}

void add_limits(CLI::App& command, NewJob& job) {
  add_duration(
      command, "--timeout", job.timeout,
      "Fail an attempt that takes longer; `work` sends SIGTERM earlier by its grace (at most a third of the limit)");
  auto* within = add_duration(command, "--expires-in", job.expires_in, "Do not start it after this time");
  add_parsed(
      command, "--expires-at", job.expires_at, [](const std::string& text) { return parse_moment(text, wall_clock()); },
      "Do not start it after this moment")
      ->type_name("TIME")
      ->excludes(within);
}

void add_budgets(CLI::App& command, NewJob& job) {
  add_number(command, "--max-failures", job.max_failures, 1, bounds::max_budget,
             fmt::format("It is a dead letter after N failures (default {})", job.max_failures));
  add_number(command, "--max-crashes", job.max_crashes, 1, bounds::max_budget,
             fmt::format("It is a dead letter after N crashes (default {})", job.max_crashes));
  add_parsed(
      command, "--backoff", job.backoff, [](const std::string& text) { return parse_backoff(text); },
      fmt::format("Pause before a retry: 5s..1h doubles up to an hour, 5s stays 5s (default {}..{})",
                  format_duration(job.backoff.base), format_duration(job.backoff.max)))
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

CLI::Option* add_job_id(CLI::App& command, JobId& id) { return add_id(command, id, "The job's id"); }

void add_held_job(CLI::App& command, Context& context, HeldJob& job) {
  add_id(command, job.id, "The job's id")->envname(held::job.key_variable);
  add_held_token(command, context, job.token, held::job, [&job] { return is_own_job(job.id); });
}

std::vector<CLI::Option*> add_job_filter(CLI::App& command, JobFilter& filter) {
  const auto only = [&command](const std::string& name, std::string& value, const std::string& which,
                               const std::string& type) {
    return command.add_option(name, value, "Only jobs " + which)->check(not_empty)->type_name(type);
  };
  const auto moment = [](const std::string& text) { return parse_moment(text, wall_clock()); };
  return {
      only("--queue", filter.queue, "of this queue", "QUEUE"),
      add_parsed(command, "--state", filter.state, parse_state, "Only jobs in this state")
          ->type_name(fmt::format("{}", fmt::join(job_states, "|"))),
      only("--tag", filter.tag, "with this tag", "TAG"),
      only("--batch", filter.batch, "of this batch", "BATCH"),
      only("--group", filter.group, "of this group", "KEY"),
      only("--dedupe", filter.dedupe_key, "with this dedupe key", "KEY"),
      add_parsed(command, "--enqueued-after", filter.enqueued_after, moment,
                 "Only jobs enqueued at this time or later: 2026-03-01T09:30:00Z, or in local time 09:30")
          ->type_name("TIME"),
      add_parsed(command, "--enqueued-before", filter.enqueued_before, moment, "Only jobs enqueued before this time")
          ->type_name("TIME")};
}

void add_dedupe(CLI::App& command, NewJob& job) {
  auto* key = command
                  .add_option("--dedupe", job.dedupe_key,
                              "Unique among the queue's jobs that are not final: adding a second one returns the first "
                              "id")
                  ->check(not_empty)
                  ->type_name("KEY");
  add_parsed(command, "--dedupe-mode", job.dedupe_mode, parse_dedupe_mode,
             "What happens to an unfinished job with the same key that is not running: keep it, replace its payload, "
             "metadata, "
             "priority and time, or debounce: move its time to --delay from now (default keep)")
      ->type_name("keep|replace|debounce")
      ->needs(key);
  add_duration(command, "--dedupe-for", job.dedupe_for, "The key stays taken for this long, also after the job's end")
      ->needs(key);
}

void add_job_settings(CLI::App& command, NewJob& job) {
  using Priority = std::numeric_limits<std::int16_t>;
  add_number(command, "--priority", job.priority, Priority::min(), Priority::max(),
             "Higher runs first, then the earliest (default 0)");
  add_times(command, job);
  command.add_option("--group", job.group, "Group that takes turns with others and shares the queue's --max-per-group")
      ->check(not_empty)
      ->type_name("KEY");
  add_budgets(command, job);
  command.add_option("--tag", job.tags, "Tag for filters; may be repeated")
      ->check(not_empty)
      ->allow_extra_args(false)
      ->type_name("TAG");
  add_predecessors(command, job);
  add_limits(command, job);
  command
      .add_option("--metadata", job.metadata,
                  "JSON object that each attempt gets: {\"traceparent\":...}; in LEASEHOLD_METADATA")
      ->check(not_empty)
      ->type_name("JSON");
  command.add_option("--batch", job.batch, "Batch that the job belongs to: see `leasehold job batch show`")
      ->check(not_empty)
      ->type_name("NAME");
  command.add_option("--on-batch-end", job.on_batch_end, "Run it when all jobs of this batch have ended")
      ->check(not_empty)
      ->type_name("NAME");
}

CLI::Option* add_max(CLI::App& command, const std::string& names, std::optional<int>& value, const std::string& help) {
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

std::string describe_settled(JobId id, const JobSettled& settled) {
  switch (settled.state) {
    case JobState::completed: return fmt::format("completed {}", id);
    case JobState::failed: return fmt::format("failed {}: it is a dead letter", id);
    case JobState::cancelled: return fmt::format("cancelled {}, as requested", id);
    case JobState::deferred: break;
    case JobState::available:
    case JobState::blocked:
    case JobState::running:
    case JobState::lapsed:
    case JobState::expired: return fmt::format("returned {}: it is {}", id, to_string(settled.state));
  }
  const auto when = settled.due_at ? " until " + local_time(*settled.due_at, wall_clock()) : "";
  return fmt::format("deferred {}{}", id, when);
}

int report_settled(const Context& context, JobId id, const Result<JobSettled>& settled, bool quiet) {
  if (!settled) return report(context, settled.error());
  if (context.json) {
    print_line(model::to_json(*settled));
  } else if (!quiet) {
    print("{}{}", describe_settled(id, *settled), settled->replayed ? "  (repeated)" : "");
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
  add_duration(command, "--wait", next.claim.wait, "With --next: wait up to this long for a job")->needs(queue);
  add_holder(command, next.holder)->needs(queue);
  command.add_flag("-q,--quiet", next.quiet, "With --next: print only id and token of the next job")->needs(queue);
}

int settle(const Context& context, const HeldJob& job, const Verdict& verdict, const NextClaim& next) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto jobs = store->jobs();
  if (next.queue.empty()) return report_settled(context, job.id, jobs.settle({job.id, job.token, verdict}), false);
  const auto& claim = next.claim;
  const Call call{.holder = calling_process(next.holder)};
  const auto both = say_while_waiting(
      wants_wait_line(context, claim.wait, next.quiet), [&] { return waits_for_job(*store, next.queue); },
      [&] {
        return jobs.settle_and_claim({job.id, job.token, verdict}, next.queue, claim, call);
      });
  // Even if the verdict failed: the claimed job has a holder now, which must get its token.
  const auto settled_code = report_settled(context, job.id, both.settled, next.quiet);
  const auto granted_code = report_granted(context, both.grant, next.quiet, exit_code::held);
  return settled_code != exit_code::ok ? settled_code : granted_code;
}

std::string until_text(Timestamp expires_at, Duration ttl, BootTime trusted_until) {
  // The trust ends a little before the lease does.
  const auto left = trusted_until - BootClock::now() + std::min<Duration>(ttl / 20, std::chrono::seconds(1));
  const bool whole = left >= ttl - std::min<Duration>(ttl / 10, std::chrono::seconds(1));
  const auto shown =
      whole ? format_duration(ttl) : format_duration(std::chrono::round<std::chrono::seconds>(left)) + " left";
  return fmt::format("{} ({})", local_time(expires_at, expires_at - ttl), shown);
}

namespace {

/// Of many jobs each has a limit of its own, while their lease lives on.
std::string end_of_claim(const JobGrant& grant, const Job& job) {
  if (grant.jobs.size() == 1 || grant.replayed || !job.timeout || *job.timeout >= grant.ttl) {
    return until_text(grant.expires_at, grant.ttl, grant.trusted_until);
  }
  const auto claimed_at = grant.expires_at - grant.ttl;
  return fmt::format("{} ({}, its time limit)", local_time(claimed_at + *job.timeout, claimed_at),
                     format_limit(*job.timeout));
}

void print_jobs(const JobGrant& grant, bool quiet) {
  for (const auto& job : grant.jobs) {
    if (quiet) {
      print("{} {}", job.id, job.token.value);
    } else {
      print("claimed {}  token {}  attempt {}  until {}", job.id, job.token.value, job.attempt,
            end_of_claim(grant, job));
    }
  }
  if (grant.replayed) say_line("again: this request id was granted before");
}

}  // namespace

int report_granted(const Context& context, const Result<JobGrant>& grant, bool quiet, int refused_code) {
  if (!grant) return report(context, grant.error(), refused_code);
  if (context.json) {
    print_line(model::to_json(*grant));
  } else {
    print_jobs(*grant, quiet);
  }
  return exit_code::ok;
}

}  // namespace leasehold::cli
