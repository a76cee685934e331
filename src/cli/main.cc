// leasehold, the command line: parse, run the action, give its exit code.
#include <cstdio>
#include <span>
#include <string_view>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/usage.h"

namespace leasehold::cli {
namespace {

/// For a command line that was not understood: nobody has looked at --json yet.
bool asks_for_json(std::span<char*> words) {
  for (const std::string_view word : words) {
    if (word == "--") return false;
    if (word == "--json") return true;
  }
  return false;
}

int answer_parse_error(const CLI::App& root, Context& context, std::span<char*> words, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    const bool version = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
    print_line(version ? root.version() : root.help());
    return exit_code::ok;
  }
  if (words.size() == 1) {
    say_line(root.help());
    return exit_code::usage;
  }
  context.json = asks_for_json(words);
  return report(context, {.code = Errc::invalid_argument, .message = explain(root, error)});
}

int run(std::span<char*> words) {
  Context context;
  context.words.assign(words.begin(), words.end());
  CLI::App root("Leases in the database you already have: locks and jobs that free themselves when their holder dies",
                "leasehold");
  add_all_commands(root, context);
  try {
    root.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    return answer_parse_error(root, context, words, error);
  }
  const int code = context.action();
  // A result that did not reach its reader (a full disk) is no success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    say_line("leasehold: cannot write the result to stdout");
    return code == exit_code::ok ? exit_code::failure : code;
  }
  return code;
}

}  // namespace
}  // namespace leasehold::cli

int main(int argc, char** argv) { return leasehold::cli::run({argv, static_cast<std::size_t>(argc)}); }
