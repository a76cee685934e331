#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "cli/pages/pages.h"

namespace leasehold::cli {
namespace {

/// A type name such as "read|work|admin" lists the accepted words.
std::vector<std::string> words_in(const std::string& type) {
  if (type.find('|') == std::string::npos) return {};
  return CLI::detail::split(type, '|');
}

/// The kind of name that an option or argument takes, if completions can get such names from the store.
std::string names_of(const std::vector<std::string>& path, const std::string& word) {
  if (word == "QUEUE" || word == "QUEUE [PAYLOAD]") return "queue";
  if (word == "SET") return "set";
  const bool of_claims = path.size() > 1 && path[1] == "claim";
  if (word == "ITEM" || (of_claims && (word == "FROM" || word == "TO"))) return "item";
  if (word == "NAME" || word == "MORE") {
    const auto group = path.size() > 1 ? path[1] : "";
    return group == "elect" ? "lock" : group == "lock" || group == "schedule" || group == "rate" ? group : "";
  }
  // Opening or running a session takes a new id.
  const bool makes_one = path.back() == "open" || path.back() == "run";
  const bool of_sessions = of_claims || (path.size() > 1 && path[1] == "session" && !makes_one);
  return of_sessions && (word == "ID" || word == "SESSION") ? "session" : "";
}

OptionText describe_option(const std::vector<std::string>& path, const CLI::Option& option) {
  OptionText text;
  text.argument = option.get_positional();
  if (text.argument) {
    text.names.push_back(option.get_single_name());
  } else {
    for (const auto& name : option.get_snames()) text.names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) text.names.push_back("--" + name);
  }
  if (option.get_type_size() != 0) text.value = option.get_type_name();
  text.values = words_in(text.value);
  text.names_of = names_of(path, text.argument ? text.names.front() : text.value);
  text.help = option.get_description();
  text.variable = option.get_envname();
  text.required = option.get_required();
  text.repeated = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  text.common = option.get_group() == common_group;
  return text;
}

/// The indented lines after the heading that add_command wrote.
std::vector<std::string> examples_in(const std::string& footer) {
  std::vector<std::string> examples;
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) examples.push_back(line.substr(2));
  }
  return examples;
}

std::vector<std::string> path_of(const CLI::App& app) {
  std::vector<std::string> path;
  for (const auto* at = &app; at != nullptr; at = at->get_parent()) path.insert(path.begin(), at->get_name());
  return path;
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

void describe_into(std::vector<CommandText>& all, const CLI::App& app) {
  all.push_back(describe(app));
  for (const auto* sub : subcommands_of(app)) describe_into(all, *sub);
}

}  // namespace

std::string CommandText::joined(char separator) const {
  std::string text;
  for (const auto& word : path) text += (text.empty() ? "" : std::string(1, separator)) + word;
  return text;
}

std::string CommandText::duration_form() const {
  const auto takes_one = [](const OptionText& option) { return option.value.find("DURATION") != std::string::npos; };
  if (std::none_of(options.begin(), options.end(), takes_one)) return "";
  return "A DURATION is written 250ms, 30s, 1m30s, 2h or 7d.";
}

CommandText describe(const CLI::App& app) {
  CommandText text;
  text.path = path_of(app);
  text.help = app.get_description();
  for (const auto* option : app.get_options([](const CLI::Option* each) { return !each->get_group().empty(); })) {
    text.options.push_back(describe_option(text.path, *option));
  }
  text.examples = examples_in(app.get_footer());
  for (const auto* sub : subcommands_of(app)) {
    text.commands.push_back(sub->get_name());
    text.commands_help.push_back(sub->get_description());
  }
  return text;
}

const CLI::App& root_of(const CLI::App& app) {
  const auto* at = &app;
  while (at->get_parent() != nullptr) at = at->get_parent();
  return *at;
}

Result<const CLI::App*> find_command(const CLI::App& root, const std::vector<std::string>& words) {
  const auto* at = &root;
  for (const auto& word : words) {
    const auto found = at->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
    if (found.empty()) {
      const auto command = describe(*at);
      const auto meant = nearest(word, command.commands);
      return Error{.code = Errc::not_found,
                   .message = fmt::format("{1} has no command {0}{2}", leasehold::quoted(word), command.joined(),
                                          meant.empty() ? "" : ": did you mean " + meant + "?")};
    }
    at = found.front();
  }
  return at;
}

std::vector<CommandText> describe_all(const CLI::App& root) {
  std::vector<CommandText> all;
  describe_into(all, root);
  return all;
}

}  // namespace leasehold::cli
