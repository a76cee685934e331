#include "cli/print/queue_table.h"

#include <algorithm>
#include <memory>

#include "base/time_text.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/job_text.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

using Count = std::int64_t QueueInfo::*;

/// A column of counts. The rarer ones appear only if a count is not zero, so that the rest fits a terminal.
struct CountColumn {
  const char* heading;
  Count count;
  bool rare;
  int importance;
};

constexpr CountColumn count_columns[] = {
    {"AVAILABLE", &QueueInfo::available, false, 2}, {"DEFERRED", &QueueInfo::deferred, false, 0},
    {"BLOCKED", &QueueInfo::blocked, true, 0},      {"RUNNING", &QueueInfo::running, false, 2},
    {"EXPIRED", &QueueInfo::expired, true, 0},      {"FAILED", &QueueInfo::failed, false, 1},
    {"LAPSED", &QueueInfo::lapsed, true, 0},        {"DONE/MIN", &QueueInfo::completed_last_minute, false, 0},
    {"WORKERS", &QueueInfo::workers, true, 0},
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

std::string shown_wait(const JobWait& wait, Timestamp now) {
  return printable(wait.text) + (wait.until ? ", until " + with_distance(*wait.until, now) : "");
}

std::string short_wait(const JobWait& wait) {
  switch (wait.reason) {
    case WaitReason::paused: return "paused";
    case WaitReason::at_capacity: return "at its limit";
    case WaitReason::rate_limited: return "rate spent";
    case WaitReason::group_full: return "group full";
    case WaitReason::blocked: return "waits for others";
    case WaitReason::not_due: return "not due";
    case WaitReason::timed_out: return "timed out";
    case WaitReason::recovering: return "to be taken over";
    case WaitReason::no_worker: return "no worker";
    case WaitReason::turn: break;
  }
  return {};
}

std::string shown_state(const QueueInfo& queue) {
  return queue.paused ? coloured(Tone::warning, "paused") : coloured(Tone::good, "active");
}

std::vector<std::string> table_of_queues(const std::vector<QueueInfo>& queues) {
  const auto counts = columns_for(queues);
  std::vector<Column> columns = {{"NAME", Column::may_be_cut}, {"STATE", Column::as_it_is, 3}};
  for (const auto& column : counts) columns.emplace_back(column.heading, Column::to_the_right, column.importance);
  columns.emplace_back("OLDEST");
  Table table(std::move(columns));
  for (const auto& queue : queues) {
    std::vector<std::string> row = {printable(queue.name), shown_state(queue)};
    for (const auto& column : counts) row.push_back(std::to_string(queue.*column.count));
    row.push_back(queue.oldest_at ? format_age(queue.store_now - *queue.oldest_at) : "-");
    table.add(std::move(row));
  }
  return table.lines();
}

// leasehold queue show: one queue, its settings and its state.
namespace {

void print_limits(const QueueInfo& queue) {
  if (queue.max_running > 0) print_field("max running", std::to_string(queue.max_running));
  if (queue.max_per_group > 0) print_field("max per group", std::to_string(queue.max_per_group));
  if (queue.rate_count > 0) print_field("rate", format_rate({.count = queue.rate_count, .period = queue.rate_period}));
  if (queue.default_ttl > Duration(0)) print_field("ttl", format_duration(queue.default_ttl));
  if (queue.timeout > Duration(0)) print_field("timeout", format_limit(queue.timeout) + " per attempt");
}

void print_fields(const QueueInfo& queue) {
  print_field("queue", printable(queue.name));
  const auto reason = queue.pause_reason.empty() ? "" : fmt::format("  ({})", printable(queue.pause_reason));
  print_field("state", shown_state(queue) + reason);
  print_limits(queue);
  print_field("available", std::to_string(queue.available));
  if (queue.oldest_at) print_field("oldest", with_distance(*queue.oldest_at, queue.store_now));
  print_field("deferred", std::to_string(queue.deferred));
  if (queue.next_due_at) print_field("next due", with_distance(*queue.next_due_at, queue.store_now));
  print_field("blocked", std::to_string(queue.blocked));
  print_field("running", std::to_string(queue.running));
  print_field("expired", std::to_string(queue.expired));
  print_field("failed", std::to_string(queue.failed));
  if (queue.lapsed > 0) print_field("lapsed", std::to_string(queue.lapsed));
  print_field("workers", std::to_string(queue.workers));
  if (queue.wait && queue.wait->reason != WaitReason::turn) {
    print_field("waits", shown_wait(*queue.wait, queue.store_now));
  }
  print_field("last minute",
              fmt::format("{} completed, {} failed attempts", queue.completed_last_minute, queue.failed_last_minute));
}

int show(const Context& context, const std::string& name) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return print_queue(context, store->queues().show(name));
}

}  // namespace

int print_queue(const Context& context, const Result<QueueInfo>& queue) {
  if (!queue) return report(context, queue.error());
  if (context.json) {
    print_line(model::to_json(*queue));
  } else {
    print_fields(*queue);
  }
  return exit_code::ok;
}

void add_queue_show(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "show", "Show a queue's limits, contents and speed (exit code 4: it does not exist)",
                  {"leasehold queue show mail", "leasehold queue show mail --json | jq .available"});
  auto name = std::make_shared<std::string>();
  add_queue_name(*command, *name);
  set_action(*command, context, [&context, name] { return show(context, *name); });
}

}  // namespace leasehold::cli
