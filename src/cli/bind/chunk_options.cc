#include "cli/bind/chunk_options.h"

#include <fmt/format.h>
#include <charconv>

#include "base/text.h"
#include "base/time_text.h"
#include "cli/command.h"
#include "cli/run/wrapper_variables.h"
#include "model/bounds.h"
#include "model/job_text.h"

namespace leasehold::cli {
namespace {

constexpr const char* set_variable = "LEASEHOLD_SET";

void take_rows(std::optional<std::int64_t>& rows, const std::string& text) {
  rows = whole_number(text);
  if (!rows || *rows < 0) {
    throw CLI::ValidationError("--rows", leasehold::quoted(text) + " is not a number of rows: write 0 or more");
  }
}

void take_backoff(ChunkSetSettings& settings, const std::string& text) {
  const auto backoff = parse_backoff(text);
  if (!backoff) throw CLI::ValidationError("--backoff", backoff.error().message);
  settings.backoff_base = backoff->base;
  settings.backoff_max = backoff->exponential ? backoff->max : backoff->base;
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

std::optional<Token> token_from(std::string_view text) {
  const auto number = whole_number(text);
  if (!number || *number <= 0) return std::nullopt;
  return Token{*number};
}

CLI::Option* add_set_name(CLI::App& command, std::string& set) {
  return add_name(command, "SET", set, "The set of chunks");
}

void add_named_chunk(CLI::App& command, NamedChunk& chunk) {
  add_set_name(command, chunk.set)->envname(set_variable);
  command.add_option("KEY", chunk.key, "The chunk's key")->required()->type_name("")->envname(held::chunk.key_variable);
}

void add_held_chunk(CLI::App& command, Context& context, HeldChunk& chunk) {
  add_named_chunk(command, chunk);
  add_held_token(command, context, chunk.token, held::chunk, [&chunk] { return chunk.is_own(); });
}

bool NamedChunk::is_own() const {
  return environment_says(set_variable, set) && environment_says(held::chunk.key_variable, key);
}

ChunkSave SaveOptions::save() const {
  ChunkSave save{.rows = rows};
  if (cursor) save.cursor = *cursor;
  return save;
}

void add_save(CLI::App& command, SaveOptions& save) {
  command
      .add_option("--cursor", save.cursor,
                  "Where the next holder continues: any JSON, up to " + format_size(bounds::chunk_json_bytes))
      ->check(not_empty)
      ->type_name("JSON");
  command
      .add_option_function<std::string>(
          "--rows", [&save](const std::string& text) { take_rows(save.rows, text); },
          "Total rows of the chunk up to this cursor, not the increment")
      ->type_name("N");
}

void add_set_settings(CLI::App& command, ChunkSetSettings& settings) {
  add_optional_number(
      command, "--max-failures", settings.max_failures, 1, bounds::max_budget,
      fmt::format("A chunk is exhausted after N failures (initially {})", defaults::chunk_max_failures));
  add_optional_number(command, "--max-crashes", settings.max_crashes, 1, bounds::max_budget,
                      fmt::format("A chunk is exhausted after N crashes (initially {})", defaults::chunk_max_crashes));
  command
      .add_option_function<std::string>(
          "--backoff", [&settings](const std::string& text) { take_backoff(settings, text); },
          fmt::format("Pause before a retry: 2s..30s doubles up to 30s, 2s stays 2s (initially {}..{})",
                      format_duration(defaults::chunk_backoff_base), format_duration(defaults::chunk_backoff_max)))
      ->type_name("BACKOFF");
  add_duration(command, "--ttl", settings.default_ttl,
               fmt::format("Default ttl of claims (initially {})", format_duration(defaults::chunk_ttl)));
}

CLI::Option* add_optional_number(CLI::App& command, const std::string& names, std::optional<int>& value, int min,
                                 int max, const std::string& help) {
  const auto take = [&value, names, min, max](const std::string& text) {
    const auto number = whole_number(text);
    if (!number || *number < min || *number > max) {
      throw CLI::ValidationError(names,
                                 fmt::format("{} is not a number from {} to {}", leasehold::quoted(text), min, max));
    }
    value = static_cast<int>(*number);
  };
  return command.add_option_function<std::string>(names, take, help)->type_name("N");
}

CLI::Option* add_optional_token(CLI::App& command, std::optional<Token>& token, const std::string& help) {
  const auto take = [&token](const std::string& text) {
    token = token_from(text);
    if (!token) {
      throw CLI::ValidationError("--token",
                                 leasehold::quoted(text) + " is not a token: write the number that claim printed");
    }
  };
  return command.add_option_function<std::string>("--token", take, help)->type_name("TOKEN");
}

}  // namespace leasehold::cli
