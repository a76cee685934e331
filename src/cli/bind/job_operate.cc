// leasehold job cancel, retry, redrive, rm.
#include <memory>

#include "act/confirmations.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold job cancel: cancel a job.
namespace {

struct JobCancelOptions {
  JobId id = 0;
  std::string reason;
  AllJobs all;
};

int cancel(const Context& context, const JobCancelOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto state = store->jobs().cancel(options.id, options.reason);
  if (!state) return report(context, state.error());
  const bool requested = *state == JobState::running;
  const bool too_late = *state == JobState::completed || *state == JobState::failed || *state == JobState::lapsed;
  if (context.json) {
    print_line(model::to_json(act::JobChanged{options.id, *state}));
  } else if (too_late) {
    say("job {} has {} already: there is nothing to cancel", options.id, to_string(*state));
  } else if (requested) {
    print("requested {}: its worker is notified within two seconds", options.id);
  } else {
    print("cancelled {}", options.id);
  }
  return too_late ? exit_code::nothing_to_do : exit_code::ok;
}

}  // namespace

void add_job_cancel(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "cancel",
                  "Cancel a job: at once if it waits; if it runs, its worker is notified within two seconds",
                  {"leasehold job cancel 17", "leasehold job cancel 17 --reason 'order was withdrawn'",
                   "leasehold job cancel --all --queue mail --tag newsletter --yes"});
  auto options = std::make_shared<JobCancelOptions>();
  add_job_or_all(*command, context, options->id, options->all, JobAction::cancel);
  command->add_option("--reason", options->reason, "Reason; kept with the event")->check(not_empty)->type_name("TEXT");
  set_action(*command, context, [&context, options] {
    if (!options->all.wanted) return cancel(context, *options);
    options->all.bulk.reason = options->reason;
    return change_all(context, options->all);
  });
}

// leasehold job retry: run a job again, now, with fresh budgets.
namespace {

int retry(const Context& context, JobId id) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto state = store->jobs().retry(id);
  if (!state) return report(context, state.error());
  if (context.json) {
    print_line(model::to_json(act::JobChanged{id, *state}));
  } else {
    print("job {} is {}", id, to_string(*state));
  }
  return exit_code::ok;
}

}  // namespace

void add_job_retry(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "retry",
                              "Make a failed, cancelled, lapsed or deferred job available now, with fresh budgets",
                              {"leasehold job retry 17", "leasehold job errors mail    # shows what to retry",
                               "leasehold job retry --all --queue mail --enqueued-after 09:30 --yes"});
  struct Options {
    JobId id = 0;
    AllJobs all;
  };
  auto options = std::make_shared<Options>();
  add_job_or_all(*command, context, options->id, options->all, JobAction::retry);
  set_action(*command, context, [&context, options] {
    return options->all.wanted ? change_all(context, options->all) : retry(context, options->id);
  });
}

// leasehold job redrive: run all dead letters of a queue again.
namespace {

struct JobRedriveOptions {
  std::string queue;
  bool all = false;
  Consent consent;
};

Result<std::int64_t> count_dead_letters(const Store& store, const JobRedriveOptions& options) {
  if (!options.all) {
    auto queue = store.queues().show(options.queue);
    if (!queue) return std::move(queue).error();
    return queue->failed;
  }
  auto queues = store.queues().list();
  if (!queues) return std::move(queues).error();
  std::int64_t total = 0;
  for (const auto& queue : *queues) total += queue.failed;
  return total;
}

int redrive(const Context& context, const JobRedriveOptions& options) {
  if (options.all == !options.queue.empty()) {
    return report(context, {.code = Errc::invalid_argument, .message = "name one queue, or use --all"});
  }
  if (!options.consent.given()) {
    return ask_for_yes(context, "redrive runs every dead letter again");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto count =
      options.consent.dry_run ? count_dead_letters(*store, options) : store->jobs().redrive(options.queue);
  if (!count) return report(context, count.error());
  if (context.json) {
    print_line(options.consent.dry_run ? model::json_object({{"failed", *count}})
                                       : model::to_json(act::JobsRedriven{*count}));
  } else {
    print("{} {}", options.consent.dry_run ? "would redrive" : "redrove", counted(*count, "job"));
  }
  return exit_code::ok;
}

}  // namespace

void add_job_redrive(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "redrive", "Make every dead letter of a queue available again, with fresh budgets",
                  {"leasehold job redrive mail --dry-run", "leasehold job redrive --all --yes"});
  auto options = std::make_shared<JobRedriveOptions>();
  command->add_option("QUEUE", options->queue, "The queue of the dead letters")->type_name("");
  command->add_flag("--all", options->all, "Dead letters of every queue");
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return redrive(context, *options); });
}

// leasehold job rm: remove a job.
namespace {

struct JobRmOptions {
  JobId id = 0;
  AllJobs all;
};

int show_what_would_go(const Context& context, const Store& store, JobId id) {
  const auto job = store.jobs().show(id);
  if (!job) return report(context, job.error());
  const bool held = job->state == JobState::running || job->state == JobState::expired;
  if (context.json) {
    print_line(model::to_json(*job));
  } else if (held) {
    say("job {} is {}: cancel it before you remove it", id, to_string(job->state));
  } else {
    print("would remove {} of {}, which is {}, and {}", id, printable(job->queue), to_string(job->state),
          counted(job->attempts, "attempt"));
  }
  return held ? exit_code::held : exit_code::ok;
}

int remove(const Context& context, const JobRmOptions& options) {
  if (options.all.wanted) return change_all(context, options.all);
  const auto& consent = options.all.consent;
  if (!consent.given()) {
    return ask_for_yes(context, "rm removes the job and its history");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (consent.dry_run) return show_what_would_go(context, *store, options.id);
  const auto removed = store->jobs().remove(options.id);
  if (!removed) return report(context, removed.error());
  if (context.json) {
    print_line(model::to_json(act::JobRemoved{options.id}));
  } else {
    print("removed {}", options.id);
  }
  return exit_code::ok;
}

}  // namespace

void add_job_rm(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "rm", "Remove a job that is not running, with payload, result and history",
                  {"leasehold job rm 17 --dry-run", "leasehold job rm 17 --yes",
                   "leasehold job rm --all --queue mail --state cancelled --yes"});
  auto options = std::make_shared<JobRmOptions>();
  add_job_or_all(*command, context, options->id, options->all, JobAction::remove);
  set_action(*command, context, [&context, options] { return remove(context, *options); });
}

}  // namespace leasehold::cli
