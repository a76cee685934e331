#include <fmt/format.h>
#include <unordered_map>

#include "base/text.h"
#include "cli/bind/chunk_options.h"
#include "cli/input.h"
#include "cli/print/live.h"
#include "model/bounds.h"
#include "model/lines.h"

namespace leasehold::cli {
namespace {

class PlanReader {
 public:
  explicit PlanReader(LineReader lines) : lines_(std::move(lines)) {}

  /// Reads until the end, or the first bad line.
  Result<std::vector<PlannedChunk>> run() {
    for (;;) {
      auto line = lines_.next(bounds::chunk_json_bytes);
      if (!line) return refuse(line.error());
      if (!*line) return std::move(chunks_);
      if (auto taken = take(**line); !taken) return refuse(taken.error());
      show_progress();
    }
  }

 private:
  Result<void> take(const std::string& line) {
    if (line.empty()) return {};
    auto chunk = model::planned_chunk_from(line);
    if (!chunk) return std::move(chunk).error();
    const auto [known, added] = line_of_.try_emplace(chunk->key, lines_.line_number());
    if (!added) {
      return Error{
          .code = Errc::invalid_argument,
          .message = fmt::format("key {} is already on line {}", leasehold::quoted(chunk->key), known->second)};
    }
    chunks_.push_back(std::move(*chunk));
    return {};
  }

  [[nodiscard]] Error refuse(Error why) const {
    why.message = fmt::format("line {}: {}; nothing was planned", lines_.line_number(), why.message);
    return why;
  }

  void show_progress() {
    progress_.show([this] {
      const auto size = lines_.size();
      const auto bar = size ? progress_bar(lines_.bytes_read(), *size) + "  " : "";
      return fmt::format("{}read {} chunks", bar, chunks_.size());
    });
  }

  LineReader lines_;
  ProgressLine progress_;
  std::unordered_map<std::string, std::int64_t> line_of_;  ///< by key
  std::vector<PlannedChunk> chunks_;
};

}  // namespace

Result<std::vector<PlannedChunk>> read_plan(const std::string& path) {
  auto lines = LineReader::open(path);
  if (!lines) return std::move(lines).error();
  return PlanReader(std::move(*lines)).run();
}

}  // namespace leasehold::cli
