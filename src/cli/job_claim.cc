// leasehold job claim: take jobs under a lease; no process stays behind.
#include <memory>

#include "cli/caller.h"
#include "cli/command.h"
#include "cli/job_granted.h"
#include "cli/job_options.h"
#include "cli/report.h"
#include "core/job_limits.h"

namespace leasehold::cli {
namespace {

struct JobClaimOptions {
  std::string queue;
  std::string holder;
  ClaimOptions claim;
  int refused_code = exit_code::held;
  bool quiet = false;
};

int claim(const Context& context, JobClaimOptions& options) {
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  options.claim.holder = calling_process(options.holder);
  return tell_granted(context, store->jobs().claim(options.queue, options.claim), options.quiet, options.refused_code);
}

}  // namespace

void add_job_claim(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "claim",
      "Take the next jobs of a queue until their ttl has passed or they are settled (exit code 3: it is empty)",
      {"leasehold job claim mail --ttl 2m", "leasehold job claim mail -n 10 --wait 1m --json | jq -r '.jobs[].payload'",
       "read -r id token < <(leasehold job claim mail -q) && leasehold job payload \"$id\" | ./send &&\n"
       "    leasehold job complete \"$id\" --token \"$token\""});
  auto options = std::make_shared<JobClaimOptions>();
  add_queue_name(*command, options->queue);
  add_number(*command, "-n,--most", options->claim.most, 1, max_claim, "Up to N jobs under one lease (default 1)");
  add_duration(*command, "--ttl", options->claim.ttl,
               "How long the lease lasts without a heartbeat (default: the queue's own, else 5m)");
  add_duration(*command, "--wait", options->claim.wait, "How long to wait for a job (default: not)");
  add_holder(*command, options->holder);
  command
      ->add_option("--request-id", options->claim.request_id,
                   "Makes repeating harmless: the same id gives the first answer again")
      ->check(not_empty)
      ->type_name("ID");
  add_number(*command, "-E,--conflict-exit-code", options->refused_code, 0, 255,
             "Exit with N instead of 75 when it is at capacity, paused, rate limited or busy");
  command->add_flag("-q,--quiet", options->quiet, "Print nothing but number and token of each job");
  set_action(*command, context, [&context, options] { return claim(context, *options); });
}

}  // namespace leasehold::cli
