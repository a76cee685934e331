#include "cli/run/cursor_saver.h"

#include <fmt/format.h>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "base/quiet_thread.h"
#include "base/text.h"
#include "cli/bind/chunk_options.h"
#include "model/bounds.h"

namespace leasehold::cli {
namespace {

/// Removes a word and the blanks after it from the front.
bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  const auto rest = text.substr(word.size());
  if (!rest.empty() && rest.front() != ' ' && rest.front() != '\t') return false;
  text = trimmed(rest);
  return true;
}

}  // namespace

Result<std::optional<std::string>> cursor_of_line(std::string_view line) {
  auto text = trimmed(line);
  if (!take_word(text, "cursor")) return std::optional<std::string>();
  if (!is_json(text)) return invalid("the cursor is not JSON");
  return std::optional(std::string(text));
}

Result<std::optional<ChunkReport::Save>> ChunkReport::hear(std::string_view line) {
  auto text = trimmed(line);
  if (text.starts_with('{')) return hear_object(text);
  auto cursor = cursor_of_line(text);
  if (!cursor) return std::move(cursor).error();
  if (*cursor) return std::optional(Save{std::move(**cursor), rows_});
  if (!take_word(text, "rows")) return invalid("it is neither rows N, rows +N, cursor JSON nor a JSON object");
  if (auto heard = hear_rows(text); !heard) return std::move(heard).error();
  return std::optional<Save>();
}

Result<void> ChunkReport::hear_rows(std::string_view count) {
  const bool more = count.starts_with('+');
  const auto number = whole_number(count.substr(more ? 1 : 0));
  if (!number || *number < 0 || *number > bounds::max_rows || (more && *number > bounds::max_rows - rows_)) {
    return invalid(fmt::format("the rows are not a number from 0 to {}", bounds::max_rows));
  }
  rows_ = more ? rows_ + *number : *number;
  reported_ = true;
  return {};
}

Result<std::optional<ChunkReport::Save>> ChunkReport::hear_object(std::string_view object) {
  if (!is_json(object)) return invalid("it is not JSON");
  // A cursor is kept byte for byte, so it is cut out and not parsed.
  const auto cursor = json_member(object, "cursor");
  const auto rows = json_member(object, "rows");
  if (!cursor && !rows) return invalid("it has neither cursor nor rows");
  if (rows) {
    if (auto heard = hear_rows(*rows); !heard) return std::move(heard).error();
  }
  return cursor ? std::optional(Save{std::string(*cursor), rows_}) : std::nullopt;
}

void CursorSaver::put(CursorSave save) {
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(save);
  }
  changed_.notify_one();
  if (thread_.joinable()) return;
  try {
    thread_ = start_quiet_thread([this] { run(); });
  } catch (const std::system_error&) {
    // No thread is available: the command's lines wait while this one is saved.
    if (const auto only = std::exchange(waiting_, std::nullopt)) write(*only);
  }
}

void CursorSaver::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void CursorSaver::run() {
  while (const auto save = next()) write(*save);
}

void CursorSaver::write(const CursorSave& save) {
  if (const auto saved = write_(save); !saved) on_failure_(saved.error());
}

std::optional<CursorSave> CursorSaver::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return finishing_ || waiting_; });
  return std::exchange(waiting_, std::nullopt);
}

}  // namespace leasehold::cli
