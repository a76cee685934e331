// The panel of queues.
#include <fmt/format.h>

#include <numeric>

#include "cli/print.h"
#include "cli/queue_table.h"
#include "cli/top_panel.h"
#include "core/duration.h"

namespace leasehold::cli {
namespace {

std::size_t total(const std::vector<QueueInfo>& queues, std::int64_t QueueInfo::*count) {
  const auto add = [&](std::int64_t sum, const QueueInfo& queue) { return sum + queue.*count; };
  return static_cast<std::size_t>(std::accumulate(queues.begin(), queues.end(), std::int64_t{0}, add));
}

/// A number that should be 0 stands out when it is not.
std::string alarming(Tone tone, std::int64_t count) { return count == 0 ? "0" : coloured(tone, std::to_string(count)); }

std::vector<std::string> row_of(const QueueInfo& queue) {
  return {short_text(queue.name),
          std::to_string(queue.available),
          std::to_string(queue.running),
          alarming(Tone::bad, queue.failed),
          std::to_string(queue.deferred),
          std::to_string(queue.completed_last_minute),
          shown_state(queue),
          alarming(Tone::warning, queue.expired),
          std::to_string(queue.blocked),
          queue.oldest_at ? format_age(queue.store_now - *queue.oldest_at) : "-"};
}

}  // namespace

TopPanel queue_panel(const TopPicture& picture) {
  const auto& queues = picture.queues;
  TopPanel panel{.name = "queues",
                 .summary = summary_of({{total(queues, &QueueInfo::available), "available"},
                                        {total(queues, &QueueInfo::running), coloured(JobState::running)},
                                        {total(queues, &QueueInfo::expired), coloured(JobState::expired)},
                                        {total(queues, &QueueInfo::failed), coloured(JobState::failed)}},
                                       0),
                 .columns = {{"QUEUE", Column::may_be_cut},
                             {"AVAILABLE", Column::to_the_right},
                             {"RUNNING", Column::to_the_right},
                             {"FAILED", Column::to_the_right},
                             {"DEFERRED", Column::to_the_right},
                             {"DONE/MIN", Column::to_the_right},
                             "STATE",
                             {"EXPIRED", Column::to_the_right},
                             {"BLOCKED", Column::to_the_right},
                             "OLDEST"},
                 .rows = {}};
  if (!queues.empty() && panel.summary == "none") panel.summary = "nothing to do";
  for (const auto& queue : queues) panel.rows.push_back(row_of(queue));
  return panel;
}

}  // namespace leasehold::cli
