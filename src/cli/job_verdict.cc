#include "cli/job_verdict.h"

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

}  // namespace

int settle(const Context& context, JobId id, const Verdict& verdict) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto settled = verdict(store->jobs());
  if (!settled) return report(context, settled.error());
  if (context.json) {
    print_line(wire::to_json(id, *settled));
  } else {
    print("{}{}", what_became_of(id, *settled), settled->replayed ? "  (said before)" : "");
  }
  return exit_code::ok;
}

}  // namespace leasehold::cli
