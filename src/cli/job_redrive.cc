// leasehold job redrive: all dead letters of a queue run again.
#include <memory>

#include "cli/command.h"
#include "cli/consent.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct JobRedriveOptions {
  std::string queue;
  bool all = false;
  Consent consent;
};

Result<std::int64_t> count_dead_letters(const Store& store, const JobRedriveOptions& options) {
  if (!options.all) {
    auto queue = store.queues().show(options.queue);
    if (!queue) return std::move(queue).error();
    return queue->failed;
  }
  auto queues = store.queues().list();
  if (!queues) return std::move(queues).error();
  std::int64_t total = 0;
  for (const auto& queue : *queues) total += queue.failed;
  return total;
}

int redrive(const Context& context, const JobRedriveOptions& options) {
  if (options.all == !options.queue.empty()) {
    return report(context, {.code = Errc::invalid_argument, .message = "name one queue, or write --all"});
  }
  if (!options.consent.given()) {
    return ask_for_yes(context, "redrive runs every dead letter again");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto count =
      options.consent.dry_run ? count_dead_letters(*store, options) : store->jobs().redrive(options.queue);
  if (!count) return report(context, count.error());
  if (context.json) {
    print_line(wire::object({{options.consent.dry_run ? "failed" : "redriven", *count}}));
  } else {
    print("{} {}", options.consent.dry_run ? "would redrive" : "redrove", counted(*count, "job"));
  }
  return exit_code::ok;
}

}  // namespace

void add_job_redrive(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "redrive", "Make every dead letter of a queue available again, with fresh budgets",
                  {"leasehold job redrive mail --dry-run", "leasehold job redrive --all --yes"});
  auto options = std::make_shared<JobRedriveOptions>();
  command->add_option("QUEUE", options->queue, "Whose dead letters")->type_name("");
  command->add_flag("--all", options->all, "Those of every queue");
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return redrive(context, *options); });
}

}  // namespace leasehold::cli
