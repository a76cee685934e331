// The panel of chunk sets that are not final yet.
#include <fmt/format.h>

#include "cli/chunk_text.h"
#include "cli/print.h"
#include "cli/progress_line.h"
#include "cli/top_panel.h"
#include "core/duration.h"

namespace leasehold::cli {
namespace {

std::vector<std::string> row_of(const ChunkSetAtWork& at_work) {
  const auto& [set, pace] = at_work;
  return {short_text(set.name),
          progress_bar(done_chunks(set), set.total),
          shown_count(set),
          std::to_string(set.running),
          pace && pace->left ? format_duration(std::chrono::ceil<std::chrono::seconds>(*pace->left)) : "-",
          std::to_string(set.rows),
          pace ? fmt::format("{:.0f}", pace->rows_per_second) : "-",
          std::to_string(set.expired),
          std::to_string(set.exhausted),
          coloured_summary(set)};
}

}  // namespace

TopPanel chunk_panel(const TopPicture& picture) {
  const auto& sets = picture.chunk_sets;
  TopPanel panel{
      .name = "chunks",
      .summary = sets.empty() ? "none at work" : counted(static_cast<std::int64_t>(sets.size()), "set") + " at work",
      .columns = {{"SET", Column::may_be_cut},
                  "DONE",
                  {"CHUNKS", Column::to_the_right},
                  {"RUNNING", Column::to_the_right},
                  {"LEFT", Column::to_the_right},
                  {"ROWS", Column::to_the_right},
                  {"ROWS/S", Column::to_the_right},
                  {"EXPIRED", Column::to_the_right},
                  {"EXHAUSTED", Column::to_the_right},
                  "STATE"},
      .rows = {}};
  for (const auto& set : sets) panel.rows.push_back(row_of(set));
  return panel;
}

}  // namespace leasehold::cli
