// leasehold job snooze: not now.
#include <memory>

#include "cli/command.h"
#include "cli/job_options.h"
#include "cli/job_verdict.h"

namespace leasehold::cli {
namespace {

struct JobSnoozeOptions {
  HeldJob job;
  Duration delay{};
  NextClaim next;
};

}  // namespace

void add_job_snooze(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "snooze", "Give a job back for later; no budget is charged",
                              {"leasehold job snooze 17 --token 1763200000000000 --delay 10m"});
  auto options = std::make_shared<JobSnoozeOptions>();
  add_held_job(*command, options->job);
  add_duration(*command, "--delay", options->delay, "Not before so much time has passed")->required();
  add_next_claim(*command, options->next);
  set_action(*command, context, [&context, options] {
    return settle(context, options->job, Verdict::snooze(options->delay), options->next);
  });
}

}  // namespace leasehold::cli
