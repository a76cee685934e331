// The command tree.
#include "cli/command.h"
#include "cli/help.h"
#include "cli/tree.h"

namespace leasehold::cli {
namespace {

using Add = void (*)(CLI::App&, Context&);

constexpr Add lock_commands[] = {add_lock_acquire, add_lock_heartbeat, add_lock_release, add_lock_run,
                                 add_lock_show,    add_lock_ls,        add_lock_revoke};
constexpr Add migrate_commands[] = {add_migrate_up, add_migrate_down, add_migrate_status, add_migrate_verify,
                                    add_migrate_plan};
constexpr Add look_commands[] = {add_events, add_status, add_doctor};
constexpr Add other_commands[] = {add_prune, add_grant, add_demo, add_completion, add_man};

}  // namespace

void add_all_commands(CLI::App& root, Context& context) {
  root.require_subcommand(1);
  // Subcommands inherit it, so it comes first.
  root.formatter_fn([](const CLI::App* app, std::string, CLI::AppFormatMode) { return help_page(*app); });
  add_common_options(root, context);
  root.set_version_flag("--version", std::string("leasehold ") + LEASEHOLD_VERSION, "Show the version")
      ->group(common_group);
  root.footer(
      "EXAMPLES\n"
      "  leasehold lock run deploy -- ./deploy.sh     # nobody else deploys meanwhile\n"
      "  leasehold lock ls\n"
      "  leasehold demo\n"
      "\n"
      "Exit codes: 0 ok, 1 failure, 2 usage, 3 nothing to do, 4 not found, 69 store unreachable,\n"
      "75 held or wait ran out, 76 lease lost. `man leasehold` or `leasehold man` tells more.");

  auto* lock = add_group(root, "lock", "Take, keep, give up and look at named locks",
                         {"leasehold lock run deploy --wait 1m -- ./deploy.sh", "leasehold lock show deploy"});
  for (const auto add : lock_commands) add(*lock, context);
  for (const auto add : look_commands) add(root, context);
  auto* migrate = add_group(root, "migrate", "Look at and change the schema's version",
                            {"leasehold migrate up", "leasehold migrate verify"});
  for (const auto add : migrate_commands) add(*migrate, context);
  for (const auto add : other_commands) add(root, context);
}

}  // namespace leasehold::cli
