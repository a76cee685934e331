// leasehold chunk set: budgets, backoff and ttl of a set.
#include <memory>

#include "cli/chunk_options.h"
#include "cli/chunk_text.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ChunkSetOptions {
  std::string set;
  ChunkSetSettings settings;
};

bool says_something(const ChunkSetSettings& settings) {
  return settings.failure_budget || settings.crash_budget || settings.backoff_base || settings.default_ttl;
}

void print_settings(const ChunkSetInfo& set) {
  print_field("set", printable(set.name));
  print_field("state", coloured_summary(set));
  print_field("tries", std::to_string(set.failure_budget));
  print_field("crashes", std::to_string(set.crash_budget));
  print_field("backoff", fmt::format("{}..{}", format_duration(set.backoff_base), format_duration(set.backoff_most)));
  print_field("ttl", format_duration(set.default_ttl));
}

int configure(const Context& context, const ChunkSetOptions& options) {
  if (!says_something(options.settings)) {
    return report(context, {.code = Errc::invalid_argument,
                            .message = "nothing to set: use --tries, --crashes, --backoff or --ttl"});
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto chunks = store->chunks();
  if (const auto told = chunks.configure(options.set, options.settings); !told) return report(context, told.error());
  const auto set = chunks.progress(options.set);
  if (!set) return report(context, set.error());
  if (context.json) {
    print_line(wire::to_json(*set));
  } else {
    print_settings(*set);
  }
  return exit_code::ok;
}

}  // namespace

void add_chunk_set(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "set", "Change a set's budgets, backoff and ttl; what is not named stays as it is",
                  {"leasehold chunk set orders --tries 10 --backoff 5s..5m", "leasehold chunk set orders --ttl 30s"});
  auto options = std::make_shared<ChunkSetOptions>();
  add_set_name(*command, options->set);
  add_set_settings(*command, options->settings);
  set_action(*command, context, [&context, options] { return configure(context, *options); });
}

}  // namespace leasehold::cli
