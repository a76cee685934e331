// leasehold grant: let a PostgreSQL role call leasehold's functions.
#include <map>
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct GrantOptions {
  std::string role;
  std::string scope;
};

Scope scope_of(const std::string& word) {
  static const std::map<std::string, Scope> scopes = {
      {"read", Scope::read}, {"work", Scope::work}, {"admin", Scope::admin}};
  return scopes.at(word);
}

int grant(const Context& context, const GrantOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto granted = store->grant(options.role, scope_of(options.scope));
  if (!granted) return report(context, granted.error());
  if (context.json) {
    print_line(wire::object({{"role", options.role}, {"scope", options.scope}}));
  } else {
    print("{} may call the functions of scope {} now", printable(options.role), options.scope);
  }
  return exit_code::ok;
}

}  // namespace

void add_grant(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "grant", "Let a PostgreSQL role call leasehold's functions; its tables stay closed",
                  {"leasehold grant app --scope work", "leasehold grant dashboard --scope read"});
  auto options = std::make_shared<GrantOptions>();
  command->add_option("ROLE", options->role, "The role")->required()->type_name("");
  add_choice(*command, "--scope", options->scope, {"read", "work", "admin"},
             "read: look; work: acquire, heartbeat, release, fence; admin: revoke and prune as well")
      ->required();
  set_action(*command, context, [&context, options] { return grant(context, *options); });
}

}  // namespace leasehold::cli
