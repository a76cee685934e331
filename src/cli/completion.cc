// leasehold completion: scripts for bash, zsh and fish, written from the command tree.
#include "cli/completion.h"

#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/tree.h"

namespace leasehold::cli {
namespace {

int print_script(const CLI::App& root, const std::string& shell) {
  const auto commands = describe_all(root);
  print_line(shell == "bash"  ? bash_completion(commands)
             : shell == "zsh" ? zsh_completion(commands)
                              : fish_completion(commands));
  return exit_code::ok;
}

}  // namespace

void add_completion(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "completion", "Print a completion script for your shell",
                              {"source <(leasehold completion bash)", "leasehold completion zsh > ~/.zfunc/_leasehold",
                               "leasehold completion fish > ~/.config/fish/completions/leasehold.fish"});
  auto shell = std::make_shared<std::string>();
  add_choice(*command, "SHELL", *shell, {"bash", "zsh", "fish"}, "bash, zsh or fish")->required();
  set_action(*command, context, [command, shell] { return print_script(root_of(*command), *shell); });
}

}  // namespace leasehold::cli
