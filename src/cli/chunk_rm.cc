// leasehold chunk rm: forget a set.
#include <memory>

#include "cli/chunk_options.h"
#include "cli/command.h"
#include "cli/consent.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
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
    print_line(wire::to_json(*set));
  } else if (held > 0) {
    say("being loaded: {} of {}; the set cannot be removed now", counted(held, "chunk"), printable(name));
  } else {
    print("would remove {} with {}, {} of them completed", printable(name), counted(set->total, "chunk"),
          set->completed);
  }
  return held > 0 ? exit_code::held : exit_code::ok;
}

int remove(const Context& context, const ChunkRmOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, "rm forgets the set, its cursors and what was loaded when");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.consent.dry_run) return show_what_would_go(context, *store, options.set);
  const auto removed = store->chunks().remove(options.set);
  if (!removed) return report(context, without_advice(removed.error()));
  if (context.json) {
    print_line(wire::object({{"set", options.set}, {"removed", true}, {"chunks", *removed}}));
  } else {
    print("removed {} with {}", printable(options.set), counted(*removed, "chunk"));
  }
  return exit_code::ok;
}

}  // namespace

void add_chunk_rm(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "rm", "Forget a set that nobody is loading, with all its chunks",
                              {"leasehold chunk rm orders --dry-run", "leasehold chunk rm orders --yes"});
  auto options = std::make_shared<ChunkRmOptions>();
  add_set_name(*command, options->set);
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return remove(context, *options); });
}

}  // namespace leasehold::cli
