// leasehold job add, wait, payload, result.
#include <fmt/format.h>
#include <unistd.h>
#include <memory>

#include "base/text.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/store_trouble.h"
#include "model/bounds.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold job add: put a job into a queue.
namespace {

struct JobAddOptions {
  std::string queue;
  std::optional<std::string> payload;
  std::string file;
  NewJob job;
};

Result<std::string> payload_of(const JobAddOptions& options) {
  if (!options.file.empty()) return read_bytes(options.file, bounds::payload_bytes);
  if (options.payload && *options.payload != "-") return *options.payload;
  if (!options.payload && isatty(STDIN_FILENO) == 1) {
    return Error{.code = Errc::invalid_argument,
                 .message =
                     "the payload is missing: give it after the queue ('' for none), with --file FILE, or on a "
                     "pipe"};
  }
  return read_bytes("-", bounds::payload_bytes);
}

int add(const Context& context, JobAddOptions& options) {
  auto payload = payload_of(options);
  if (!payload) return report(context, payload.error());
  options.job.payload = std::move(*payload);
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  auto enqueued = store->jobs().enqueue(options.queue, options.job);
  if (!enqueued) return report(context, enqueued.error());
  if (context.json) {
    print_line(model::to_json(*enqueued));
  } else {
    print("{}", enqueued->id);
    if (enqueued->created && enqueued->state == JobState::cancelled) {
      say("job {} is cancelled: a job that it depends on is dead; see `leasehold job show {}`", enqueued->id,
          enqueued->id);
    }
    if (enqueued->created && enqueued->state == JobState::lapsed) {
      say("job {} has lapsed: the moment by which it had to start has passed", enqueued->id);
    }
    if (!enqueued->created) {
      say("job {} has this dedupe key already: {}", enqueued->id,
          enqueued->updated ? "it was changed" : "nothing was added");
    }
  }
  return exit_code::ok;
}

}  // namespace

void add_job_add(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "add", "Add a job to a queue and print its id",
      {R"(leasehold job add mail '{"to":"ann"}')", "leasehold job add mail --priority 5 --delay 10m < letter.txt",
       "leasehold job add report --at 06:00 --dedupe daily 'all'    # once, even if added again",
       "leasehold job add load --depends-on 17 x    # after job 17 has completed"});
  command->alias("enqueue");
  auto options = std::make_shared<JobAddOptions>();
  add_queue_name(*command, options->queue);
  auto* payload =
      command
          ->add_option("PAYLOAD", options->payload,
                       fmt::format("Any bytes up to {}; - or none: standard input", format_size(bounds::payload_bytes)))
          ->type_name("");
  command->add_option("--file", options->file, "File with the payload")
      ->check(not_empty)
      ->type_name("FILE")
      ->excludes(payload);
  add_job_settings(*command, options->job);
  add_dedupe(*command, options->job);
  command
      ->add_option("--request-id", options->job.request_id,
                   "Make retries safe: for a day, the same id returns the first answer again")
      ->check(not_empty)
      ->type_name("ID");
  set_action(*command, context, [&context, options] { return add(context, *options); });
}

// leasehold job wait: wait until a job has completed, failed or was cancelled.
namespace {

struct JobWaitOptions {
  JobId id = 0;
  Duration timeout = bounds::max_delay;
};

/// "waiting for job 17: running, held by ana, 50%  copying tables"
std::string waits_for_end_of(const Jobs& jobs, JobId id) {
  const auto job = jobs.show(id);
  if (!job) return "";
  auto text = fmt::format("waiting for job {}: {}", id, to_string(job->state));
  if (job->holder) text += ", held by " + printable(job->holder->name);
  if (job->due_at) text += ", due " + with_distance(*job->due_at, job->store_now);
  if (job->percent) text += fmt::format(", {}%", *job->percent);
  if (!job->message.empty()) text += "  " + printable(job->message);
  return text;
}

int wait(const Context& context, JobWaitOptions& options) {
  auto store = open_within(options.timeout, context, Opening::existing);
  if (!store) return report(context, store.error());
  const auto jobs = store->jobs();
  const auto job = say_while_waiting(
      wants_wait_line(context, options.timeout), [&] { return waits_for_end_of(jobs, options.id); },
      [&] { return jobs.wait(options.id, options.timeout); });
  if (!job) return report(context, job.error());
  if (context.json) {
    print_line(model::to_json(*job));
  } else {
    const bool explained = job->state == JobState::failed && !job->error.empty();
    print("{} {}{}", coloured(job->state), options.id, explained ? ": " + printable(first_line(job->error)) : "");
  }
  return job->state == JobState::completed ? exit_code::ok : exit_code::failure;
}

}  // namespace

void add_job_wait(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "wait",
                  "Wait until a job ends: exit code 0 completed, 1 failed, cancelled or lapsed, 75 the wait ran out",
                  {"leasehold job wait 17 --wait 5m && leasehold job result 17",
                   "leasehold job wait \"$(leasehold job add resize cat.png)\""});
  auto options = std::make_shared<JobWaitOptions>();
  add_job_id(*command, options->id);
  add_duration(*command, "--wait", options->timeout, "Wait up to this long (default: no limit)");
  set_action(*command, context, [&context, options] { return wait(context, *options); });
}

// leasehold job payload, leasehold job result: print the bytes unchanged.
namespace {

using Read = Result<std::string> (Jobs::*)(JobId) const;

int print_body(const Context& context, JobId id, std::string_view key, Read read) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto jobs = store->jobs();
  const auto body = (jobs.*read)(id);
  if (!body) return report(context, body.error());
  const auto shown = context.json ? model::bytes_object(key, *body) + "\n" : *body;
  print_bytes(shown);
  return exit_code::ok;
}

}  // namespace

void add_job_payload(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "payload", "Print a job's payload, byte for byte",
                              {"leasehold job payload 17 | ./send", "leasehold job payload 17 | jq ."});
  auto id = std::make_shared<JobId>();
  add_job_id(*command, *id);
  set_action(*command, context, [&context, id] { return print_body(context, *id, "payload", &Jobs::payload); });
}

void add_job_result(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "result", "Print a job's result, byte for byte (exit code 4: there is none)",
                  {"leasehold job wait 17 && leasehold job result 17 > thumbnail.png"});
  auto id = std::make_shared<JobId>();
  add_job_id(*command, *id);
  set_action(*command, context, [&context, id] { return print_body(context, *id, "result", &Jobs::result); });
}

}  // namespace leasehold::cli
