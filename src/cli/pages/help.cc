#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "cli/command.h"
#include "cli/pages/pages.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

/// Lines longer than this are hard to read, however wide the terminal is.
constexpr std::size_t widest_page = 100;
constexpr std::size_t narrowest_page = 40;
constexpr std::size_t default_width = 80;

/// COLUMNS, else the width of the terminal, up to `widest_page`.
std::size_t page_width() {
  std::size_t width = terminal_width().value_or(default_width);
  if (const char* given = std::getenv("COLUMNS"); given != nullptr) {
    const auto columns = std::strtoul(given, nullptr, 10);
    if (columns > 0) width = columns;
  }
  return std::clamp(width, narrowest_page, widest_page);
}

/// Writes a page for one width.
class HelpPage {
 public:
  HelpPage(const CommandText& command, std::size_t width)
      : command_(command),
        width_(width),
        left_(width >= default_width ? 30
              : width >= 60          ? 24
                                     : 6) {}

  std::string with_footer(const std::string& footer) {
    text_ += wrapped(command_.help, 0) + "\n\n" + wrapped(usage_line(), 0, 7) + "\n";
    add_options("Arguments", [](const OptionText& option) { return option.argument; });
    if (!command_.commands.empty()) text_ += "\nCommands:\n";
    for (std::size_t i = 0; i < command_.commands.size(); ++i) {
      add_entry(command_.commands[i], command_.commands_help[i]);
    }
    add_options("Options", [](const OptionText& option) { return !option.argument && !option.common; });
    add_options("Common options", [](const OptionText& option) { return option.common; });
    if (const auto form = command_.duration_form(); !form.empty()) text_ += "\n" + wrapped(form, 0) + "\n";
    add_footer(footer);
    return std::move(text_);
  }

 private:
  /// `text` wrapped to the page. The first line begins at column `used`, the others at `indent`.
  [[nodiscard]] std::string wrapped(const std::string& text, std::size_t used, std::size_t indent = 0) const {
    std::string lines;
    bool at_start = true;
    for (const auto& word : CLI::detail::split(text, ' ')) {
      if (!at_start && used + 1 + word.size() > width_) {
        lines += "\n" + std::string(indent, ' ');
        used = indent;
      } else if (!at_start) {
        lines += ' ';
        ++used;
      }
      lines += word;
      used += word.size();
      at_start = false;
    }
    return lines;
  }

  void add_entry(const std::string& left, const std::string& right) {
    const bool fits = left.size() + 4 <= left_;
    text_ += "  " + left + (fits ? std::string(left_ - 2 - left.size(), ' ') : "\n" + std::string(left_, ' '));
    text_ += wrapped(right, left_, left_) + "\n";
  }

  void add_option(const OptionText& option) {
    auto left = fmt::format("{}", fmt::join(option.names, ", "));
    if (!option.value.empty() && !option.argument) left += " " + option.value;
    auto right = option.help;
    if (option.required && !option.argument) right += " (required)";
    if (!option.variable.empty()) right += fmt::format("; else from {}", option.variable);
    add_entry(left, right);
  }

  template <typename Wanted>
  void add_options(std::string_view heading, Wanted wanted) {
    const auto& options = command_.options;
    if (std::none_of(options.begin(), options.end(), wanted)) return;
    text_ += fmt::format("\n{}:\n", heading);
    for (const auto& option : options) {
      if (wanted(option)) add_option(option);
    }
  }

  [[nodiscard]] std::string usage_line() const {
    auto line = fmt::format("Usage: {} [OPTIONS]", command_.joined());
    for (const auto& option : command_.options) {
      if (!option.argument) continue;
      const auto name = option.names.front() + (option.repeated ? "..." : "");
      line += option.required ? " " + name : " [" + name + "]";
    }
    return line + (command_.commands.empty() ? "" : " COMMAND");
  }

  /// Examples are meant for copying, so they are not wrapped: if one is too long, its remark goes above it. The other
  /// lines are prose.
  void add_footer(const std::string& footer) {
    std::istringstream lines(footer);
    std::string prose;
    for (std::string line; std::getline(lines, line);) {
      const auto remark = line.find("  # ");
      if (!line.empty() && !line.starts_with("  ")) {
        prose += (prose.empty() ? "" : " ") + line;
        continue;
      }
      flush(prose);
      if (line.size() > width_ && remark != std::string::npos) {
        text_ += "\n  " + wrapped(line.substr(remark + 2), 2, 2);
        line.resize(line.find_last_not_of(' ', remark) + 1);
      }
      text_ += "\n" + line;
    }
    flush(prose);
  }

  void flush(std::string& prose) {
    if (prose.empty()) return;
    text_ += "\n" + wrapped(prose, 0);
    prose.clear();
  }

  const CommandText& command_;
  const std::size_t width_;
  const std::size_t left_;  ///< column where explanations begin
  std::string text_;
};

}  // namespace

std::string help_page(const CLI::App& app) {
  const auto command = describe(app);
  return HelpPage(command, page_width()).with_footer(app.get_footer());
}

// leasehold help: the same as --help, as a command.
void add_help(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "help", "Show help for a command", {"leasehold help", "leasehold help lock run"});
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words, "A command, e.g. lock run (default: leasehold itself)")->type_name("");
  set_action(*command, context, [command, &context, words] {
    const auto found = find_command(root_of(*command), *words);
    if (!found) return report(context, found.error());
    const auto page = help_page(**found);
    print_line(context.json ? model::json_object({{"help", page}}) : page);
    return exit_code::ok;
  });
}

}  // namespace leasehold::cli
