#include "cli/help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/tree.h"

namespace leasehold::cli {
namespace {

constexpr std::size_t left_column = 30;
constexpr std::size_t page_width = 100;

/// `text` in lines that fit beside the left column.
std::string wrapped(const std::string& text) {
  std::string page;
  std::size_t used = left_column;
  for (const auto& word : CLI::detail::split(text, ' ')) {
    if (used > left_column && used + 1 + word.size() > page_width) {
      page += "\n" + std::string(left_column, ' ');
      used = left_column;
    } else if (used > left_column) {
      page += ' ';
      ++used;
    }
    page += word;
    used += word.size();
  }
  return page;
}

std::string entry(const std::string& left, const std::string& right) {
  const bool fits = left.size() + 4 <= left_column;
  const auto gap = fits ? std::string(left_column - 2 - left.size(), ' ') : "\n" + std::string(left_column, ' ');
  return fmt::format("  {}{}{}\n", left, gap, wrapped(right));
}

std::string option_entry(const OptionText& option) {
  auto left = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.value.empty() && !option.argument) left += " " + option.value;
  auto right = option.help;
  if (option.required && !option.argument) right += " (required)";
  if (!option.variable.empty()) right += fmt::format("; else from {}", option.variable);
  return entry(left, right);
}

template <typename Wanted>
std::string options_under(std::string_view heading, const CommandText& command, Wanted wanted) {
  std::string entries;
  for (const auto& option : command.options) {
    if (wanted(option)) entries += option_entry(option);
  }
  return entries.empty() ? "" : fmt::format("\n{}:\n{}", heading, entries);
}

std::string usage_line(const CommandText& command) {
  auto line = fmt::format("Usage: {} [OPTIONS]", command.joined());
  for (const auto& option : command.options) {
    if (!option.argument) continue;
    const auto name = option.names.front() + (option.repeated ? "..." : "");
    line += option.required ? " " + name : " [" + name + "]";
  }
  return line + (command.commands.empty() ? "\n" : " COMMAND\n");
}

}  // namespace

std::string help_page(const CLI::App& app) {
  const auto command = describe(app);
  auto page = fmt::format("{}\n\n{}", command.help, usage_line(command));
  page += options_under("Arguments", command, [](const OptionText& option) { return option.argument; });
  if (!command.commands.empty()) page += "\nCommands:\n";
  for (std::size_t i = 0; i < command.commands.size(); ++i)
    page += entry(command.commands[i], command.commands_help[i]);
  page += options_under("Options", command, [](const OptionText& each) { return !each.argument && !each.common; });
  page += options_under("Common options", command, [](const OptionText& each) { return each.common; });
  if (const auto form = command.duration_form(); !form.empty()) page += "\n" + form + "\n";
  return page + "\n" + app.get_footer();
}

}  // namespace leasehold::cli
