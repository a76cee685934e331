// leasehold help: what --help says, for those who ask in words.
#include <memory>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/tree.h"

namespace leasehold::cli {

void add_help(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "help", "Show the help of a command", {"leasehold help", "leasehold help lock run"});
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words, "Which command, e.g. lock run (default: leasehold itself)")->type_name("");
  set_action(*command, context, [command, &context, words] {
    const auto found = find_command(root_of(*command), *words);
    if (!found) return report(context, found.error());
    print_line(help_page(**found));
    return exit_code::ok;
  });
}

}  // namespace leasehold::cli
