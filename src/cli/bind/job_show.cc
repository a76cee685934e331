// leasehold job show: a job with its attempts.
#include <memory>

#include "act/answers.h"
#include "base/time_text.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/queue_table.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

/// For payloads and results: `job payload` and `job result` print them in full.
constexpr std::size_t longest_shown = 400;

void print_optional(std::string_view name, const std::string& value) {
  if (!value.empty()) print_field(name, printable(value));
}

void print_time(std::string_view name, const std::optional<Timestamp>& when, const JobInfo& job) {
  if (when) print_field(name, with_distance(*when, job.store_now));
}

void print_bytes(std::string_view name, std::string_view bytes) {
  const auto text = printable(bytes.substr(0, longest_shown));
  const auto more = bytes.size() > longest_shown ? fmt::format("... ({} bytes; see `job {}`)", bytes.size(), name) : "";
  print_field(name, bytes.empty() ? "(empty)" : text + more);
}

void print_holding(const JobInfo& job) {
  if (!job.holder) return;
  const auto& holder = *job.holder;
  const auto pid = holder.pid != 0 ? fmt::format(", pid {}", holder.pid) : "";
  print_field("holder", fmt::format("{} (on {}{})", printable(holder.name), printable(holder.host), pid));
  print_time("heartbeat", job.heartbeat_at, job);
  print_time(job.state == JobState::expired ? "expired" : "expires", job.held_until, job);
}

void print_progress(const JobInfo& job) {
  std::string progress = job.percent ? fmt::format("{}%", *job.percent) : "";
  for (const auto& words : {job.stage, job.message}) {
    if (!words.empty()) progress += (progress.empty() ? "" : "  ") + printable(words);
  }
  if (!progress.empty()) print_field("progress", progress);
}

bool is_dead(JobState state) {
  return state == JobState::failed || state == JobState::cancelled || state == JobState::lapsed;
}

void print_limits(const JobInfo& job) {
  if (job.timeout) print_field("timeout", format_limit(*job.timeout) + " per attempt");
  print_time("times out", job.times_out_at, job);
  print_time("start by", job.expires_at, job);
}

/// What happens next, and what the user can do about it.
std::string outlook(const JobInfo& job) {
  if (job.state != JobState::blocked || job.depends_on.empty()) return {};
  for (const auto& [id, state] : job.depends_on) {
    if (!is_dead(state) || job.if_failed == IfFailed::run) continue;
    // Cancelling many dependents takes several steps.
    if (job.if_failed == IfFailed::cancel)
      return fmt::format("job {} is {}: this job will be cancelled", id, to_string(state));
    return fmt::format("waits for job {}, which is {}: retry that job, or cancel this one", id, to_string(state));
  }
  switch (job.if_failed) {
    case IfFailed::cancel: return "runs when all have completed; if one fails, this job is cancelled";
    case IfFailed::run: return "runs when all have ended, whether they failed or not";
    case IfFailed::wait: return "runs when all have completed; if one fails, this job waits until it is retried";
  }
  return {};
}

void print_predecessors(const JobInfo& job) {
  if (job.depends_on.empty()) return;
  std::vector<std::string> all;
  for (const auto& [id, state] : job.depends_on) all.push_back(fmt::format("{} ({})", id, to_string(state)));
  print_field("depends on", fmt::format("{}", fmt::join(all, ", ")));
  print_field("if failed", to_string(job.if_failed));
  if (const auto text = outlook(job); !text.empty()) print_field("outlook", text);
}

void print_job(const JobInfo& job) {
  print_field("job", std::to_string(job.id));
  print_field("queue", printable(job.queue));
  print_field("state", coloured(job.state) + (job.cancel_requested ? "  (cancel requested)" : ""));
  print_field("priority", std::to_string(job.priority));
  print_time("created", job.created_at, job);
  print_time("due", job.due_at, job);
  if (job.wait && job.wait->reason != WaitReason::not_due) print_field("waits", shown_wait(*job.wait, job.store_now));
  print_time("finished", job.finished_at, job);
  print_holding(job);
  print_limits(job);
  print_progress(job);
  print_field("attempts", fmt::format("{}  (failures {} of {}, crashes {} of {})", job.attempts, job.failures,
                                      job.max_failures, job.crashes, job.max_crashes));
  print_predecessors(job);
  print_optional("batch", job.batch);
  if (!job.on_batch_end.empty()) print_field("runs after", "the end of batch " + printable(job.on_batch_end));
  print_optional("metadata", job.metadata);
  print_optional("cursor", job.cursor);
  print_optional("dedupe key", job.dedupe_key);
  print_optional("group", job.group);
  print_optional("schedule", job.schedule);
  print_time("occurrence", job.occurrence, job);
  if (!job.tags.empty()) print_field("tags", printable(fmt::format("{}", fmt::join(job.tags, ", "))));
  if (job.token.value != 0) print_field("token", std::to_string(job.token.value));
}

void print_attempts(const std::vector<JobAttempt>& attempts, Timestamp now) {
  if (attempts.empty()) return;
  Table table({{"ATTEMPT", Column::to_the_right},
               {"OUTCOME", Column::as_it_is, 2},
               "STARTED",
               {"ENDED", Column::as_it_is, -1},
               {"HOLDER", Column::may_be_cut},
               {"ERROR", Column::may_be_cut, 1}});
  for (const auto& attempt : attempts) {
    table.add({std::to_string(attempt.number), to_string(attempt.outcome), local_time(attempt.started_at, now),
               attempt.ended_at ? local_time(*attempt.ended_at, now) : "-", shown_name(attempt.holder),
               printable(first_line(attempt.error))});
  }
  print_line("");
  table.print();
}

/// Prints every error in full, the latest first. Consecutive attempts with the same error share one text.
void print_errors(const std::vector<JobAttempt>& attempts) {
  for (std::size_t end = attempts.size(); end > 0;) {
    const auto& last = attempts[end - 1];
    auto begin = end - 1;
    while (begin > 0 && attempts[begin - 1].error == last.error) --begin;
    if (!last.error.empty()) {
      const auto first = attempts[begin].number;
      print("\nerror of attempt{}:",
            first == last.number ? fmt::format(" {}", first) : fmt::format("s {} to {}", first, last.number));
      print_indented(last.error);
    }
    end = begin;
  }
}

Result<act::JobDetails> details_of(const Jobs& jobs, JobId id) {
  auto job = jobs.show(id);
  if (!job) return std::move(job).error();
  auto attempts = jobs.attempts(id);
  if (!attempts) return std::move(attempts).error();
  auto payload = jobs.payload(id);
  if (!payload) return std::move(payload).error();
  act::JobDetails details{.job = std::move(*job), .attempts = std::move(*attempts), .payload = std::move(*payload)};
  auto result = jobs.result(id);
  if (result) details.result = std::move(*result);
  if (!result && result.error().code != Errc::not_found) return std::move(result).error();
  return details;
}

int show(const Context& context, JobId id) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto details = details_of(store->jobs(), id);
  if (!details) return report(context, details.error());
  if (context.json) {
    print_line(model::to_json(*details));
    return exit_code::ok;
  }
  print_job(details->job);
  print_bytes("payload", details->payload);
  if (details->result) print_bytes("result", *details->result);
  print_attempts(details->attempts, details->job.store_now);
  print_errors(details->attempts);
  return exit_code::ok;
}

}  // namespace

void add_job_show(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "show",
                              "Show a job: state, holder, progress, budgets, every attempt (exit code 4: unknown)",
                              {"leasehold job show 17", "leasehold job show 17 --json | jq '.history[-1].error'"});
  auto id = std::make_shared<JobId>();
  add_job_id(*command, *id);
  set_action(*command, context, [&context, id] { return show(context, *id); });
}

}  // namespace leasehold::cli
