#include "cli/run/schedule_command.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/run/command_streams.h"
#include "cli/run/wrapper_variables.h"
#include "model/bounds.h"

namespace leasehold::cli {
namespace {

using run::Ending;

RunVerdict verdict_on(const Ending& ending, const CommandStreams& streams, std::string counts) {
  // Drained or lost: the store knows which, and decides.
  if (ending.kind == Ending::Kind::lease_lost) return RunVerdict::release();
  const bool ended_by_itself = ending.kind == Ending::Kind::exited;
  if (ended_by_itself && ending.exit_code == 0) return RunVerdict::complete(std::move(counts));
  return RunVerdict::fail(ended_by_itself ? failure_text(ending, streams.error_tail()) : describe_exit(ending),
                          std::move(counts));
}

}  // namespace

std::vector<std::string> schedule_environment(const ScheduleRun& run, const std::string& url) {
  const auto& grant = run.grant;
  auto environment = wrapper_variables(
      held::schedule, {.key = grant.key, .token = grant.token, .expires_at = grant.expires_at, .url = url});
  environment.push_back(fmt::format("LEASEHOLD_OCCURRENCE={}", to_string(run.occurrence)));
  environment.push_back(fmt::format("LEASEHOLD_CAUSE={}", run.cause));
  return environment;
}

/// Out of descriptors or processes: not a failure of the run. If released at once, it would be acquired here again at
/// once.
RunVerdict ScheduleCommand::not_now(const ScheduleRun& run, std::string_view why, const RunContext& context) {
  say("leasehold: {}: the command cannot be started now ({}): the run is released", printable(run.grant.key), why);
  sleep_until(BootClock::now() + retry_later_delay, context.stop_token());
  return RunVerdict::release();
}

RunVerdict ScheduleCommand::run(const ScheduleRun& run, const std::vector<std::string>& command, RunContext& context) {
  const auto counts = CountsFile::open();
  if (!counts) return not_now(run, counts.error().message, context);
  auto streams = CommandStreams::open({}, [](std::string_view) {});
  if (!streams) return not_now(run, streams.error().message, context);
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
  if (ending->out_of_resources()) return not_now(run, std::strerror(ending->error), context);
  return verdict_on(*ending, *streams, counts_reported(*counts, run.grant.key));
}

Result<CountsFile> CountsFile::open() {
  run::UniqueFd file(::memfd_create("leasehold-counts", MFD_CLOEXEC));
  if (file) return CountsFile(std::move(file));
  return Error{.code = Errc::internal,
               .message = fmt::format("cannot create a file for the command's counts: {}", std::strerror(errno))};
}

std::string CountsFile::variable() const {
  return fmt::format("LEASEHOLD_COUNTS_FILE=/proc/{}/fd/{}", ::getpid(), file_.get());
}

Result<std::string> CountsFile::read() const {
  std::string bytes(bounds::counts_bytes + 1, '\0');
  const auto size = ::pread(file_.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (bytes.size() > bounds::counts_bytes) {
    return Error{.code = Errc::invalid_argument,
                 .message = "they are longer than " + format_size(bounds::counts_bytes)};
  }
  bytes.resize(bytes.find_last_not_of(" \t\r\n") + 1);
  if (bytes.empty() || is_json(bytes)) return bytes;
  return Error{.code = Errc::invalid_argument, .message = "they are not JSON"};
}

std::string counts_reported(const CountsFile& file, const std::string& name) {
  auto counts = file.read();
  if (counts) return std::move(*counts);
  say("leasehold: {}: ignored the counts: {}", printable(name), counts.error().message);
  return {};
}

}  // namespace leasehold::cli
