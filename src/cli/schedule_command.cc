#include "cli/schedule_command.h"

#include <fmt/format.h>

#include "cli/command_streams.h"
#include "cli/grace.h"
#include "cli/print.h"
#include "cli/schedule_counts.h"

namespace leasehold::cli {
namespace {

using run::Ending;

RunVerdict verdict_on(const Ending& ending, const CommandStreams& streams, std::string counts) {
  // Drained or lost: the store knows which, and what to make of it.
  if (ending.kind == Ending::Kind::lease_lost) return RunVerdict::release();
  const bool ended_by_itself = ending.kind == Ending::Kind::exited;
  if (ended_by_itself && ending.exit_code == 0) return RunVerdict::ok(std::move(counts));
  return RunVerdict::fail(ended_by_itself ? failure_text(ending, streams.error_tail()) : describe_exit(ending),
                          std::move(counts));
}

}  // namespace

std::vector<std::string> schedule_environment(const ScheduleRun& run, const std::string& url) {
  return {
      fmt::format("LEASEHOLD_SCHEDULE={}", run.grant.key),
      fmt::format("LEASEHOLD_OCCURRENCE={}", to_string(run.occurrence)),
      fmt::format("LEASEHOLD_CAUSE={}", run.cause),
      fmt::format("LEASEHOLD_TOKEN={}", run.grant.token.value),
      fmt::format("LEASEHOLD_EXPIRES_AT={}", to_string(run.grant.expires_at)),
      fmt::format("LEASEHOLD_DB={}", url),
  };
}

RunVerdict ScheduleCommand::run(const ScheduleRun& run, const std::vector<std::string>& command, RunContext& context) {
  const auto counts = CountsFile::open();
  if (!counts) return RunVerdict::fail(counts.error().message);
  auto streams = CommandStreams::open({}, [](std::string_view) {});
  if (!streams) return RunVerdict::fail(streams.error().message);
  CommandWork work{.name = run.grant.key,
                   .command = command,
                   .environment = schedule_environment(run, settings_.url),
                   .stop = context.stop_token(),
                   .trusted_until = [&context] { return context.trusted_until(); }};
  work.environment.push_back(counts->variable());
  const auto ttl = run.grant.ttl;
  CommandRunner runner({.program = command.front(), .ttl = ttl, .grace = fitting_grace(settings_.grace, ttl)}, warden_,
                       stops_);
  const auto ending = runner.run(work, *streams);
  if (runner.fatal_code() != 0) fatal_code_ = runner.fatal_code();
  if (!ending) return RunVerdict::release();
  return verdict_on(*ending, *streams, counts_told(*counts, run.grant.key));
}

}  // namespace leasehold::cli
