#include "cli/chunk_run_command.h"

#include <fmt/format.h>

#include "cli/chunk_run_report.h"
#include "cli/chunk_run_saver.h"
#include "cli/print.h"
#include "core/chunk_limits.h"
#include "storage/boot_wait.h"
#include "wire/chunks.h"

namespace leasehold::cli {
namespace {

using run::Ending;

/// Room for the largest cursor with blanks and a count around it. What is cut is too large to be saved.
constexpr std::size_t longest_line = 2 * max_chunk_json_bytes;

}  // namespace

CommandWork ChunkCommand::work_for(const Chunk& chunk, const ChunkContext& context) const {
  CommandWork work{.name = "chunk " + printable(chunk.key),
                   .environment = lease_environment(chunk.token, chunk.attempt, context.trusted_until(), url_),
                   .stop = context.stop_token(),
                   .trusted_until = [&context] { return context.trusted_until(); }};
  work.environment.push_back("LEASEHOLD_SET=" + chunk.set);
  work.environment.push_back("LEASEHOLD_KEY=" + chunk.key);
  work.environment.push_back("LEASEHOLD_CURSOR=" + chunk.cursor.value_or(""));
  work.environment.push_back(fmt::format("LEASEHOLD_ROWS={}", chunk.rows));
  return work;
}

ChunkVerdict ChunkCommand::run(const Chunk& chunk, ChunkContext& context) {
  const auto work = work_for(chunk, context);
  ChunkSaver saver(context, [&work](const Error& error) {
    say("leasehold: {}: not saved: {}", work.name, printable(error.message));
  });
  ChunkReport report(chunk.rows);
  const auto hear = [&](std::string_view line) {
    auto heard = report.hear(line);
    if (!heard) return say("leasehold: {}: ignored a line on descriptor 3: {}", work.name, heard.error().message);
    if (*heard) saver.put(std::move(**heard));
  };
  auto streams = CommandStreams::open({.input = wire::to_json(chunk) + "\n", .longest_line = longest_line}, hear);
  if (!streams) return ChunkVerdict::fail(streams.error().message);
  const auto ending = runner_.run(work, *streams);
  saver.finish();
  if (!streams->unfinished_line().empty()) {
    say("leasehold: {}: ignored a line on descriptor 3 without its end", work.name);
  }
  return ending ? verdict_on(chunk, *ending, streams->error_tail(), report.rows_told()) : ChunkVerdict::release();
}

ChunkVerdict ChunkCommand::verdict_on(const Chunk& chunk, const Ending& ending, const std::string& last_words,
                                      std::optional<std::int64_t> rows) const {
  // Drained or lost: the store knows which, and what to make of it.
  if (ending.kind == Ending::Kind::lease_lost) return ChunkVerdict::release();
  if (ending.kind == Ending::Kind::exited && ending.exit_code == 0) return ChunkVerdict::complete(rows);
  if (ending.exit_code == retry_later_code) {
    storage::sleep_until(BootClock::now() + hold_back_, stop_);
    return ChunkVerdict::release();
  }
  say("leasehold: chunk {} failed: {}", printable(chunk.key), describe_exit(ending));
  auto text = failure_text(ending, last_words);
  return ending.exit_code == never_code ? ChunkVerdict::fail_for_good(std::move(text))
                                        : ChunkVerdict::fail(std::move(text));
}

}  // namespace leasehold::cli
