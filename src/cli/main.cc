// The leasehold command line tool: parses, runs the action, returns its exit code.
#include <fcntl.h>
#include <unistd.h>

#include <span>
#include <string_view>
#include <system_error>

#include "cli/command.h"
#include "cli/pages/pages.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/wrapped_command.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

/// The next opened file would get the number of a closed stdin, stdout or stderr: a database would receive our output,
/// a socket would be read as input. These placeholders prevent that; using them still fails.
void occupy_closed_descriptors() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool closed = ::fcntl(standard, F_GETFD) < 0;
    if (closed) static_cast<void>(::open("/dev/null", standard == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

/// For a command line that could not be parsed: --json has not been evaluated yet.
bool asks_for_json(std::span<char*> words) {
  for (const std::string_view word : words) {
    if (word == "--") return false;
    if (word == "--json") return true;
  }
  return false;
}

int answer_parse_error(const CLI::App& root, Context& context, std::span<char*> words, const CLI::ParseError& error) {
  const bool json = asks_for_json(words);
  if (error.get_exit_code() == 0) {
    const bool version = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
    const auto text = version ? root.version() : root.help();
    print_line(json ? model::json_object({{version ? "version" : "help", text}}) : text);
    return exit_code::ok;
  }
  if (words.size() == 1) {
    say_line(root.help());
    return exit_code::usage;
  }
  context.json = json;
  return report(context, {.code = Errc::invalid_argument, .message = explain(root, error)});
}

int perform(std::span<char*> words) {
  Context context;
  context.words.assign(words.begin(), words.end());
  CLI::App root("Leases in the database you already have: locks and jobs that free themselves when their holder dies",
                "leasehold");
  add_named_commands(root, context);
  try {
    root.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    return answer_parse_error(root, context, words, error);
  }
  if (const auto misread = explain_misread(root, context.words)) {
    return report(context, {.code = Errc::invalid_argument, .message = *misread});
  }
  if (context.json) keep_stdout_for_results();
  try {
    return context.action();
  } catch (const std::system_error& error) {
    // No thread can be created: nothing has begun yet, or destructors have ended everything.
    report(context, {.code = Errc::unavailable, .message = fmt::format("out of resources: {}", error.what())});
    return deepest_command(root).get_option_no_throw("COMMAND") != nullptr ? own_failure : exit_code::failure;
  }
}

int run(std::span<char*> words) {
  occupy_closed_descriptors();
  const int code = perform(words);
  // A result that did not reach its reader (a full disk) is not a success.
  if (!printed_well()) {
    say_line("leasehold: cannot write the result to stdout");
    return code == exit_code::ok ? exit_code::failure : code;
  }
  return code;
}

}  // namespace
}  // namespace leasehold::cli

int main(int argc, char** argv) { return leasehold::cli::run({argv, static_cast<std::size_t>(argc)}); }
