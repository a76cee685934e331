// leasehold queue set: limits, rate and default ttl of a queue.
#include <memory>

#include "cli/command.h"
#include "cli/job_options.h"
#include "cli/queue_show.h"
#include "cli/report.h"
#include "core/duration.h"
#include "core/job_text.h"

namespace leasehold::cli {
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

}  // namespace leasehold::cli
