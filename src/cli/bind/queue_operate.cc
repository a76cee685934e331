// leasehold queue set, pause, resume, purge.
#include <memory>

#include "act/confirmations.h"
#include "base/time_text.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/queue_table.h"
#include "cli/print/report.h"
#include "model/job_text.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold queue set: bounds, rate and default ttl of a queue.
namespace {

struct QueueSetOptions {
  std::string name;
  QueueSettings settings;
};

void take_rate(QueueSettings& settings, const std::string& text) {
  Rate rate;
  if (text != "none") {
    const auto parsed = parse_rate(text);
    if (!parsed) throw CLI::ValidationError("--rate", parsed.error().message);
    rate = *parsed;
  }
  settings.rate_count = rate.count;
  settings.rate_period = rate.period;
}

Duration duration_or_none(const std::string& option, const std::string& text) {
  if (text == "none") return Duration(0);
  const auto span = parse_duration(text);
  if (!span) throw CLI::ValidationError(option, span.error().message);
  if (*span == Duration(0)) throw CLI::ValidationError(option, "0s is too short: write none to remove it");
  return *span;
}

bool says_something(const QueueSettings& settings) {
  return settings.max_running || settings.max_per_group || settings.rate_count || settings.default_ttl ||
         settings.timeout;
}

int set(const Context& context, const QueueSetOptions& options) {
  if (!says_something(options.settings)) {
    return report(context,
                  {.code = Errc::invalid_argument,
                   .message = "nothing to set: use --max-running, --max-per-group, --rate, --ttl or --timeout"});
  }
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  return print_queue(context, store->queues().set(options.name, options.settings));
}

}  // namespace

void add_queue_set(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "set", "Set the limits of a queue; other limits stay",
                  {"leasehold queue set merge --max-running 1    # one job at a time",
                   "leasehold queue set api --max-per-group 2 --rate 100/1m", "leasehold queue set api --rate none"});
  auto options = std::make_shared<QueueSetOptions>();
  auto& settings = options->settings;
  add_queue_name(*command, options->name);
  add_max(*command, "--max-running", settings.max_running, "At most N running jobs; or none");
  add_max(*command, "--max-per-group", settings.max_per_group, "At most N running jobs per group; or none");
  command
      ->add_option_function<std::string>(
          "--rate", [&settings](const std::string& text) { take_rate(settings, text); },
          "At most N claims per DURATION, such as 100/1m; or none")
      ->type_name("N/DURATION");
  command
      ->add_option_function<std::string>(
          "--ttl", [&settings](const std::string& text) { settings.default_ttl = duration_or_none("--ttl", text); },
          "Default ttl of claims; or none")
      ->type_name("DURATION");
  command
      ->add_option_function<std::string>(
          "--timeout", [&settings](const std::string& text) { settings.timeout = duration_or_none("--timeout", text); },
          "Fail an attempt that takes longer, for jobs without a --timeout of their own; `work` sends SIGTERM earlier "
          "by its "
          "grace (at most a third of the limit); or none")
      ->type_name("DURATION");
  set_action(*command, context, [&context, options] { return set(context, *options); });
}

// leasehold queue pause, leasehold queue resume: stop claims for a while.
namespace {

struct QueuePauseOptions {
  std::string name;
  std::string reason;
};

int print_change(const Context& context, std::string_view what, const Result<QueueInfo>& queue) {
  if (!queue) return report(context, queue.error());
  if (context.json) {
    print_line(model::to_json(*queue));
    return exit_code::ok;
  }
  print("{} {}", what, printable(queue->name));
  if (queue->paused && queue->running > 0) {
    say("still running: {}; `leasehold queue drain --running` waits for them", counted(queue->running, "job"));
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
      add_command(parent, context, "pause", "Pause claims from a queue; running jobs continue, and jobs can be added",
                  {"leasehold queue pause mail --reason 'provider is down'"});
  auto options = std::make_shared<QueuePauseOptions>();
  add_queue_name(*command, options->name);
  command->add_option("--reason", options->reason, "Reason; shown to callers that claim")
      ->check(not_empty)
      ->type_name("TEXT");
  set_action(*command, context, [&context, options] { return pause(context, *options); });
}

void add_queue_resume(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "resume", "Resume claims from a paused queue", {"leasehold queue resume mail"});
  auto options = std::make_shared<QueuePauseOptions>();
  add_queue_name(*command, options->name);
  set_action(*command, context, [&context, options] { return resume(context, *options); });
}

// leasehold queue purge: cancel all waiting jobs.
namespace {

struct QueuePurgeOptions {
  std::string name;
  Consent consent;
};

int show_what_would_go(const Context& context, const Store& store, const std::string& name) {
  const auto queue = store.queues().show(name);
  if (!queue) return report(context, queue.error());
  if (context.json) {
    print_line(model::to_json(*queue));
  } else {
    print("would cancel {} of {}: {} available, {} deferred, {} blocked",
          counted(queue->available + queue->deferred + queue->blocked, "job"), printable(name), queue->available,
          queue->deferred, queue->blocked);
  }
  return exit_code::ok;
}

int purge(const Context& context, const QueuePurgeOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, "purge cancels every job that waits in the queue");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  // Also detects a mistyped name: purging a missing queue would look like a success.
  if (options.consent.dry_run) return show_what_would_go(context, *store, options.name);
  if (auto known = store->queues().show(options.name); !known) return report(context, known.error());
  const auto purged = store->queues().purge(options.name);
  if (!purged) return report(context, purged.error());
  if (context.json) {
    print_line(model::to_json(act::QueuePurged{options.name, *purged}));
  } else {
    print("purged {}: cancelled {}", printable(options.name), counted(*purged, "job"));
  }
  return exit_code::ok;
}

}  // namespace

void add_queue_purge(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "purge",
                              "Cancel every waiting job of a queue; running jobs continue, and `job retry` undoes it",
                              {"leasehold queue purge mail --dry-run", "leasehold queue purge mail --yes"});
  auto options = std::make_shared<QueuePurgeOptions>();
  add_queue_name(*command, options->name);
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return purge(context, *options); });
}

}  // namespace leasehold::cli
