// Shared by all commands: registration in the command tree, and options with one meaning everywhere.
#include "cli/command.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "base/time_text.h"
#include "cli/pages/pages.h"
#include "cli/print/print.h"
#include "leasehold/limits.h"
#include "model/bounds.h"

namespace leasehold::cli {
namespace {

std::string examples_footer(const std::vector<std::string>& examples) {
  std::string text = "EXAMPLES";
  for (const auto& example : examples) text += "\n  " + example;
  return text;
}

void take_token(Token& token, const std::string& text) {
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, token.value);
  if (parsed.ec != std::errc() || parsed.ptr != end || token.value <= 0) {
    throw CLI::ValidationError(
        "--token", leasehold::quoted(text) + " is not a token: write the number that acquire or claim printed");
  }
}

}  // namespace

void add_common_options(CLI::App& app, Context& context) {
  app.add_option("--db", context.db,
                 "The store: sqlite:PATH or postgresql://USER@HOST/DATABASE (default: "
                 "LEASEHOLD_DB, else a file in your state folder)")
      ->type_name("URL")
      ->check(not_empty)
      ->group(common_group);
  app.add_flag("--json", context.json,
               "Print only the result, or the error, as JSON on stdout; the stdout of a wrapped command goes to stderr")
      ->group(common_group);
  app.set_help_flag("-h,--help", "Show this help")->group(common_group);
}

CLI::App* add_command(CLI::App& parent, Context& context, const std::string& name, const std::string& description,
                      const std::vector<std::string>& examples) {
  auto* command = parent.add_subcommand(name, description);
  // A group passes --db on to the root; a command has its own, and its arguments stay its own.
  command->fallthrough(false);
  command->footer(examples_footer(examples));
  add_common_options(*command, context);
  return command;
}

void set_action(CLI::App& command, Context& context, std::function<int()> action) {
  command.callback([&command, &context, action = std::move(action)] {
    for (const auto& settle : context.after_parsing[&command]) settle();
    context.action = action;
  });
}

void after_parsing(CLI::App& command, Context& context, std::function<void()> settle) {
  context.after_parsing[&command].push_back(std::move(settle));
}

void refuse_db(CLI::App& command, Context& context, const std::string& advice) {
  command.get_option("--db")->group("");
  after_parsing(command, context, [&context, advice] {
    if (!context.db.empty()) throw CLI::ValidationError("--db", advice);
  });
}

CLI::App* add_group(CLI::App& parent, const std::string& name, const std::string& description,
                    const std::vector<std::string>& examples) {
  auto* group = parent.add_subcommand(name, description);
  group->require_subcommand(1);
  group->fallthrough();
  group->footer(examples_footer(examples));
  group->set_help_flag("-h,--help", "Show this help")->group(common_group);
  return group;
}

std::string not_empty(const std::string& value) { return value.empty() ? "it is empty: was a variable not set?" : ""; }

CLI::Option* add_holder(CLI::App& command, std::string& holder) {
  return command.add_option("--holder", holder, "Name shown to others (default: user@host:pid)")
      ->check(not_empty)
      ->type_name("NAME");
}

namespace {

template <typename T>
CLI::Option* add_duration_to(CLI::App& command, const std::string& names, T& value, const std::string& help) {
  const auto take = [&value, names](const std::string& text) {
    auto parsed = parse_duration(text);
    if (!parsed) throw CLI::ValidationError(names, parsed.error().message);
    value = *parsed;
  };
  return command.add_option_function<std::string>(names, take, help)->type_name("DURATION");
}

}  // namespace

CLI::Option* add_duration(CLI::App& command, const std::string& names, Duration& value, const std::string& help) {
  return add_duration_to(command, names, value, help);
}

CLI::Option* add_duration(CLI::App& command, const std::string& names, std::optional<Duration>& value,
                          const std::string& help) {
  return add_duration_to(command, names, value, help);
}

CLI::Option* add_name(CLI::App& command, const std::string& argument, std::string& name, const std::string& what) {
  const auto help = fmt::format("{}: up to {} of UTF-8", what, format_size(bounds::name_bytes));
  return command.add_option(argument, name, help)->required()->type_name("");
}

CLI::Option* add_lock_name(CLI::App& command, std::string& name) { return add_name(command, "NAME", name, "The lock"); }

CLI::Option* add_token(CLI::App& command, Token& token) {
  const auto take = [&token](const std::string& text) { take_token(token, text); };
  return command.add_option_function<std::string>("--token", take, "The token of the grant")
      ->envname("LEASEHOLD_TOKEN")
      ->required()
      ->type_name("TOKEN");
}

CLI::Option* add_number(CLI::App& command, const std::string& names, int& value, int min, int max,
                        const std::string& help) {
  const auto take = [&value, names, min, max](const std::string& text) {
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end || value < min || value > max) {
      throw CLI::ValidationError(names,
                                 fmt::format("{} is not a number from {} to {}", leasehold::quoted(text), min, max));
    }
  };
  return command.add_option_function<std::string>(names, take, help)->type_name("N");
}

CLI::Option* add_max(CLI::App& command, int& max, const std::string& help) {
  constexpr int most_shown = 1'000'000;
  return add_number(command, "-n,--max", max, 1, most_shown, fmt::format("{} (default {})", help, max));
}

CLI::Option* add_choice(CLI::App& command, const std::string& names, std::string& value,
                        const std::vector<std::string>& words, const std::string& help) {
  const auto take = [&value, names, words](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) == words.end()) {
      throw CLI::ValidationError(names,
                                 fmt::format("{} is none of {}", leasehold::quoted(text), fmt::join(words, ", ")));
    }
    value = text;
  };
  return command.add_option_function<std::string>(names, take, help)
      ->type_name(fmt::format("{}", fmt::join(words, "|")));
}

CLI::Option* add_conflict_exit_code(CLI::App& command, int& code) {
  return add_number(command, "-E,--conflict-exit-code", code, 0, 255, "Exit with N instead of 75 when it is held");
}

void add_consent(CLI::App& command, Consent& consent) {
  auto* yes = command.add_flag("--yes", consent.yes, "Do it");
  command.add_flag("--dry-run", consent.dry_run, "Only show what it would do")->excludes(yes);
}

Result<std::string> TextOrFile::read(std::size_t max, TooLong too_long) const {
  if (file.empty()) return text;
  return read_bytes(file, max, too_long);
}

void add_text_or_file(CLI::App& command, const std::string& name, TextOrFile& value, const std::string& help,
                      std::size_t max) {
  auto* text = command.add_option(name, value.text, help)->type_name("TEXT");
  command
      .add_option(name + "-file", value.file,
                  fmt::format("The same from a file, up to {}; - is standard input", format_size(max)))
      ->check(not_empty)
      ->type_name("FILE")
      ->excludes(text);
}

Holder calling_process(const std::string& name) {
  auto holder = Holder::self(name);
  if (name.empty()) {
    const auto colon = holder.name.rfind(':');
    holder.name = fmt::format("{}:{}", holder.name.substr(0, colon), getppid());
  }
  holder.pid = getppid();
  // Unknown, so that the lease is not taken for that of a dead process: a script may well end before its lease does.
  holder.process_start = 0;
  return holder;
}

Duration Grace::fitting(Duration ttl) const {
  const auto fits = fitting_grace(asked_for, ttl);
  if (fits < asked_for && option->count() > 0) {
    say("leasehold: a grace of {} does not fit a lease of {}: shortened to {}", format_duration(asked_for),
        format_duration(ttl), format_duration(fits));
  }
  return fits;
}

void add_timeout(CLI::App& command, std::optional<Duration>& timeout, const std::string& effect) {
  add_duration(command, "--timeout", timeout, "How long a command may run (default: no limit): " + effect);
}

Result<void> check_timeout(const std::optional<Duration>& timeout) {
  return timeout ? check_span("timeout", *timeout, bounds::min_timeout, bounds::max_delay) : Result<void>();
}

void add_grace(CLI::App& command, Grace& grace, const std::string& bound) {
  grace.option =
      add_duration(command, "--grace", grace.asked_for,
                   fmt::format("Time from SIGTERM to SIGKILL when leasehold stops the command (default {}; {})",
                               format_duration(grace.asked_for), bound));
}

}  // namespace leasehold::cli
