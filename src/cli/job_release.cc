// leasehold job release: give a job back as it was.
#include <memory>

#include "cli/command.h"
#include "cli/job_options.h"
#include "cli/job_verdict.h"

namespace leasehold::cli {
namespace {

struct JobReleaseOptions {
  HeldJob job;
  NextClaim next;
};

}  // namespace

void add_job_release(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "release", "Give a job back: it is available at once, and no budget is charged",
                  {"leasehold job release 17 --token 1763200000000000"});
  auto options = std::make_shared<JobReleaseOptions>();
  add_held_job(*command, options->job);
  add_next_claim(*command, options->next);
  set_action(*command, context,
             [&context, options] { return settle(context, options->job, Verdict::release(), options->next); });
}

}  // namespace leasehold::cli
