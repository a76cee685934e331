#include "cli/usage.h"

#include <fmt/format.h>

#include <cctype>

#include "base/text.h"
#include "cli/tree.h"
#include "core/suggest.h"

namespace leasehold::cli {
namespace {

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const auto meant = nearest(word, candidates);
  return meant.empty() ? "" : fmt::format(": did you mean {}?", meant);
}

/// Words to guess from. A single letter is as near to any other: no guess.
std::vector<std::string> long_options(const CommandText& command) {
  std::vector<std::string> names;
  for (const auto& option : command.options) {
    for (const auto& name : option.names) {
      if (name.starts_with("--")) names.push_back(name);
    }
  }
  return names;
}

std::string explain_leftover(const CommandText& command, const std::string& word) {
  if (word.size() > 1 && word.starts_with('-')) {
    const auto name = word.substr(0, word.find('='));
    return fmt::format("unknown option {}{}", leasehold::quoted(name), did_you_mean(name, long_options(command)));
  }
  if (command.commands.empty()) return fmt::format("unexpected argument {}", leasehold::quoted(word));
  return fmt::format("unknown command {}{}", leasehold::quoted(word), did_you_mean(word, command.commands));
}

/// Our messages begin in lower case and have no line breaks; CLI11's do not and have.
std::string in_our_words(std::string message) {
  message = message.substr(0, message.find('\n'));
  if (message.size() > 1 && std::islower(static_cast<unsigned char>(message[1])) != 0) {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  return message;
}

}  // namespace

const CLI::App& deepest_command(const CLI::App& root) {
  const auto* at = &root;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

std::string explain(const CLI::App& root, const CLI::ParseError& error) {
  const auto command = describe(deepest_command(root));
  const auto leftover = root.remaining(true);
  std::string problem;
  // A mistyped word often makes something else missing, too: the word is the cause.
  // Behind a -- stands what is not for us to read.
  if (!leftover.empty() && leftover.front() != "--") {
    problem = explain_leftover(command, leftover.front());
  } else if (!command.commands.empty()) {
    problem = "a command is missing";
  } else {
    problem = in_our_words(error.what());
  }
  return fmt::format("{} (see {} --help)", problem, command.joined());
}

}  // namespace leasehold::cli
