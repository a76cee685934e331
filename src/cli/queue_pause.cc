// leasehold queue pause, leasehold queue resume: no claims, for a while.
#include <memory>

#include "cli/command.h"
#include "cli/job_options.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct QueuePauseOptions {
  std::string name;
  std::string reason;
};

int print_change(const Context& context, std::string_view what, const Result<QueueInfo>& queue) {
  if (!queue) return report(context, queue.error());
  if (context.json) {
    print_line(wire::to_json(*queue));
    return exit_code::ok;
  }
  print("{} {}", what, printable(queue->name));
  if (queue->paused && queue->running > 0) {
    say("still running: {}; `leasehold queue drain --running` waits for that", counted(queue->running, "job"));
  }
  return exit_code::ok;
}

int pause(const Context& context, const QueuePauseOptions& options) {
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  return print_change(context, "paused", store->queues().pause(options.name, options.reason));
}

int resume(const Context& context, const QueuePauseOptions& options) {
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  return print_change(context, "resumed", store->queues().resume(options.name));
}

}  // namespace

void add_queue_pause(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "pause", "Stop claims from a queue; what runs goes on, and jobs can still be added",
                  {"leasehold queue pause mail --reason 'provider is down'"});
  auto options = std::make_shared<QueuePauseOptions>();
  add_queue_name(*command, options->name);
  command->add_option("--reason", options->reason, "Why; told to whoever claims")->check(not_empty)->type_name("TEXT");
  set_action(*command, context, [&context, options] { return pause(context, *options); });
}

void add_queue_resume(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "resume", "Let claims from a paused queue go on", {"leasehold queue resume mail"});
  auto options = std::make_shared<QueuePauseOptions>();
  add_queue_name(*command, options->name);
  set_action(*command, context, [&context, options] { return resume(context, *options); });
}

}  // namespace leasehold::cli
