// The command tree in the form that help texts, completions and man pages need.
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

/// The group of the common options.
inline constexpr const char* common_group = "Common options";

/// One option or argument.
struct OptionText {
  std::vector<std::string> names;   ///< "-q", "--quiet"; for an argument its one name
  std::string value;                ///< "DURATION"; empty for a flag
  std::vector<std::string> values;  ///< the accepted words, if known
  std::string names_of;             ///< the kind of its names, if the store has them: "lock", "queue"
  std::string help;
  std::string variable;  ///< the environment variable that replaces it
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

  /// The notation of a DURATION; empty if no option takes one.
  [[nodiscard]] std::string duration_form() const;
};

CommandText describe(const CLI::App& app);

/// The root of `app`'s tree.
const CLI::App& root_of(const CLI::App& app);

/// The command that `words` lead to from the root; not_found with a guess if they lead nowhere.
Result<const CLI::App*> find_command(const CLI::App& root, const std::vector<std::string>& words);

/// Parents before their subcommands.
std::vector<CommandText> describe_all(const CLI::App& root);

}  // namespace leasehold::cli

// Explains a command line that could not be parsed: the problem, a guess, where to find help.
namespace leasehold::cli {

/// The last command recognized before the error.
const CLI::App& deepest_command(const CLI::App& root);

/// One line: "unknown option '--tl': did you mean --ttl? (see leasehold lock acquire --help)".
std::string explain(const CLI::App& root, const CLI::ParseError& error);

/// The same for a line that the parser has misread: it splits lists in brackets, drops ++, and takes the next word for
/// the missing value of --option=. Nothing if there is none of these.
std::optional<std::string> explain_misread(const CLI::App& root, const std::vector<std::string>& words);

}  // namespace leasehold::cli

// The --help page, the same for every command.
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

// One script per shell. All of them find the command by walking the words typed so far, then offer its subcommands,
// options, known values, and names from the store; after `--` they offer programs.
//
// Names come from a hidden command: `leasehold completion-names KIND`.
namespace leasehold::cli {

std::string bash_completion(const std::vector<CommandText>& commands);
std::string zsh_completion(const std::vector<CommandText>& commands);
std::string fish_completion(const std::vector<CommandText>& commands);

// What other tools, and leasehold before its release, call our commands and options (synonyms.cc).

/// Our word for `word`, if it is among `candidates`; else empty.
std::string synonym_of(std::string_view word, const std::vector<std::string>& candidates);

/// "leasehold item done" for "done" within "leasehold claim": a command of another group. Empty if there is none.
std::string command_elsewhere(std::string_view command, std::string_view word);

}  // namespace leasehold::cli
