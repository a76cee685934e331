// One chunk of `leasehold chunk run`: its command from start to verdict.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "cli/run/command_runner.h"
#include "leasehold/loader.h"

namespace leasehold::cli {

/// Runs the chunks' commands, each on the thread that calls it.
class ChunkCommand {
 public:
  struct Settings {
    std::string url;                       ///< of the store, for LEASEHOLD_DB
    std::optional<Duration> timeout = {};  ///< of a command
    Duration hold_back{};  ///< how long a chunk is kept after "not now": otherwise we would be the first to claim it
    bool verbose = false;  ///< a line on stderr for each outcome
  };

  /// `stop` ends the wait of held-back chunks.
  ChunkCommand(CommandRunner& runner, Settings settings, std::stop_token stop)
      : runner_(runner), settings_(std::move(settings)), stop_(std::move(stop)) {}

  /// The command's exit code decides; see the help of `chunk run`.
  Verdict run(const Chunk& chunk, ChunkContext& context);

 private:
  Verdict run_command(const Chunk& chunk, ChunkContext& context);
  [[nodiscard]] CommandWork work_for(const Chunk& chunk, const ChunkContext& context) const;
  /// Releases the chunk after a while.
  [[nodiscard]] Verdict not_now() const;
  Verdict verdict_on(const run::Ending& ending, const std::string& last_words, std::optional<std::int64_t> rows) const;

  CommandRunner& runner_;
  const Settings settings_;
  const std::stop_token stop_;
};

}  // namespace leasehold::cli
