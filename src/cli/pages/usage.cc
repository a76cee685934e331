#include <fmt/format.h>
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "cli/command.h"
#include "cli/pages/pages.h"
#include "core/store_url.h"

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

/// Our word for what other tools call like this, where it is too far away to be guessed.
std::string synonym_of(const std::string& word, const CommandText& command) {
  constexpr std::pair<std::string_view, std::string_view> synonyms[] = {
      {"list", "ls"},  {"rm", "delete"},   {"remove", "rm"},     {"remove", "delete"}, {"delete", "rm"},
      {"get", "show"}, {"create", "open"}, {"create", "define"}, {"create", "add"},    {"version", "--version"}};
  auto known = long_options(command);
  known.insert(known.end(), command.commands.begin(), command.commands.end());
  for (const auto& [theirs, ours] : synonyms) {
    if (theirs == word && std::find(known.begin(), known.end(), ours) != known.end()) return std::string(ours);
  }
  return "";
}

/// A word as messages repeat it.
std::string repeated(const std::string& word) {
  return may_hold_password(word) ? "(not shown, because it may hold a password)" : leasehold::quoted(word);
}

std::string explain_leftover(const CommandText& command, const std::string& word) {
  if (word.size() > 1 && word.starts_with('-')) {
    const auto name = word.substr(0, word.find('='));
    return fmt::format("unknown option {}{}", leasehold::quoted(name), did_you_mean(name, long_options(command)));
  }
  if (command.commands.empty()) return fmt::format("unexpected argument {}", repeated(word));
  const auto same = synonym_of(word, command);
  return fmt::format("unknown command {}{}", repeated(word),
                     same.empty() ? did_you_mean(word, command.commands) : fmt::format(": did you mean {}?", same));
}

/// What stands between two texts of a message, if it has both.
std::optional<std::string> text_between(const std::string& message, std::string_view before, std::string_view after) {
  const auto begin = message.find(before);
  if (begin == std::string::npos) return std::nullopt;
  const auto from = begin + before.size();
  const auto end = message.find(after, from);
  if (end == std::string::npos) return std::nullopt;
  return message.substr(from, end - from);
}

/// Our messages begin in lower case and have no line breaks; CLI11's do not and have. Some of its sentences are about
/// itself rather than about what was written.
std::string in_our_words(std::string message) {
  message = message.substr(0, message.find('\n'));
  const auto name = message.substr(0, message.find(':'));
  if (const auto type = text_between(message, ": 1 required ", " missing")) {
    return fmt::format("{}: its value is missing: write {} {}", name, name, *type);
  }
  if (text_between(message, ": At Most ", " required but received")) return fmt::format("{}: it is given twice", name);
  if (const auto option = text_between(message, "Could not convert: ", " = ")) {
    const auto value = message.substr(message.find(" = ") + 3);
    return fmt::format("{}: {} is not a number that it can be", *option, leasehold::quoted(value));
  }
  if (message.size() > 1 && std::islower(static_cast<unsigned char>(message[1])) != 0) {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  return message;
}

std::string with_help(const std::string& problem, const CommandText& command) {
  return fmt::format("{} (see {} --help)", problem, command.joined());
}

/// "[1,2]" of "--key=[1,2]"; a word that is not of this form as it is.
std::string value_in(const std::string& word) {
  const auto equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  return equals == std::string::npos ? word : word.substr(equals + 1);
}

/// What is wrong with a word that the parser does not leave as it is; empty: it is not of those.
std::string trouble_with(const std::string& word) {
  if (word == "++") return fmt::format("unexpected argument {}", leasehold::quoted(word));
  const auto value = value_in(word);
  if (value.empty() && !word.empty()) return word.substr(0, word.size() - 1) + ": " + not_empty(value);
  if (!value.starts_with('[') || !value.ends_with(']')) return "";
  return fmt::format("{}: where there may be several, none can be in brackets", leasehold::quoted(value));
}

/// Whether an option or argument has got this word as it was written.
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
  // What a command did not know comes before what its group was then left with.
  const auto leftover = deepest.remaining_size() > 0 ? deepest.remaining() : root.remaining(true);
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
  return with_help(problem, command);
}

std::optional<std::string> explain_misread(const CLI::App& root, const std::vector<std::string>& words) {
  const auto& command = deepest_command(root);
  // Behind the mark of a wrapped command stands what is not for us to read.
  const bool wraps = command.get_option_no_throw("COMMAND") != nullptr;
  for (const auto& word : words) {
    if (wraps && word == "--") break;
    const auto trouble = trouble_with(word);
    if (!trouble.empty() && !is_a_value(command, word)) return with_help(trouble, describe(command));
  }
  return std::nullopt;
}

}  // namespace leasehold::cli
