#include <fmt/format.h>
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "cli/command.h"
#include "cli/pages/pages.h"
#include "cli/print/print.h"
#include "core/store_url.h"

namespace leasehold::cli {
namespace {

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  auto meant = synonym_of(word, candidates);
  if (meant.empty()) meant = nearest(word, candidates);
  return meant.empty() ? "" : fmt::format(": did you mean {}?", meant);
}

/// Candidates for a guess. Single letters are all equally close: no guess.
std::vector<std::string> long_options(const CommandText& command) {
  std::vector<std::string> names;
  for (const auto& option : command.options) {
    for (const auto& name : option.names) {
      if (name.starts_with("--")) names.push_back(name);
    }
  }
  return names;
}

/// A word as messages repeat it.
std::string repeated(const std::string& word) {
  return may_hold_password(word) ? "(not shown, because it may hold a password)" : leasehold::quoted(word);
}

/// "lock run deploy -- ..." for "lock deploy -- make", which other tools take: the parser has removed the mark.
std::string wrapped_form(const CommandText& command, const std::vector<std::string>& leftover) {
  const bool has_run = std::find(command.commands.begin(), command.commands.end(), "run") != command.commands.end();
  if (!has_run || leftover.size() < 2) return "";
  return fmt::format(": did you mean {} run {} -- ...?", command.joined(), printable(leftover.front()));
}

std::string explain_leftover(const CommandText& command, const std::vector<std::string>& leftover) {
  const auto& word = leftover.front();
  if (word.size() > 1 && word.starts_with('-')) {
    const auto name = word.substr(0, word.find('='));
    const auto options = long_options(command);
    return fmt::format("unknown option {}{}", leasehold::quoted(name), did_you_mean(name, options));
  }
  if (command.commands.empty()) return fmt::format("unexpected argument {}", repeated(word));
  if (const auto other = command_elsewhere(command.joined(), word); !other.empty()) {
    return fmt::format("unknown command {}: did you mean {}?", repeated(word), other);
  }
  auto known = long_options(command);
  known.insert(known.begin(), command.commands.begin(), command.commands.end());
  const auto guess = did_you_mean(word, known);
  return fmt::format("unknown command {}{}", repeated(word), guess.empty() ? wrapped_form(command, leftover) : guess);
}

/// The text between two parts of a message, if it has both.
std::optional<std::string> text_between(const std::string& message, std::string_view before, std::string_view after) {
  const auto begin = message.find(before);
  if (begin == std::string::npos) return std::nullopt;
  const auto from = begin + before.size();
  const auto end = message.find(after, from);
  if (end == std::string::npos) return std::nullopt;
  return message.substr(from, end - from);
}

/// Our messages begin in lower case and have no line breaks, unlike CLI11's. Some of CLI11's sentences describe itself
/// rather than the command line.
std::string in_our_words(std::string message) {
  message = message.substr(0, message.find('\n'));
  const auto name = message.substr(0, message.find(':'));
  if (const auto type = text_between(message, ": 1 required ", " missing")) {
    return fmt::format("{}: the value is missing: write {} {}", name, name, *type);
  }
  if (text_between(message, ": At Most ", " required but received")) return fmt::format("{}: given twice", name);
  if (const auto option = text_between(message, "Could not convert: ", " = ")) {
    const auto value = message.substr(message.find(" = ") + 3);
    return fmt::format("{}: {} is not a valid number", *option, leasehold::quoted(value));
  }
  if (message.size() > 1 && std::islower(static_cast<unsigned char>(message[1])) != 0) {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  return message;
}

std::string with_help(const std::string& problem, const CommandText& command) {
  return fmt::format("{} (see {} --help)", problem, command.joined());
}

/// "[1,2]" of "--key=[1,2]"; a word of another form unchanged.
std::string value_in(const std::string& word) {
  const auto equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  return equals == std::string::npos ? word : word.substr(equals + 1);
}

/// The problem with a word that the parser changes; empty if it does not.
std::string trouble_with(const std::string& word) {
  if (word == "++") return fmt::format("unexpected argument {}", leasehold::quoted(word));
  const auto value = value_in(word);
  if (value.empty() && !word.empty()) return word.substr(0, word.size() - 1) + ": " + not_empty(value);
  if (!value.starts_with('[') || !value.ends_with(']')) return "";
  return fmt::format("{}: a value in a list cannot be in brackets", leasehold::quoted(value));
}

/// Whether an option or argument received this word unchanged.
bool is_a_value(const CLI::App& command, const std::string& word) {
  const auto value = value_in(word);
  const auto has_it = [&](const CLI::Option* option) {
    const auto& values = option->results();
    return std::any_of(values.begin(), values.end(),
                       [&](const auto& each) { return each == word || (each == value && !value.empty()); });
  };
  const auto options = command.get_options();
  return std::any_of(options.begin(), options.end(), has_it);
}

}  // namespace

const CLI::App& deepest_command(const CLI::App& root) {
  const auto* at = &root;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

std::string explain(const CLI::App& root, const CLI::ParseError& error) {
  const auto& deepest = deepest_command(root);
  const auto command = describe(deepest);
  // Words unknown to a command come before those left over in its group.
  const auto leftover = deepest.remaining_size() > 0 ? deepest.remaining() : root.remaining(true);
  std::string problem;
  // A mistyped word often makes something else missing, too: the word is the cause. The words after -- are not ours to
  // parse.
  if (!leftover.empty() && leftover.front() != "--") {
    problem = explain_leftover(command, leftover);
  } else if (!command.commands.empty()) {
    problem = "a command is missing";
  } else {
    problem = in_our_words(error.what());
  }
  return with_help(problem, command);
}

std::optional<std::string> explain_misread(const CLI::App& root, const std::vector<std::string>& words) {
  const auto& command = deepest_command(root);
  // The words after the mark of a wrapped command are not ours to parse.
  const bool wraps = command.get_option_no_throw("COMMAND") != nullptr;
  for (const auto& word : words) {
    if (wraps && word == "--") break;
    const auto trouble = trouble_with(word);
    if (!trouble.empty() && !is_a_value(command, word)) return with_help(trouble, describe(command));
  }
  return std::nullopt;
}

}  // namespace leasehold::cli
