// The command tree as help texts, completions and man pages need it.
#pragma once

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
