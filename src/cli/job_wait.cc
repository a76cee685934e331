// leasehold job wait: until a job has completed, failed or was cancelled.
#include <memory>

#include "cli/command.h"
#include "cli/job_options.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/job_limits.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct JobWaitOptions {
  JobId id = 0;
  Duration timeout = max_delay;
};

int wait(const Context& context, const JobWaitOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto job = store->jobs().wait(options.id, options.timeout);
  if (!job) return report(context, job.error());
  if (context.json) {
    print_line(wire::to_json(*job));
  } else {
    const bool explained = job->state == JobState::failed && !job->error.empty();
    print("{} {}{}", coloured(job->state), options.id, explained ? ": " + printable(job->error) : "");
  }
  return job->state == JobState::completed ? exit_code::ok : exit_code::failure;
}

}  // namespace

void add_job_wait(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "wait",
                              "Wait for a job's end: exit code 0 completed, 1 failed or cancelled, 75 the time ran out",
                              {"leasehold job wait 17 --timeout 5m && leasehold job result 17",
                               "leasehold job wait \"$(leasehold job add resize cat.png)\""});
  auto options = std::make_shared<JobWaitOptions>();
  add_job_id(*command, options->id);
  add_duration(*command, "--timeout", options->timeout, "No longer than this (default: as long as it takes)");
  set_action(*command, context, [&context, options] { return wait(context, *options); });
}

}  // namespace leasehold::cli
