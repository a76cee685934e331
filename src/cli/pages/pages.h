// The command tree as help texts, completions and man pages need it.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "leasehold/result.h"

namespace CLI {
class App;
}

namespace leasehold::cli {

/// The group of the options that every command has.
inline constexpr const char* common_group = "Common options";

/// One option or argument.
struct OptionText {
  std::vector<std::string> names;   ///< "-q", "--quiet"; for an argument its one name
  std::string value;                ///< "DURATION"; empty for a flag
  std::vector<std::string> values;  ///< the words it may be, if these are known
  std::string names_of;             ///< what it names, if the store knows the names: "lock", "queue"; see completion.h
  std::string help;
  std::string variable;  ///< the environment variable that stands in for it
  bool argument = false;
  bool required = false;
  bool repeated = false;
  bool common = false;  ///< every command has it
};

struct CommandText {
  std::vector<std::string> path;  ///< "leasehold", "lock", "acquire"
  std::string help;
  std::vector<OptionText> options;
  std::vector<std::string> examples;
  std::vector<std::string> commands;  ///< names of its subcommands
  std::vector<std::string> commands_help;

  /// "leasehold lock acquire", or with another separator.
  [[nodiscard]] std::string joined(char separator = ' ') const;

  /// How a DURATION is written; empty where no option takes one.
  [[nodiscard]] std::string duration_form() const;
};

CommandText describe(const CLI::App& app);

/// The root of the tree that `app` is in.
const CLI::App& root_of(const CLI::App& app);

/// The command that `words` lead to from the root; not_found with a guess where they lead nowhere.
Result<const CLI::App*> find_command(const CLI::App& root, const std::vector<std::string>& words);

/// Parents before their subcommands.
std::vector<CommandText> describe_all(const CLI::App& root);

}  // namespace leasehold::cli

// A command line that was not understood: what is wrong with it, what was meant, where help is.
namespace leasehold::cli {

/// The command that the line got to before it went wrong.
const CLI::App& deepest_command(const CLI::App& root);

/// One line: "unknown option '--tl': did you mean --ttl? (see leasehold lock acquire --help)".
std::string explain(const CLI::App& root, const CLI::ParseError& error);

/// The same for a line that the parser has understood otherwise than it was written: it takes lists in brackets apart,
/// drops ++, and takes the next word for the value that is missing behind --option=. Nothing where there is none of it.
std::optional<std::string> explain_misread(const CLI::App& root, const std::vector<std::string>& words);

}  // namespace leasehold::cli

// What --help prints, the same way for every command.
namespace CLI {
class App;
}

namespace leasehold::cli {

std::string help_page(const CLI::App& app);

}  // namespace leasehold::cli

// Manual pages in roff (man macros), one per command.
namespace leasehold::cli {

/// NAME, SYNOPSIS, DESCRIPTION, OPTIONS, EXAMPLES, EXIT STATUS, ENVIRONMENT, SEE ALSO.
std::string man_page(const CommandText& command);

}  // namespace leasehold::cli

// One script per shell. All of them find the command by walking the words typed so far, then offer its
// subcommands, options, known values, and names that are in the store; after `--` they offer programs.
//
// Names come from a command that help does not show: `leasehold completion-names KIND`.
namespace leasehold::cli {

std::string bash_completion(const std::vector<CommandText>& commands);
std::string zsh_completion(const std::vector<CommandText>& commands);
std::string fish_completion(const std::vector<CommandText>& commands);

}  // namespace leasehold::cli
