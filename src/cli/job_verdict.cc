#include "cli/job_verdict.h"

#include "cli/caller.h"
#include "cli/command.h"
#include "cli/job_granted.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

std::string what_became_of(JobId id, const Settled& settled) {
  switch (settled.state) {
    case JobState::completed: return fmt::format("completed {}", id);
    case JobState::failed: return fmt::format("failed {} for good: it is a dead letter", id);
    case JobState::cancelled: return fmt::format("cancelled {}: somebody had asked for it", id);
    case JobState::deferred: break;
    case JobState::available:
    case JobState::blocked:
    case JobState::running:
    case JobState::expired: return fmt::format("returned {}: it is {}", id, to_string(settled.state));
  }
  const auto when = settled.due_at ? " until " + local_time(*settled.due_at, wall_clock()) : "";
  return fmt::format("deferred {}{}", id, when);
}

int tell_settled(const Context& context, JobId id, const Result<Settled>& settled, bool quiet) {
  if (!settled) return report(context, settled.error());
  if (context.json) {
    print_line(wire::to_json(id, *settled));
  } else if (!quiet) {
    print("{}{}", what_became_of(id, *settled), settled->replayed ? "  (said before)" : "");
  }
  return exit_code::ok;
}

}  // namespace

void add_next_claim(CLI::App& command, NextClaim& next) {
  auto* queue = command.add_option("--next", next.queue, "Claim the next job of this queue in the same step")
                    ->check(not_empty)
                    ->type_name("QUEUE");
  add_duration(command, "--ttl", next.claim.ttl, "With --next: how long its lease lasts without a heartbeat")
      ->needs(queue);
  add_duration(command, "--wait", next.claim.wait, "With --next: how long to wait for a job")->needs(queue);
  add_holder(command, next.holder)->needs(queue);
  command.add_flag("-q,--quiet", next.quiet, "With --next: print nothing but number and token of the next job")
      ->needs(queue);
}

int settle(const Context& context, const HeldJob& job, const Verdict& verdict, const NextClaim& next) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto jobs = store->jobs();
  if (next.queue.empty()) return tell_settled(context, job.id, jobs.settle(job.id, job.token, verdict), false);
  auto claim = next.claim;
  claim.holder = calling_process(next.holder);
  const auto both = jobs.settle_and_claim(job.id, job.token, verdict, next.queue, claim);
  // Whatever became of the verdict: what was claimed has a holder now, who must hear of it.
  const auto settled_code = tell_settled(context, job.id, both.settled, next.quiet);
  const auto granted_code = tell_granted(context, both.grant, next.quiet, exit_code::held);
  return settled_code != exit_code::ok ? settled_code : granted_code;
}

}  // namespace leasehold::cli
