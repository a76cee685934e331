// leasehold job add: put a job into a queue.
#include <unistd.h>

#include <memory>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/job_options.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/job_limits.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct JobAddOptions {
  std::string queue;
  std::optional<std::string> payload;
  std::string file;
  wire::JobEnvelope job;
};

Result<std::string> payload_of(const JobAddOptions& options) {
  if (!options.file.empty()) return read_bytes(options.file, max_payload_bytes);
  if (options.payload && *options.payload != "-") return *options.payload;
  if (!options.payload && isatty(STDIN_FILENO) == 1) {
    return Error{.code = Errc::invalid_argument,
                 .message =
                     "the payload is missing: give it after the queue ('' for none), with --file FILE, or on a "
                     "pipe"};
  }
  return read_bytes("-", max_payload_bytes);
}

int add(const Context& context, JobAddOptions& options) {
  auto payload = payload_of(options);
  if (!payload) return report(context, payload.error());
  options.job.payload = std::move(*payload);
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  auto enqueued = store->jobs().enqueue(options.queue, options.job.job());
  if (!enqueued) return report(context, enqueued.error());
  if (context.json) {
    print_line(wire::to_json(*enqueued));
  } else {
    print("{}", enqueued->id);
    if (!enqueued->created) say("job {} has this dedupe key already: nothing was added", enqueued->id);
  }
  return exit_code::ok;
}

}  // namespace

void add_job_add(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "add", "Put a job into a queue and print its number",
      {R"(leasehold job add mail '{"to":"ann"}')", "leasehold job add mail --priority 5 --delay 10m < letter.txt",
       "leasehold job add report --at 06:00 --dedupe daily 'all'    # once, however often it is asked for",
       "leasehold job add load --after 17 x    # once job 17 has completed"});
  auto options = std::make_shared<JobAddOptions>();
  add_queue_name(*command, options->queue);
  auto* payload =
      command->add_option("PAYLOAD", options->payload, "Any bytes up to 1 MiB; - or nothing: standard input")
          ->type_name("");
  command->add_option("--file", options->file, "The payload is in this file")
      ->check(not_empty)
      ->type_name("FILE")
      ->excludes(payload);
  add_job_settings(*command, options->job);
  command
      ->add_option("--dedupe", options->job.dedupe_key,
                   "Unique among the queue's jobs that are not final: a second one gives the first one's number")
      ->check(not_empty)
      ->type_name("KEY");
  set_action(*command, context, [&context, options] { return add(context, *options); });
}

}  // namespace leasehold::cli
