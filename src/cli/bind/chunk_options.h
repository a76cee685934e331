// Options and arguments shared by the commands about chunks.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "leasehold/chunk.h"

namespace leasehold::cli {

/// Nothing if the text is not a number.
std::optional<std::int64_t> whole_number(std::string_view text);
std::optional<Token> token_from(std::string_view text);

CLI::Option* add_set_name(CLI::App& command, std::string& set);

/// A chunk of a set, as named by its holder or an operator: else LEASEHOLD_SET and LEASEHOLD_CHUNK, as `leasehold chunk
/// run` sets them.
struct NamedChunk {
  std::string set;
  std::string key;

  /// Whether the innermost `chunk run` holds this chunk for the caller.
  [[nodiscard]] bool is_own() const;
};
void add_named_chunk(CLI::App& command, NamedChunk& chunk);

/// A chunk as named by its holder: with the token.
struct HeldChunk : NamedChunk {
  Token token;
};
void add_held_chunk(CLI::App& command, Context& context, HeldChunk& chunk);

/// The progress of a loader: --cursor and --rows.
struct SaveOptions {
  std::optional<std::string> cursor;
  std::optional<std::int64_t> rows;

  /// Valid as long as these options exist.
  [[nodiscard]] ChunkSave save() const;
};
void add_save(CLI::App& command, SaveOptions& save);

/// The settings of a set: --max-failures, --max-crashes, --backoff and --ttl.
void add_set_settings(CLI::App& command, ChunkSetSettings& settings);

/// An optional whole number within bounds.
CLI::Option* add_optional_number(CLI::App& command, const std::string& names, std::optional<int>& value, int min,
                                 int max, const std::string& help);

/// --token, for commands in which it is optional.
CLI::Option* add_optional_token(CLI::App& command, std::optional<Token>& token, const std::string& help);

// A plan as a file: a chunk per line.

/// Skips empty lines; "-" is standard input. Refuses a bad line, or a repeated key, with the line number. Shows
/// progress on a terminal.
Result<std::vector<PlannedChunk>> read_plan(const std::string& path);

}  // namespace leasehold::cli
