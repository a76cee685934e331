// What `lock run`, `work` and `chunk run` share: the command after the mark, and the store it is told of.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/context.h"
#include "leasehold/lease.h"
#include "run/process_tree.h"

namespace leasehold::cli {

/// As env, nohup and timeout have it: this tool failed, not the command.
inline constexpr int own_failure = 125;

/// Tells the error; a failure without a code of its own is own_failure.
int report_failure(const Context& context, const Error& error, int held_code = exit_code::held);

/// With --json: prints whose command ended with which exit code, which tells a code of the command's from one of ours.
/// Gives the code.
int tell_ended(const Context& context, const Grant& grant, int exit_code);

/// Where the first `--` stands in the command line; its size if there is none.
std::size_t mark_position(const Context& context);

/// The words of a command line such as NAME -- PROGRAM WORD..., where the parser knows NAME and PROGRAM as arguments
/// and leaves the rest as it is (prefix_command): the program and what comes after it. Without the mark, an option of
/// the command could be taken for one of ours; so throws CLI::ValidationError. `form` is for the message:
/// "leasehold lock run NAME -- COMMAND...".
struct WordsBeforeMark {
  std::string what;  ///< what it is called: "NAME"
  std::string name;
  std::string form;
};
std::vector<std::string> words_after_mark(const CLI::App& command, const Context& context,
                                          const WordsBeforeMark& before, const std::string& program);

/// The same for NAME... -- PROGRAM WORD...: the parser knows no mark between arguments and takes all words for names.
/// What comes after the mark is the command, as it was written; `names` keeps the others. (`before.name` is not used.)
std::vector<std::string> words_after_names(const Context& context, std::vector<std::string>& names,
                                           const WordsBeforeMark& before);

/// This tool, but for the process: `guard` is gone when the commands are, whatever happens to us.
Holder holder_guarded_by(const run::ProcessId& guard, const std::string& name);

/// For LEASEHOLD_DB: the command may change its folder before it calls leasehold itself.
std::string with_absolute_path(const std::string& url);

}  // namespace leasehold::cli
