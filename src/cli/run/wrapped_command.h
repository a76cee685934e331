// Shared by `lock run`, `work` and `chunk run`: the command after the mark, and its store.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/context.h"
#include "leasehold/lease.h"
#include "run/process_tree.h"

namespace leasehold::cli {

/// As for env, nohup and timeout: this tool failed, not the command.
inline constexpr int own_failure = 125;
/// As for timeout: the command ran into its time limit.
inline constexpr int timed_out_code = 124;

/// Reports the error; a failure without its own exit code returns own_failure.
int report_failure(const Context& context, const Error& error, int held_code = exit_code::held);

/// With --json: prints the lease and the command's exit code, which distinguishes it from one of ours. Returns the
/// code.
int report_ended(const Context& context, std::string_view word, const Grant& grant, int exit_code);

/// The position of the first `--` in the command line; its size if there is none.
std::size_t mark_position(const Context& context);

/// The words of a command line such as NAME -- PROGRAM WORD..., where the parser knows NAME and PROGRAM as arguments
/// and leaves the rest unchanged (prefix_command): the program and the words after it. Without the mark, an option of
/// the command could be taken for one of ours; so it throws CLI::ValidationError. `form` is for the message: "leasehold
/// lock run NAME -- COMMAND...".
struct WordsBeforeMark {
  std::string what;  ///< its name: "NAME"
  std::string name;
  std::string form;
};
std::vector<std::string> words_after_mark(const CLI::App& command, const Context& context,
                                          const WordsBeforeMark& before, const std::string& program);

/// The same for NAME... -- PROGRAM WORD...: the parser knows no mark between arguments and takes all words for names.
/// The words after the mark are the command, unchanged; `names` keeps the others. (`before.name` is not used.)
std::vector<std::string> words_after_names(const Context& context, std::vector<std::string>& names,
                                           const WordsBeforeMark& before);

/// This tool as the holder, but with the process `guard`, which ends with the commands, whatever happens to us.
Holder holder_guarded_by(const run::ProcessId& guard, const std::string& name);

/// For LEASEHOLD_DB: the command may change its folder before it calls leasehold itself.
std::string with_absolute_path(const std::string& url);

}  // namespace leasehold::cli
