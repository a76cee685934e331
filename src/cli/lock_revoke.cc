// leasehold lock revoke: an operator ends somebody's live lease.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct Options {
  std::string name;
  std::string reason;
  bool yes = false;
  bool dry_run = false;
};

int show_what_would_end(const Context& context, const Store& store, const Options& options) {
  auto lease = store.locks().show(options.name);
  if (!lease) return report(context, lease.error());
  if (context.json) {
    print_line(wire::to_json(*lease));
  } else if (lease->state == LeaseState::free) {
    say("{} is free: there is nothing to revoke", printable(options.name));
  } else {
    print("would revoke {}: {}", printable(options.name), describe_holder(*lease));
  }
  return lease->state == LeaseState::free ? exit_code::nothing_to_do : exit_code::ok;
}

int revoke(const Context& context, const Options& options) {
  if (!options.yes && !options.dry_run) return ask_for_yes(context, "revoke takes the lock from its holder");
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.dry_run) return show_what_would_end(context, *store, options);
  auto ended = store->locks().revoke(options.name, options.reason);
  if (!ended) return report(context, ended.error());
  if (context.json) {
    print_line(wire::to_json(*ended));
  } else {
    print("revoked {}  token {}  of {}", printable(ended->key), ended->token.value, printable(ended->holder.name));
  }
  return exit_code::ok;
}

}  // namespace

void add_lock_revoke(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "revoke",
                              "End a live lease from outside; its holder learns it at the next heartbeat",
                              {"leasehold lock revoke deploy --reason 'host is gone' --dry-run",
                               "leasehold lock revoke deploy --reason 'host is gone' --yes"});
  auto options = std::make_shared<Options>();
  add_lock_name(*command, options->name);
  command->add_option("--reason", options->reason, "Why; kept with the event")->required()->type_name("TEXT");
  command->add_flag("--yes", options->yes, "Do it");
  command->add_flag("--dry-run", options->dry_run, "Only tell what would be ended");
  set_action(*command, context, [&context, options] { return revoke(context, *options); });
}

}  // namespace leasehold::cli
