// leasehold job ls, errors.
#include <memory>

#include "base/time_text.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/queue_table.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold job ls: jobs, newest first, one line each.
namespace {

struct JobLsOptions {
  JobFilter filter;
  bool watch = false;
};

std::string progress_of(const JobInfo& job) {
  auto text = job.holder ? printable(job.holder->name) : std::string();
  if (job.percent) text += fmt::format(" {}%", *job.percent);
  for (const auto& words : {job.stage, job.message}) {
    if (!words.empty()) text += " " + printable(words);
  }
  return text;
}

/// The most useful fact about a job in this state.
std::string gist_of(const JobInfo& job) {
  if (job.wait && job.state != JobState::blocked && job.state != JobState::deferred) {
    if (const auto why = short_wait(*job.wait); !why.empty()) return why;
  }
  if (job.wait && job.wait->reason == WaitReason::paused) return short_wait(*job.wait);
  switch (job.state) {
    case JobState::deferred: return job.due_at ? "in " + format_duration(*job.due_at - job.store_now) : "";
    case JobState::blocked:
      if (job.waits_for.empty() && !job.on_batch_end.empty()) return "after batch " + printable(job.on_batch_end);
      return fmt::format("after {}", fmt::join(job.waits_for, ", "));
    case JobState::running:
    case JobState::expired: return progress_of(job);
    case JobState::available:
    case JobState::failed: return printable(first_line(job.error));
    case JobState::completed:
    case JobState::cancelled:
    case JobState::lapsed: break;
  }
  return job.finished_at ? format_age(job.store_now - *job.finished_at) : "";
}

std::vector<std::string> table_of(const std::vector<JobInfo>& jobs) {
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
  return table.lines();
}

/// Like gist_of(), but without distances and ages, which always change.
std::string news_of(const JobInfo& job) {
  return fmt::format("{}, {}{}", printable(job.queue), to_string(job.state),
                     job.holder ? ", " + progress_of(job) : std::string());
}

Result<ListPicture> look_at(const Store& store, const JobFilter& filter) {
  const auto jobs = store.jobs().list(filter);
  if (!jobs) return jobs.error();
  return picture_of(
      *jobs, table_of(jobs->items), [](const auto& job) { return std::to_string(job.id); }, news_of);
}

int list(const Context& context, const JobLsOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return show_list(context, *store,
                   {.what = "jobs", .watch = options.watch, .look = [&] { return look_at(*store, options.filter); }});
}

}  // namespace

void add_job_ls(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "ls", "List jobs, newest first",
                  {"leasehold job ls --queue mail --state failed", "leasehold job ls --tag nightly --max 20",
                   "leasehold job ls --state running --json | jq -r '.items[].holder.name'"});
  auto options = std::make_shared<JobLsOptions>();
  auto& filter = options->filter;
  add_job_filter(*command, filter);
  add_paging(*command, filter.max, filter.page);
  add_watch(*command, options->watch);
  set_action(*command, context, [&context, options] { return list(context, *options); });
}

// leasehold job search: jobs that contain a text.
namespace {

struct JobSearchOptions {
  std::string text;
  JobFilter filter;
};

void print_found(const JobsFound& found) {
  if (!found.items.empty()) {
    for (const auto& line : table_of(found.items)) print_line(line);
  }
  say("found {}; looked at {}{}", counted(std::ssize(found.items), "job"), counted(found.scanned, "job"),
      found.complete            ? ", all that there are"
      : found.oldest_scanned_at ? ", back to " + local_time(*found.oldest_scanned_at, wall_clock())
                                : std::string());
  say_next_page(found.next);
}

int search(const Context& context, const JobSearchOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto found = store->jobs().search(options.text, options.filter);
  if (!found) return report(context, found.error());
  if (context.json) {
    print_line(model::to_json(*found));
  } else {
    print_found(*found);
  }
  return exit_code::ok;
}

}  // namespace

void add_job_search(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "search",
                              "Search jobs for a text in payload, errors, tags and metadata, newest first",
                              {"leasehold job search ann@example.com", "leasehold job search timeout --state failed",
                               "leasehold job search 4711 --queue mail --json | jq .complete"});
  auto options = std::make_shared<JobSearchOptions>();
  command->add_option("TEXT", options->text, "What they contain; ASCII letters match in either case")
      ->required()
      ->check(not_empty)
      ->type_name("");
  add_job_filter(*command, options->filter);
  add_paging(*command, options->filter.max, options->filter.page);
  set_action(*command, context, [&context, options] { return search(context, *options); });
}

// leasehold job batch show: how far a batch is.
namespace {

struct BatchShowOptions {
  std::string id;
  bool watch = false;
};

std::vector<std::string> table_of(const BatchInfo& batch) {
  Table table({{"BATCH", Column::may_be_cut, 1},
               {"TOTAL", Column::to_the_right},
               {"DONE", Column::to_the_right},
               {"UNFINISHED", Column::to_the_right},
               {"COMPLETED", Column::to_the_right},
               {"FAILED", Column::to_the_right},
               {"CANCELLED", Column::to_the_right, -1},
               {"LAPSED", Column::to_the_right, -1},
               {"END JOB", Column::to_the_right},
               "ENDED"});
  const auto done = batch.total - batch.unfinished;
  table.add({printable(batch.id), std::to_string(batch.total),
             batch.total > 0 ? fmt::format("{}%", done * 100 / batch.total) : "-", std::to_string(batch.unfinished),
             std::to_string(batch.completed), std::to_string(batch.failed), std::to_string(batch.cancelled),
             std::to_string(batch.lapsed), batch.end_job ? std::to_string(*batch.end_job) : "-",
             batch.ended_at ? format_age(batch.store_now - *batch.ended_at) : "-"});
  return table.lines();
}

Result<ListPicture> look_at_batch(const Store& store, const std::string& id) {
  const auto batch = store.jobs().batch(id);
  if (!batch) return batch.error();
  const auto gist = fmt::format("{} of {} done, {} failed{}", batch->total - batch->unfinished, batch->total,
                                batch->failed, batch->ended_at ? ", ended" : "");
  return ListPicture{
      .table = table_of(*batch), .entries = {{batch->id, gist}}, .json = model::to_json(*batch), .next = {}};
}

}  // namespace

void add_job_batch(CLI::App& parent, Context& context) {
  auto* group =
      add_group(parent, "batch", "Show the batches that jobs were added to", {"leasehold job batch show import-7"});
  auto* command = add_command(
      *group, context, "show", "Show how many jobs of a batch are done, and how they ended (exit code 4: unknown)",
      {"leasehold job batch show import-7 --watch", "leasehold job batch show import-7 --json | jq .unfinished"});
  auto options = std::make_shared<BatchShowOptions>();
  command->add_option("BATCH", options->id, "The batch, as its jobs name it")->required()->type_name("");
  add_watch(*command, options->watch);
  set_action(*command, context, [&context, options] {
    auto store = context.open_store();
    if (!store) return report(context, store.error());
    return show_list(context, *store, {.what = "batches", .watch = options->watch, .look = [&] {
                                         return look_at_batch(*store, options->id);
                                       }});
  });
}

// leasehold job errors: recent errors.
namespace {

void print_table(const Page<JobError>& errors) {
  if (errors.empty()) return say_line("no errors");
  Table table({{"JOB", Column::to_the_right},
               {"QUEUE", Column::may_be_cut, 1},
               {"AT", Column::as_it_is, 1},
               "OUTCOME",
               {"HOLDER", Column::may_be_cut, -1},
               {"ERROR", Column::may_be_cut, 2}});
  for (const auto& error : errors) {
    table.add({std::to_string(error.id), printable(error.queue), local_time(error.at, wall_clock()),
               to_string(error.outcome), error.holder ? printable(error.holder->name) : "-",
               printable(first_line(error.error))});
  }
  table.print();
  say_next_page(errors.next);
}

int show_errors(const Context& context, const JobErrorFilter& filter) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto errors = store->jobs().errors(filter);
  if (!errors) return report(context, errors.error());
  if (context.json) {
    print_line(model::to_json(*errors));
  } else {
    print_table(*errors);
  }
  return exit_code::ok;
}

}  // namespace

void add_job_errors(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "errors",
                              "Show recent errors, newest first, one line each; `job show` has the whole text",
                              {"leasehold job errors", "leasehold job errors mail --max 100",
                               "leasehold job errors --json | jq -r '.items[].error' | sort | uniq -c | sort -n"});
  auto options = std::make_shared<JobErrorFilter>();
  command->add_option("QUEUE", options->queue, "Only jobs of this queue")->type_name("");
  add_paging(*command, options->max, options->page);
  set_action(*command, context, [&context, options] { return show_errors(context, *options); });
}

}  // namespace leasehold::cli
