// leasehold job release: give a job back as it was.
#include <memory>

#include "cli/command.h"
#include "cli/job_options.h"
#include "cli/job_verdict.h"

namespace leasehold::cli {

void add_job_release(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "release", "Give a job back: it is available at once, and no budget is charged",
                  {"leasehold job release 17 --token 1763200000000000"});
  auto job = std::make_shared<HeldJob>();
  add_held_job(*command, *job);
  set_action(*command, context, [&context, job] {
    return settle(context, job->id, [&](const Jobs& jobs) { return jobs.release(job->id, job->token); });
  });
}

}  // namespace leasehold::cli
