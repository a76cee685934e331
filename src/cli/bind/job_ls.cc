// leasehold job ls, errors.
#include <memory>

#include "base/time_text.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/words.h"
#include "wire/wire.h"

namespace leasehold::cli {

// leasehold job ls: jobs, newest first, one line each.
namespace {

struct JobLsOptions {
  JobFilter filter;
  std::string state;
};

std::string progress_of(const JobInfo& job) {
  std::string text = printable(job.holder);
  if (job.percent) text += fmt::format(" {}%", *job.percent);
  for (const auto& words : {job.stage, job.message}) {
    if (!words.empty()) text += " " + printable(words);
  }
  return text;
}

/// The one thing people want to know about a job in this state.
std::string gist_of(const JobInfo& job) {
  switch (job.state) {
    case JobState::deferred: return job.due_at ? "in " + format_duration(*job.due_at - job.store_now) : "";
    case JobState::blocked: return fmt::format("after {}", fmt::join(job.after, ", "));
    case JobState::running:
    case JobState::expired: return progress_of(job);
    case JobState::available:
    case JobState::failed: return printable(first_line(job.error));
    case JobState::completed:
    case JobState::cancelled: break;
  }
  return job.finished_at ? format_age(job.store_now - *job.finished_at) : "";
}

void print_table(const std::vector<JobInfo>& jobs, int limit) {
  if (jobs.empty()) return say_line("no jobs");
  Table table({{"ID", Column::to_the_right},
               {"QUEUE", Column::may_be_cut, 1},
               {"STATE", Column::as_it_is, 2},
               {"PRIORITY", Column::to_the_right, -1},
               {"ATTEMPTS", Column::to_the_right},
               "CREATED",
               {"WHAT", Column::may_be_cut, 1}});
  for (const auto& job : jobs) {
    table.add({std::to_string(job.id), printable(job.queue), coloured(job.state), std::to_string(job.priority),
               std::to_string(job.attempts), format_age(job.store_now - job.created_at), gist_of(job)});
  }
  table.print();
  if (jobs.size() == static_cast<std::size_t>(limit)) {
    say("only the newest {} are shown: go on with --before {}", limit, jobs.back().id);
  }
}

int list(const Context& context, JobLsOptions& options) {
  options.filter.state = from_word<JobState>(options.state);
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto jobs = store->jobs().list(options.filter);
  if (!jobs) return report(context, jobs.error());
  if (context.json) {
    print_line(wire::to_json(*jobs));
  } else {
    print_table(*jobs, options.filter.limit);
  }
  return exit_code::ok;
}

}  // namespace

void add_job_ls(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "ls", "List jobs, the newest first",
                  {"leasehold job ls --queue mail --state failed", "leasehold job ls --tag nightly --limit 20",
                   "leasehold job ls --state running --json | jq -r '.[].holder'"});
  auto options = std::make_shared<JobLsOptions>();
  auto& filter = options->filter;
  command->add_option("--queue", filter.queue, "Only those of this queue")->check(not_empty)->type_name("QUEUE");
  add_choice(*command, "--state", options->state,
             {"available", "deferred", "blocked", "running", "expired", "completed", "failed", "cancelled"},
             "Only those in this state");
  command->add_option("--tag", filter.tag, "Only those with this tag")->check(not_empty)->type_name("TAG");
  add_job_option(*command, "--before", filter.before_id, "Only those older than this job");
  add_limit(*command, "--limit", filter.limit, "At most N");
  set_action(*command, context, [&context, options] { return list(context, *options); });
}

// leasehold job errors: what went wrong lately.
namespace {

struct JobErrorsOptions {
  std::string queue;
  int limit = defaults::job_errors_limit;
};

void print_table(const std::vector<JobError>& errors) {
  if (errors.empty()) return say_line("no errors");
  Table table({{"JOB", Column::to_the_right},
               {"QUEUE", Column::may_be_cut, 1},
               {"AT", Column::as_it_is, 1},
               "OUTCOME",
               {"HOLDER", Column::may_be_cut, -1},
               {"ERROR", Column::may_be_cut, 2}});
  for (const auto& error : errors) {
    table.add({std::to_string(error.id), printable(error.queue), local_time(error.at, wall_clock()), error.outcome,
               error.holder.empty() ? "-" : printable(error.holder), printable(first_line(error.error))});
  }
  table.print();
}

int show_errors(const Context& context, const JobErrorsOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto errors = store->jobs().errors(options.queue, options.limit);
  if (!errors) return report(context, errors.error());
  if (context.json) {
    print_line(wire::to_json(*errors));
  } else {
    print_table(*errors);
  }
  return exit_code::ok;
}

}  // namespace

void add_job_errors(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "errors",
                  "Show what went wrong lately, the newest first, a line each; `job show` has the whole text",
                  {"leasehold job errors", "leasehold job errors mail --limit 100",
                   "leasehold job errors --json | jq -r '.[].error' | sort | uniq -c | sort -n"});
  auto options = std::make_shared<JobErrorsOptions>();
  command->add_option("QUEUE", options->queue, "Only jobs of this queue")->type_name("");
  add_limit(*command, "--limit", options->limit, "The newest N");
  set_action(*command, context, [&context, options] { return show_errors(context, *options); });
}

}  // namespace leasehold::cli
