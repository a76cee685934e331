// leasehold queue set, pause, resume, purge.
#include <memory>

#include "base/time_text.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/queue_table.h"
#include "cli/print/report.h"
#include "model/job_text.h"
#include "wire/wire.h"

namespace leasehold::cli {

// leasehold queue set: limits, rate and default ttl of a queue.
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

void take_ttl(QueueSettings& settings, const std::string& text) {
  if (text == "none") {
    settings.default_ttl = Duration(0);
    return;
  }
  const auto ttl = parse_duration(text);
  if (!ttl) throw CLI::ValidationError("--ttl", ttl.error().message);
  if (*ttl == Duration(0)) throw CLI::ValidationError("--ttl", "no lease lasts 0s: write none to take it away");
  settings.default_ttl = *ttl;
}

bool says_something(const QueueSettings& settings) {
  return settings.max_running || settings.max_per_key || settings.rate_count || settings.default_ttl;
}

int set(const Context& context, const QueueSetOptions& options) {
  if (!says_something(options.settings)) {
    return report(context, {.code = Errc::invalid_argument,
                            .message = "nothing to set: use --max-running, --max-per-key, --rate or --ttl"});
  }
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  return print_queue(context, store->queues().set(options.name, options.settings));
}

}  // namespace

void add_queue_set(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "set", "Limit a queue; what is not named stays as it is",
                  {"leasehold queue set merge --max-running 1    # a serial processor",
                   "leasehold queue set api --max-per-key 2 --rate 100/1m", "leasehold queue set api --rate none"});
  auto options = std::make_shared<QueueSetOptions>();
  auto& settings = options->settings;
  add_queue_name(*command, options->name);
  add_limit(*command, "--max-running", settings.max_running, "So many jobs run at once; or none");
  add_limit(*command, "--max-per-key", settings.max_per_key, "The same for jobs of one limit key; or none");
  command
      ->add_option_function<std::string>(
          "--rate", [&settings](const std::string& text) { take_rate(settings, text); },
          "So many claims in so much time, such as 100/1m; or none")
      ->type_name("N/DURATION");
  command
      ->add_option_function<std::string>(
          "--ttl", [&settings](const std::string& text) { take_ttl(settings, text); },
          "How long a claim's lease lasts where it does not say; or none")
      ->type_name("DURATION");
  set_action(*command, context, [&context, options] { return set(context, *options); });
}

// leasehold queue pause, leasehold queue resume: no claims, for a while.
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

// leasehold queue purge: cancel everything that waits.
namespace {

struct QueuePurgeOptions {
  std::string name;
  Consent consent;
};

int show_what_would_go(const Context& context, const Store& store, const std::string& name) {
  const auto queue = store.queues().show(name);
  if (!queue) return report(context, queue.error());
  if (context.json) {
    print_line(wire::to_json(*queue));
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
  // Also for the sake of a mistyped name: purging what is not there would look like a success.
  if (options.consent.dry_run) return show_what_would_go(context, *store, options.name);
  if (auto known = store->queues().show(options.name); !known) return report(context, known.error());
  const auto purged = store->queues().purge(options.name);
  if (!purged) return report(context, purged.error());
  if (context.json) {
    print_line(wire::object({{"purged", *purged}}));
  } else {
    print("purged {}: cancelled {}", printable(options.name), counted(*purged, "job"));
  }
  return exit_code::ok;
}

}  // namespace

void add_queue_purge(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "purge",
                              "Cancel every job that waits in a queue; what runs goes on, and `job retry` undoes it",
                              {"leasehold queue purge mail --dry-run", "leasehold queue purge mail --yes"});
  auto options = std::make_shared<QueuePurgeOptions>();
  add_queue_name(*command, options->name);
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return purge(context, *options); });
}

}  // namespace leasehold::cli
