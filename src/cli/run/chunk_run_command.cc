#include "cli/run/chunk_run_command.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "cli/print/print.h"
#include "cli/run/cursor_saver.h"
#include "cli/run/wrapper_variables.h"
#include "model/bounds.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

using run::Ending;

/// The term used in the loader's summary.
std::string described(const Verdict& verdict, const std::optional<StopReason>& stopped) {
  switch (verdict.kind) {
    case Verdict::Kind::complete: return "completed";
    case Verdict::Kind::fail: return verdict.retryable ? "failed" : "failed finally";
    case Verdict::Kind::skip: return "was skipped";
    case Verdict::Kind::snooze:
    case Verdict::Kind::release: break;
  }
  return stopped == StopReason::lost ? "was lost" : "was released";
}

}  // namespace

CommandWork ChunkCommand::work_for(const Chunk& chunk, const ChunkContext& context) const {
  CommandWork work{.name = "chunk " + printable(chunk.key),
                   .environment = wrapper_variables(held::chunk, {.key = chunk.key,
                                                                  .token = chunk.token,
                                                                  .expires_at = expires_at(context.trusted_until()),
                                                                  .url = settings_.url}),
                   .stop = context.stop_token(),
                   .trusted_until = [&context] { return context.trusted_until(); },
                   .timeout = settings_.timeout};
  work.environment.push_back("LEASEHOLD_SET=" + chunk.set);
  work.environment.push_back(fmt::format("LEASEHOLD_ATTEMPT={}", chunk.attempt));
  work.environment.push_back("LEASEHOLD_CURSOR=" + chunk.cursor.value_or(""));
  work.environment.push_back(fmt::format("LEASEHOLD_ROWS={}", chunk.rows));
  return work;
}

Verdict ChunkCommand::run_command(const Chunk& chunk, ChunkContext& context) {
  const auto work = work_for(chunk, context);
  const auto write = [&context](const CursorSave& save) -> Result<void> {
    const auto saved = context.save({.cursor = save.cursor, .rows = save.rows});
    if (!saved) return saved.error();
    return {};
  };
  CursorSaver saver(
      write, [&work](const Error& error) { say("leasehold: {}: not saved: {}", work.name, printable(error.message)); });
  ChunkReport report(chunk.rows);
  const auto hear = [&](std::string_view line) {
    auto heard = report.hear(line);
    if (!heard) return say("leasehold: {}: ignored a line on descriptor 3: {}", work.name, heard.error().message);
    if (*heard) saver.put(std::move(**heard));
  };
  auto streams =
      CommandStreams::open({.input = model::to_json(chunk) + "\n", .longest_line = longest_cursor_line}, hear);
  if (!streams) {
    runner_.report_shortage(work.name, streams.error().message);
    return not_now();
  }
  const auto ending = runner_.run(work, *streams);
  saver.finish();
  if (!streams->unfinished_line().empty()) {
    say("leasehold: {}: ignored a line on descriptor 3: no newline at its end", work.name);
  }
  return ending ? verdict_on(*ending, streams->error_tail(), report.rows_reported()) : Verdict::release();
}

Verdict ChunkCommand::not_now() const {
  sleep_until(BootClock::now() + settings_.hold_back, stop_);
  return Verdict::release();
}

Verdict ChunkCommand::run(const Chunk& chunk, ChunkContext& context) {
  const auto started = BootClock::now();
  auto verdict = run_command(chunk, context);
  const bool failed = verdict.kind == Verdict::Kind::fail;
  if (settings_.verbose || failed) {
    log_outcome({.what = fmt::format("chunk {} of {}", printable(chunk.key), printable(chunk.set)),
                 .attempt = chunk.attempt,
                 .came_to = described(verdict, context.stop_reason()),
                 .took = BootClock::now() - started,
                 .error = failed ? std::string_view(verdict.text) : std::string_view()});
  }
  return verdict;
}

Verdict ChunkCommand::verdict_on(const Ending& ending, const std::string& last_words,
                                 std::optional<std::int64_t> rows) const {
  if (ending.timed_out && settings_.timeout) return Verdict::fail(timed_out_text(*settings_.timeout));
  // Drained or lost: the store knows which, and decides.
  if (ending.kind == Ending::Kind::lease_lost) return Verdict::release();
  if (ending.kind == Ending::Kind::exited && ending.exit_code == 0) return {.rows = rows};
  if (ending.exit_code == retry_later_code || ending.out_of_resources()) return not_now();
  auto text = failure_text(ending, last_words);
  return ending.exit_code == never_code ? Verdict::fail_finally(std::move(text)) : Verdict::fail(std::move(text));
}

}  // namespace leasehold::cli
