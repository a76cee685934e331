#include "cli/run/wrapped_command.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "cli/print/print.h"
#include "cli/print/report.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

/// The number of values that the parser makes of these words: "[a,b]" becomes two.
std::size_t values_in(const std::vector<std::string>& words) {
  CLI::App parser;
  std::vector<std::string> values;
  auto* option = parser.add_option("WORDS", values);
  for (const auto& word : words) option->add_result(word);
  return option->count();
}

}  // namespace

int report_failure(const Context& context, const Error& error, int held_code) {
  const int code = report(context, error, held_code);
  return code == exit_code::failure ? own_failure : code;
}

int report_ended(const Context& context, std::string_view word, const Grant& grant, int exit_code) {
  if (context.json) {
    print_line(model::json_object(
        {{word, grant.key}, {"token", grant.token.value}, {"exit_code", static_cast<std::int64_t>(exit_code)}}));
  }
  return exit_code;
}

std::size_t mark_position(const Context& context) {
  const auto mark = std::find(context.words.begin(), context.words.end(), "--");
  return static_cast<std::size_t>(mark - context.words.begin());
}

std::vector<std::string> words_after_mark(const CLI::App& command, const Context& context,
                                          const WordsBeforeMark& before, const std::string& program) {
  // The parser takes any word for the name, even one of the command.
  const auto mark = context.words.begin() + static_cast<std::ptrdiff_t>(mark_position(context));
  if (mark != context.words.end() && std::find(context.words.begin(), mark, before.name) == mark) {
    throw CLI::ValidationError(before.what, "it is missing before the --: " + before.form);
  }
  auto words = command.remaining();
  if (words.empty() || words.front() != "--") {
    throw CLI::ValidationError("COMMAND", "put -- before the command: " + before.form);
  }
  words.front() = program;
  return words;
}

std::vector<std::string> words_after_names(const Context& context, std::vector<std::string>& names,
                                           const WordsBeforeMark& before) {
  const auto mark = mark_position(context);
  if (mark + 1 >= context.words.size()) {
    throw CLI::ValidationError("COMMAND", "put -- before the command: " + before.form);
  }
  std::vector<std::string> words(context.words.begin() + static_cast<std::ptrdiff_t>(mark) + 1, context.words.end());
  const auto taken_for_names = values_in(words);
  if (taken_for_names >= names.size()) {
    throw CLI::ValidationError(before.what, "it is missing before the --: " + before.form);
  }
  names.resize(names.size() - taken_for_names);
  return words;
}

Holder holder_guarded_by(const run::ProcessId& guard, const std::string& name) {
  auto holder = Holder::self(name);
  holder.pid = guard.pid;
  holder.process_start = static_cast<std::int64_t>(guard.start_ticks);
  return holder;
}

std::string with_absolute_path(const std::string& url) {
  constexpr std::string_view scheme = "sqlite:";
  const bool relative =
      url.starts_with(scheme) && url.size() > scheme.size() && url[scheme.size()] != '/' && url[scheme.size()] != ':';
  if (!relative) return url;
  std::error_code failure;
  const auto path = std::filesystem::absolute(url.substr(scheme.size()), failure);
  return failure ? url : std::string(scheme) + path.lexically_normal().string();
}

}  // namespace leasehold::cli
