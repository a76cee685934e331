#include "cli/queue_table.h"

#include <algorithm>

#include "cli/print.h"
#include "cli/table.h"
#include "core/duration.h"

namespace leasehold::cli {
namespace {

using Count = std::int64_t QueueInfo::*;

/// A column of counts. The rarer ones are only there when there is something to count, so that the rest fits a
/// terminal.
struct CountColumn {
  const char* heading;
  Count count;
  bool rare;
};

constexpr CountColumn count_columns[] = {
    {"AVAILABLE", &QueueInfo::available, false},
    {"DEFERRED", &QueueInfo::deferred, false},
    {"BLOCKED", &QueueInfo::blocked, true},
    {"RUNNING", &QueueInfo::running, false},
    {"EXPIRED", &QueueInfo::expired, true},
    {"FAILED", &QueueInfo::failed, false},
    {"DONE/MIN", &QueueInfo::completed_last_minute, false},
};

std::vector<CountColumn> columns_for(const std::vector<QueueInfo>& queues) {
  std::vector<CountColumn> wanted;
  for (const auto& column : count_columns) {
    const auto counts = [&](const QueueInfo& queue) { return queue.*column.count > 0; };
    if (!column.rare || std::any_of(queues.begin(), queues.end(), counts)) wanted.push_back(column);
  }
  return wanted;
}

}  // namespace

std::string shown_state(const QueueInfo& queue) {
  return queue.paused ? coloured(Tone::warning, "paused") : coloured(Tone::good, "active");
}

void print_queues(const std::vector<QueueInfo>& queues) {
  const auto counts = columns_for(queues);
  std::vector<Column> columns = {{"NAME", Column::may_be_cut}, "STATE"};
  for (const auto& column : counts) columns.emplace_back(column.heading, Column::to_the_right);
  columns.emplace_back("OLDEST");
  Table table(std::move(columns));
  for (const auto& queue : queues) {
    std::vector<std::string> row = {printable(queue.name), shown_state(queue)};
    for (const auto& column : counts) row.push_back(std::to_string(queue.*column.count));
    row.push_back(queue.oldest_at ? format_age(queue.store_now - *queue.oldest_at) : "-");
    table.add(std::move(row));
  }
  table.print();
}

}  // namespace leasehold::cli
