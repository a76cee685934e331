// Options and arguments that the commands about chunks share.
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

/// Nothing for what is none.
std::optional<std::int64_t> whole_number(std::string_view text);
std::optional<Token> token_from(std::string_view text);

CLI::Option* add_set_name(CLI::App& command, std::string& set);

/// A chunk of a set, as its holder or an operator names it: else LEASEHOLD_SET and LEASEHOLD_CHUNK, as
/// `leasehold chunk run` sets them.
struct NamedChunk {
  std::string set;
  std::string key;

  /// Whether this is the chunk that the innermost `chunk run` holds for the caller.
  [[nodiscard]] bool is_own() const;
};
void add_named_chunk(CLI::App& command, NamedChunk& chunk);

/// A chunk as its holder names it: with the token.
struct HeldChunk : NamedChunk {
  Token token;
};
void add_held_chunk(CLI::App& command, Context& context, HeldChunk& chunk);

/// How far a loader got: --cursor and --rows.
struct SaveOptions {
  std::optional<std::string> cursor;
  std::optional<std::int64_t> rows;

  /// Valid as long as these options are.
  [[nodiscard]] ChunkSave save() const;
};
void add_save(CLI::App& command, SaveOptions& save);

/// What a set is told: --tries, --crashes, --backoff and --ttl.
void add_set_settings(CLI::App& command, ChunkSetSettings& settings);

/// A whole number within bounds that need not be said.
CLI::Option* add_optional_number(CLI::App& command, const std::string& names, std::optional<int>& value, int least,
                                 int most, const std::string& help);

/// --token, where a command can do without.
CLI::Option* add_optional_token(CLI::App& command, std::optional<Token>& token, const std::string& help);

// A plan as a file: a chunk per line.

/// Empty lines are left out; "-" is standard input. A bad line is refused with its number, as is a key that was there
/// before. Shows how far it is where a person looks.
Result<std::vector<PlannedChunk>> read_plan(const std::string& path);

}  // namespace leasehold::cli
