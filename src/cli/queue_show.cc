// leasehold queue show: one queue, its limits and its state.
#include "cli/queue_show.h"

#include <memory>

#include "cli/command.h"
#include "cli/job_options.h"
#include "cli/print.h"
#include "cli/queue_table.h"
#include "cli/report.h"
#include "core/duration.h"
#include "core/job_text.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

void print_limits(const QueueInfo& queue) {
  if (queue.max_running > 0) print_field("max running", std::to_string(queue.max_running));
  if (queue.max_per_key > 0) print_field("max per key", std::to_string(queue.max_per_key));
  if (queue.rate_count > 0) print_field("rate", format_rate({.count = queue.rate_count, .period = queue.rate_period}));
  if (queue.default_ttl > Duration(0)) print_field("ttl", format_duration(queue.default_ttl));
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
    print_line(wire::to_json(*queue));
  } else {
    print_fields(*queue);
  }
  return exit_code::ok;
}

void add_queue_show(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "show",
                  "Tell a queue's limits, what is in it and how fast it goes (exit code 4: never heard of it)",
                  {"leasehold queue show mail", "leasehold queue show mail --json | jq .available"});
  auto name = std::make_shared<std::string>();
  add_queue_name(*command, *name);
  set_action(*command, context, [&context, name] { return show(context, *name); });
}

}  // namespace leasehold::cli
