// leasehold completion: scripts for bash, zsh and fish, generated from the command tree; and the names they offer.
#include <memory>

#include "cli/command.h"
#include "cli/pages/pages.h"
#include "cli/print/print.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

/// Users neither wait longer for a completion nor read more of them.
constexpr Duration names_patience = std::chrono::seconds(1);
constexpr int most_names = 200;

int print_script(const Context& context, const CLI::App& root, const std::string& shell) {
  const auto commands = describe_all(root);
  const auto script = shell == "bash"  ? bash_completion(commands)
                      : shell == "zsh" ? zsh_completion(commands)
                                       : fish_completion(commands);
  print_line(context.json ? model::json_object({{"script", script}}) : script);
  return exit_code::ok;
}

template <typename Things, typename Name>
std::vector<std::string> names_in(const Result<Things>& things, Name name) {
  std::vector<std::string> names;
  if (!things) return names;
  for (const auto& thing : *things) names.push_back(thing.*name);
  return names;
}

std::vector<std::string> names_of(const Store& store, std::string_view kind) {
  if (kind == "lock") return names_in(store.locks().list({.max = most_names}), &LockInfo::key);
  if (kind == "queue") return names_in(store.queues().list(), &QueueInfo::name);
  if (kind == "set") return names_in(store.chunks().sets(), &ChunkSetInfo::name);
  if (kind == "schedule") return names_in(store.schedules().list({.max = most_names}), &ScheduleInfo::name);
  if (kind == "rate") return names_in(store.rates().list(), &RateInfo::name);
  if (kind == "session") return names_in(store.sessions().list({.max = most_names}), &SessionInfo::id);
  return names_in(store.items().list({.max = most_names}), &ItemInfo::key);
}

/// Prints nothing if the store is missing or unreachable: the user is in the middle of a command line.
int print_names(const Context& context, std::string_view kind) {
  const auto store = context.open_store({.migrate = MigrateOnOpen::no, .call_timeout = names_patience});
  if (!store) return exit_code::ok;
  for (const auto& name : names_of(*store, kind)) {
    // Names with terminal control characters do not go into a command line.
    if (printable(name) == name) print_line(name);
  }
  return exit_code::ok;
}

/// Hidden from help.
void add_completion_names(CLI::App& parent, Context& context) {
  auto* command = parent.add_subcommand("completion-names", "Names for completion scripts")->group("");
  command->fallthrough(false);
  add_common_options(*command, context);
  auto kind = std::make_shared<std::string>();
  add_choice(*command, "KIND", *kind, {"lock", "queue", "set", "schedule", "rate", "session", "item"}, "Kind of name")
      ->required();
  set_action(*command, context, [&context, kind] { return print_names(context, *kind); });
}

}  // namespace

void add_completion(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "completion", "Print a completion script for your shell",
                              {"source <(leasehold completion bash)", "leasehold completion zsh > ~/.zfunc/_leasehold",
                               "leasehold completion fish > ~/.config/fish/completions/leasehold.fish"});
  auto shell = std::make_shared<std::string>();
  add_choice(*command, "SHELL", *shell, {"bash", "zsh", "fish"}, "bash, zsh or fish")->required();
  set_action(*command, context,
             [&context, command, shell] { return print_script(context, root_of(*command), *shell); });
  add_completion_names(parent, context);
}

}  // namespace leasehold::cli
