// leasehold chunk set, rm.
#include <memory>

#include "act/confirmations.h"
#include "base/time_text.h"
#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/print/chunk_text.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold chunk set: budgets, backoff and ttl of a set.
namespace {

struct ChunkSetOptions {
  std::string set;
  ChunkSetSettings settings;
};

bool says_something(const ChunkSetSettings& settings) {
  return settings.max_failures || settings.max_crashes || settings.backoff_base || settings.default_ttl;
}

void print_settings(const ChunkSetInfo& set) {
  print_field("set", printable(set.name));
  print_field("state", coloured_summary(set));
  print_field("failures", fmt::format("at most {}", set.max_failures));
  print_field("crashes", fmt::format("at most {}", set.max_crashes));
  print_field("backoff", fmt::format("{}..{}", format_duration(set.backoff_base), format_duration(set.backoff_max)));
  print_field("ttl", format_duration(set.default_ttl));
}

int change_settings(const Context& context, const ChunkSetOptions& options) {
  if (!says_something(options.settings)) {
    return report(context, {.code = Errc::invalid_argument,
                            .message = "nothing to set: use --max-failures, --max-crashes, --backoff or --ttl"});
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto chunks = store->chunks();
  if (const auto changed = chunks.set(options.set, options.settings); !changed) return report(context, changed.error());
  const auto set = chunks.progress(options.set);
  if (!set) return report(context, set.error());
  if (context.json) {
    print_line(model::to_json(*set));
  } else {
    print_settings(*set);
  }
  return exit_code::ok;
}

}  // namespace

void add_chunk_set(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "set", "Change a set's budgets, backoff and ttl; other settings stay",
      {"leasehold chunk set orders --max-failures 10 --backoff 5s..5m", "leasehold chunk set orders --ttl 30s"});
  auto options = std::make_shared<ChunkSetOptions>();
  add_set_name(*command, options->set);
  add_set_settings(*command, options->settings);
  set_action(*command, context, [&context, options] { return change_settings(context, *options); });
}

// leasehold chunk rm: remove a set.
namespace {

struct ChunkRmOptions {
  std::string set;
  Consent consent;
};

int show_what_would_go(const Context& context, const Store& store, const std::string& name) {
  const auto set = store.chunks().progress(name);
  if (!set) return report(context, without_advice(set.error()));
  const auto held = set->running + set->expired;
  if (context.json) {
    print_line(model::to_json(*set));
  } else if (held > 0) {
    say("cannot remove the set now: loaders hold {} of {}", counted(held, "chunk"), printable(name));
  } else {
    print("would remove {} with {}, {} of them completed", printable(name), counted(set->total, "chunk"),
          set->completed);
  }
  return held > 0 ? exit_code::held : exit_code::ok;
}

int remove(const Context& context, const ChunkRmOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, "rm removes the set, its cursors and its history");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.consent.dry_run) return show_what_would_go(context, *store, options.set);
  const auto removed = store->chunks().remove(options.set);
  if (!removed) return report(context, without_advice(removed.error()));
  if (context.json) {
    print_line(model::to_json(act::ChunkSetRemoved{options.set, *removed}));
  } else {
    print("removed {} with {}", printable(options.set), counted(*removed, "chunk"));
  }
  return exit_code::ok;
}

}  // namespace

void add_chunk_rm(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "rm", "Remove a set with all its chunks, if none is held",
                              {"leasehold chunk rm orders --dry-run", "leasehold chunk rm orders --yes"});
  auto options = std::make_shared<ChunkRmOptions>();
  add_set_name(*command, options->set);
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return remove(context, *options); });
}

}  // namespace leasehold::cli
