#include "cli/work_command.h"

#include <fmt/format.h>

#include "cli/print.h"
#include "cli/work_progress.h"

namespace leasehold::cli {
namespace {

using run::Ending;

Verdict verdict_on(const Job& job, const Ending& ending, const CommandStreams& streams) {
  // Cancelled, drained or lost: the store knows which, and what to make of it.
  if (ending.kind == Ending::Kind::lease_lost) return Verdict::release();
  if (ending.kind == Ending::Kind::guardian_died) return Verdict::fail(describe_exit(ending));
  if (ending.exit_code == retry_later_code) return Verdict::snooze(retry_later_delay);
  if (ending.exit_code != 0) {
    say("leasehold: job {} failed: {}", job.id, describe_exit(ending));
    return Verdict::fail(failure_text(ending, streams.error_tail()));
  }
  if (streams.output_was_cut()) say("leasehold: job {}: its result is cut after 1 MiB", job.id);
  return Verdict::complete(streams.output());
}

}  // namespace

CommandWork JobCommand::work_for(const Job& job, const JobContext& context) const {
  CommandWork work{.name = fmt::format("job {}", job.id),
                   .environment = lease_environment(job.token, job.attempt, context.trusted_until(), url_),
                   .stop = context.stop_token(),
                   .trusted_until = [&context] { return context.trusted_until(); }};
  work.environment.push_back(fmt::format("LEASEHOLD_JOB_ID={}", job.id));
  work.environment.push_back(fmt::format("LEASEHOLD_QUEUE={}", job.queue));
  return work;
}

Verdict JobCommand::run(const Job& job, JobContext& context) {
  auto streams =
      CommandStreams::open({.input = job.payload, .keep_output = keep_output_},
                           [&context](std::string_view line) { context.progress(parse_progress_line(line).view()); });
  if (!streams) return Verdict::fail(streams.error().message);
  const auto ending = runner_.run(work_for(job, context), *streams);
  return ending ? verdict_on(job, *ending, *streams) : Verdict::release();
}

}  // namespace leasehold::cli
