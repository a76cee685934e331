// The panels of leases, queues and chunk sets, and what all panels share.
#include <fmt/format.h>
#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/time_text.h"
#include "cli/print/chunk_text.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/queue_table.h"
#include "cli/print/session_text.h"
#include "cli/top/panel.h"

namespace leasehold::cli {

std::vector<TopPanel> panels_of(const TopPicture& picture) {
  return {lease_panel(picture),   queue_panel(picture),    chunk_panel(picture),
          session_panel(picture), schedule_panel(picture), event_panel(picture)};
}

std::vector<std::string> table_lines(const TopPanel& panel, RowRange range, std::optional<std::size_t> columns) {
  Table table(panel.columns);
  for (const auto& row : panel.rows) table.add(row);
  return table.lines(columns, range);
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

// The panels of leases, queues and chunk sets.

// The panel of everything that is held.
namespace {

std::vector<std::string> row_of(const LeaseInfo& lease) {
  const bool expired = lease.state == LeaseState::expired;
  return {lease.kind,
          short_text(lease.key),
          coloured(lease.state),
          expired ? "now" : "in " + format_duration(lease.retry_in()),
          short_text(lease.holder.name),
          format_age(lease.heartbeat_age()),
          short_text(lease.holder.host)};
}

/// Expired leases come first. Within that, the order does not change with every heartbeat, so that the eye can follow a
/// row.
std::vector<LeaseInfo> in_order(std::vector<LeaseInfo> leases) {
  const auto place = [](const LeaseInfo& lease) {
    return std::tuple(lease.state != LeaseState::expired, std::string_view(lease.kind), std::string_view(lease.key),
                      lease.token);
  };
  std::sort(leases.begin(), leases.end(), [&](const LeaseInfo& a, const LeaseInfo& b) { return place(a) < place(b); });
  return leases;
}

}  // namespace

TopPanel lease_panel(const TopPicture& picture) {
  const auto is_expired = [](const LeaseInfo& lease) { return lease.state == LeaseState::expired; };
  const auto& leases = picture.leases;
  const auto expired = static_cast<std::size_t>(std::count_if(leases.begin(), leases.end(), is_expired));
  TopPanel panel{.name = "leases",
                 .summary = summary_of({{leases.size() - expired, "held"}, {expired, coloured(LeaseState::expired)}},
                                       leases.size()),
                 .columns = {"KIND",
                             {"KEY", Column::may_be_cut},
                             "STATE",
                             "FREES",
                             {"HOLDER", Column::may_be_cut},
                             "HEARTBEAT",
                             {"HOST", Column::may_be_cut}},
                 .rows = {}};
  for (const auto& lease : in_order(leases)) panel.rows.push_back(row_of(lease));
  return panel;
}

// The panel of queues.
namespace {

std::size_t total(const std::vector<QueueInfo>& queues, std::int64_t QueueInfo::*count) {
  const auto add = [&](std::int64_t sum, const QueueInfo& queue) { return sum + queue.*count; };
  return static_cast<std::size_t>(std::accumulate(queues.begin(), queues.end(), std::int64_t{0}, add));
}

/// A number that should be 0 stands out if it is not.
std::string alarming(Tone tone, std::int64_t count) { return count == 0 ? "0" : coloured(tone, std::to_string(count)); }

/// Why its oldest job waits, if that is more than its turn.
std::string state_or_wait(const QueueInfo& queue) {
  const auto why = queue.wait ? short_wait(*queue.wait) : "";
  return queue.paused || why.empty() ? shown_state(queue) : coloured(Tone::warning, why);
}

std::vector<std::string> row_of(const QueueInfo& queue) {
  return {short_text(queue.name),         std::to_string(queue.available),
          std::to_string(queue.running),  alarming(Tone::bad, queue.failed),
          std::to_string(queue.deferred), std::to_string(queue.completed_last_minute),
          state_or_wait(queue),           alarming(Tone::warning, queue.expired),
          std::to_string(queue.blocked),  queue.oldest_at ? format_age(queue.store_now - *queue.oldest_at) : "-",
          std::to_string(queue.workers)};
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
                             "OLDEST",
                             {"WORKERS", Column::to_the_right}},
                 .rows = {}};
  if (!queues.empty() && panel.summary == "none") panel.summary = "idle";
  for (const auto& queue : queues) panel.rows.push_back(row_of(queue));
  return panel;
}

// The panel of chunk sets that are not final yet.
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
