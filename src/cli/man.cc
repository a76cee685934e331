// leasehold man: manual pages, written from the command tree.
#include "cli/man.h"

#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"

namespace leasehold::cli {
namespace {

struct ManOptions {
  std::vector<std::string> command;
  std::string into;
};

int print_page(const Context& context, const CLI::App& root, const std::vector<std::string>& words) {
  const auto found = find_command(root, words);
  if (!found) return report(context, found.error());
  print_line(man_page(describe(**found)));
  return exit_code::ok;
}

int write_pages(const Context& context, const CLI::App& root, const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  for (const auto& command : describe_all(root)) {
    const auto file = folder / (command.joined('-') + ".1");
    std::ofstream out(file);
    out << man_page(command) << '\n';
    if (!out.flush()) {
      return report(context, {.code = Errc::denied, .message = "cannot write " + file.string()});
    }
  }
  return exit_code::ok;
}

}  // namespace

void add_man(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "man", "Print the manual page of a command, for man",
                              {"leasehold man lock run | man -l -", "leasehold man --into /usr/local/share/man/man1"});
  auto options = std::make_shared<ManOptions>();
  command->add_option("COMMAND", options->command, "Which command, e.g. lock run (default: leasehold itself)")
      ->type_name("");
  command->add_option("--into", options->into, "Write the pages of all commands into this folder")
      ->check(not_empty)
      ->type_name("FOLDER");
  set_action(*command, context, [command, &context, options] {
    const auto& root = root_of(*command);
    return options->into.empty() ? print_page(context, root, options->command)
                                 : write_pages(context, root, options->into);
  });
}

}  // namespace leasehold::cli
