#include "cli/top_panel.h"

#include <fmt/format.h>

#include "cli/print.h"
#include "cli/session_text.h"

namespace leasehold::cli {

std::vector<TopPanel> panels_of(const TopPicture& picture) {
  return {lease_panel(picture),   queue_panel(picture),    chunk_panel(picture),
          session_panel(picture), schedule_panel(picture), event_panel(picture)};
}

std::string summary_of(const std::vector<TopCount>& counts, std::size_t rows) {
  std::string summary;
  for (const auto& [count, shown] : counts) {
    if (count > 0) summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, shown);
  }
  const bool cut = rows >= static_cast<std::size_t>(TopReader::most_rows);
  return summary.empty() ? "none" : cut ? fmt::format("of the first {}: {}", rows, summary) : summary;
}

std::string short_text(std::string_view text) { return text.empty() ? "-" : on_one_line(text); }

}  // namespace leasehold::cli
