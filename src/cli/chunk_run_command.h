// One chunk of `leasehold chunk run`: its command from start to verdict.
#pragma once

#include <stop_token>
#include <string>

#include "cli/command_runner.h"
#include "leasehold/loader.h"

namespace leasehold::cli {

/// A command that says "this will never do" (EX_DATAERR).
inline constexpr int never_code = 65;

/// Runs the chunks' commands, each on the thread that calls it.
class ChunkCommand {
 public:
  /// `url` is that of the store, for LEASEHOLD_DB. A chunk whose command says "not now" is kept for `hold_back` before
  /// it is given back, unless `stop` fires: we would be the first to claim it again.
  ChunkCommand(CommandRunner& runner, std::string url, Duration hold_back, std::stop_token stop)
      : runner_(runner), url_(std::move(url)), hold_back_(hold_back), stop_(std::move(stop)) {}

  /// The command's exit code decides; see the help of `chunk run`.
  ChunkVerdict run(const Chunk& chunk, ChunkContext& context);

 private:
  [[nodiscard]] CommandWork work_for(const Chunk& chunk, const ChunkContext& context) const;
  ChunkVerdict verdict_on(const Chunk& chunk, const run::Ending& ending, const std::string& last_words,
                          std::optional<std::int64_t> rows) const;

  CommandRunner& runner_;
  const std::string url_;
  const Duration hold_back_;
  const std::stop_token stop_;
};

}  // namespace leasehold::cli
