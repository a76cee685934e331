// The parts of every subcommand: one function each, which adds it to the command tree.
//
//   void add_status(CLI::App& parent, Context& context) {
//     auto* command = add_command(parent, context, "status", "Count what is in the store", {"leasehold status"});
//     set_action(*command, context, [&context] { return show_status(context); });
//   }
//
// Parsing only chooses `action`; main runs it once the whole command line is parsed. An action returns the exit code.
// stdout is for the result, stderr for messages; see print.h for writing them and report.h for errors.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/input.h"
#include "leasehold/lease.h"
#include "leasehold/time.h"

namespace leasehold::cli {

/// A leaf of the command tree, with the options every command has (--db, --json, --help). Help and man page show the
/// examples.
CLI::App* add_command(CLI::App& parent, Context& context, const std::string& name, const std::string& description,
                      const std::vector<std::string>& examples);

/// The action to run if the command line names this command.
void set_action(CLI::App& command, Context& context, std::function<int()> action);

/// Resolves settings that depend on several options or arguments, before the action is chosen. May throw
/// CLI::ValidationError.
void after_parsing(CLI::App& command, Context& context, std::function<void()> settle);

/// For a command that does not open the store of --db: refuses the option instead of ignoring it. `advice` says what to
/// do. LEASEHOLD_DB is for all commands, so it is no mistake.
void refuse_db(CLI::App& command, Context& context, const std::string& advice);

/// --db, --json and --help; add_command() calls it for commands.
void add_common_options(CLI::App& app, Context& context);

/// A command that only has subcommands.
CLI::App* add_group(CLI::App& parent, const std::string& name, const std::string& description,
                    const std::vector<std::string>& examples);

/// For check() of an option: refuses an empty value, which an unset variable of a script leaves, instead of treating it
/// as an omitted option.
std::string not_empty(const std::string& value);

/// Options that several commands share. The referenced variable must live as long as the tree.
CLI::Option* add_duration(CLI::App& command, const std::string& names, Duration& value, const std::string& help);
CLI::Option* add_duration(CLI::App& command, const std::string& names, std::optional<Duration>& value,
                          const std::string& help);
/// A required name. `what` is for the help: "The lock".
CLI::Option* add_name(CLI::App& command, const std::string& argument, std::string& name, const std::string& what);
CLI::Option* add_lock_name(CLI::App& command, std::string& name);
CLI::Option* add_holder(CLI::App& command, std::string& holder);
/// --token, else LEASEHOLD_TOKEN; required.
CLI::Option* add_token(CLI::App& command, Token& token);
/// A whole number within bounds.
CLI::Option* add_number(CLI::App& command, const std::string& names, int& value, int min, int max,
                        const std::string& help);
/// --max: the number of rows to show. The help ends with the default, which is the value of `max`.
CLI::Option* add_max(CLI::App& command, int& max, const std::string& help);
/// One of a few words.
CLI::Option* add_choice(CLI::App& command, const std::string& names, std::string& value,
                        const std::vector<std::string>& words, const std::string& help);
/// -E, --conflict-exit-code N: replaces 75 if the lock is held or the wait ran out.
CLI::Option* add_conflict_exit_code(CLI::App& command, int& code);

/// The whole tree with all its commands.
void add_all_commands(CLI::App& root, Context& context);
/// The same for one command line, context.words: groups that it does not name get no commands.
void add_named_commands(CLI::App& root, Context& context);
void add_acts(CLI::App& parent, Context& context);
void add_call(CLI::App& parent, Context& context);
void add_mcp(CLI::App& parent, Context& context);
void add_serve(CLI::App& parent, Context& context);
void add_lock_acquire(CLI::App& parent, Context& context);
void add_lock_heartbeat(CLI::App& parent, Context& context);
void add_lock_release(CLI::App& parent, Context& context);
void add_lock_show(CLI::App& parent, Context& context);
void add_lock_ls(CLI::App& parent, Context& context);
void add_lock_revoke(CLI::App& parent, Context& context);
void add_lock_run(CLI::App& parent, Context& context);
void add_lock_watch(CLI::App& parent, Context& context);
void add_elect(CLI::App& parent, Context& context);
void add_job_add(CLI::App& parent, Context& context);
void add_job_import(CLI::App& parent, Context& context);
void add_job_claim(CLI::App& parent, Context& context);
void add_job_heartbeat(CLI::App& parent, Context& context);
void add_job_settle(CLI::App& parent, Context& context);
void add_job_complete(CLI::App& parent, Context& context);
void add_job_fail(CLI::App& parent, Context& context);
void add_job_release(CLI::App& parent, Context& context);
void add_job_snooze(CLI::App& parent, Context& context);
void add_job_cancel(CLI::App& parent, Context& context);
void add_job_retry(CLI::App& parent, Context& context);
void add_job_redrive(CLI::App& parent, Context& context);
void add_job_rm(CLI::App& parent, Context& context);
void add_job_show(CLI::App& parent, Context& context);
void add_job_payload(CLI::App& parent, Context& context);
void add_job_result(CLI::App& parent, Context& context);
void add_job_wait(CLI::App& parent, Context& context);
void add_job_ls(CLI::App& parent, Context& context);
void add_job_search(CLI::App& parent, Context& context);
void add_job_batch(CLI::App& parent, Context& context);
void add_job_errors(CLI::App& parent, Context& context);
void add_queue_ls(CLI::App& parent, Context& context);
void add_queue_show(CLI::App& parent, Context& context);
void add_queue_workers(CLI::App& parent, Context& context);
void add_queue_set(CLI::App& parent, Context& context);
void add_queue_pause(CLI::App& parent, Context& context);
void add_queue_resume(CLI::App& parent, Context& context);
void add_queue_drain(CLI::App& parent, Context& context);
void add_queue_purge(CLI::App& parent, Context& context);
void add_chunk_plan(CLI::App& parent, Context& context);
void add_chunk_claim(CLI::App& parent, Context& context);
void add_chunk_heartbeat(CLI::App& parent, Context& context);
void add_chunk_complete(CLI::App& parent, Context& context);
void add_chunk_fail(CLI::App& parent, Context& context);
void add_chunk_release(CLI::App& parent, Context& context);
void add_chunk_run(CLI::App& parent, Context& context);
void add_chunk_skip(CLI::App& parent, Context& context);
void add_chunk_progress(CLI::App& parent, Context& context);
void add_chunk_show(CLI::App& parent, Context& context);
void add_chunk_ls(CLI::App& parent, Context& context);
void add_chunk_reset(CLI::App& parent, Context& context);
void add_chunk_set(CLI::App& parent, Context& context);
void add_chunk_rm(CLI::App& parent, Context& context);
void add_rate_take(CLI::App& parent, Context& context);
void add_rate_set(CLI::App& parent, Context& context);
void add_rate_show(CLI::App& parent, Context& context);
void add_rate_ls(CLI::App& parent, Context& context);
void add_rate_rm(CLI::App& parent, Context& context);
void add_lease_ls(CLI::App& parent, Context& context);
void add_session_open(CLI::App& parent, Context& context);
void add_session_run(CLI::App& parent, Context& context);
void add_session_heartbeat(CLI::App& parent, Context& context);
void add_session_park(CLI::App& parent, Context& context);
void add_session_close(CLI::App& parent, Context& context);
void add_session_ls(CLI::App& parent, Context& context);
void add_session_show(CLI::App& parent, Context& context);
void add_session_mine(CLI::App& parent, Context& context);
void add_session_watch(CLI::App& parent, Context& context);
void add_item_add(CLI::App& parent, Context& context);
void add_item_ls(CLI::App& parent, Context& context);
void add_item_show(CLI::App& parent, Context& context);
void add_item_done(CLI::App& parent, Context& context);
void add_item_note(CLI::App& parent, Context& context);
void add_item_reopen(CLI::App& parent, Context& context);
void add_item_rm(CLI::App& parent, Context& context);
void add_claim_take(CLI::App& parent, Context& context);
void add_claim_next(CLI::App& parent, Context& context);
void add_claim_release(CLI::App& parent, Context& context);
void add_claim_switch(CLI::App& parent, Context& context);
void add_claim_transfer(CLI::App& parent, Context& context);
void add_claim_revoke(CLI::App& parent, Context& context);
void add_claim_show(CLI::App& parent, Context& context);
void add_claim_ls(CLI::App& parent, Context& context);
void add_path_take(CLI::App& parent, Context& context);
void add_path_release(CLI::App& parent, Context& context);
void add_path_ls(CLI::App& parent, Context& context);
void add_schedule_set(CLI::App& parent, Context& context);
void add_schedule_acquire(CLI::App& parent, Context& context);
void add_schedule_heartbeat(CLI::App& parent, Context& context);
void add_schedule_complete(CLI::App& parent, Context& context);
void add_schedule_fail(CLI::App& parent, Context& context);
void add_schedule_release(CLI::App& parent, Context& context);
void add_schedule_run(CLI::App& parent, Context& context);
void add_schedule_trigger(CLI::App& parent, Context& context);
void add_schedule_pause(CLI::App& parent, Context& context);
void add_schedule_resume(CLI::App& parent, Context& context);
void add_schedule_rename(CLI::App& parent, Context& context);
void add_schedule_rm(CLI::App& parent, Context& context);
void add_schedule_ls(CLI::App& parent, Context& context);
void add_schedule_show(CLI::App& parent, Context& context);
void add_schedule_next(CLI::App& parent, Context& context);
void add_schedule_history(CLI::App& parent, Context& context);
void add_schedule_daemon(CLI::App& parent, Context& context);
void add_adopt_plan(CLI::App& parent, Context& context);
void add_adopt_apply(CLI::App& parent, Context& context);
void add_adopt_try(CLI::App& parent, Context& context);
void add_adopt_verify(CLI::App& parent, Context& context);
void add_adopt_revert(CLI::App& parent, Context& context);
void add_adopt_ls(CLI::App& parent, Context& context);
void add_row_claim(CLI::App& parent, Context& context);
void add_row_heartbeat(CLI::App& parent, Context& context);
void add_row_complete(CLI::App& parent, Context& context);
void add_row_fail(CLI::App& parent, Context& context);
void add_row_release(CLI::App& parent, Context& context);
void add_row_show(CLI::App& parent, Context& context);
void add_row_ls(CLI::App& parent, Context& context);
void add_row_recover(CLI::App& parent, Context& context);
void add_row_work(CLI::App& parent, Context& context);
void add_work(CLI::App& parent, Context& context);
void add_top(CLI::App& parent, Context& context);
void add_events(CLI::App& parent, Context& context);
void add_history(CLI::App& parent, Context& context);
void add_status(CLI::App& parent, Context& context);
void add_metrics(CLI::App& parent, Context& context);
void add_doctor(CLI::App& parent, Context& context);
void add_token_create(CLI::App& parent, Context& context);
void add_token_ls(CLI::App& parent, Context& context);
void add_token_revoke(CLI::App& parent, Context& context);
void add_audit(CLI::App& parent, Context& context);
void add_migrate_up(CLI::App& parent, Context& context);
void add_migrate_down(CLI::App& parent, Context& context);
void add_migrate_status(CLI::App& parent, Context& context);
void add_migrate_verify(CLI::App& parent, Context& context);
void add_migrate_plan(CLI::App& parent, Context& context);
void add_recover(CLI::App& parent, Context& context);
void add_prune(CLI::App& parent, Context& context);
void add_retention_show(CLI::App& parent, Context& context);
void add_retention_set(CLI::App& parent, Context& context);
void add_init(CLI::App& parent, Context& context);
void add_hook(CLI::App& parent, Context& context);
void add_sql(CLI::App& parent, Context& context);
void add_grant(CLI::App& parent, Context& context);
void add_demo(CLI::App& parent, Context& context);
void add_completion(CLI::App& parent, Context& context);
void add_help(CLI::App& parent, Context& context);
void add_man(CLI::App& parent, Context& context);

// --yes and --dry-run of destructive commands. Exactly one of them is required.
//
//   if (!options.consent.given()) return ask_for_yes(context, "rm removes the job and its history");
struct Consent {
  bool yes = false;
  bool dry_run = false;

  [[nodiscard]] bool given() const { return yes || dry_run; }
};
void add_consent(CLI::App& command, Consent& consent);

// A text on the command line or in a file: --error TEXT, --error-file FILE.
struct TextOrFile {
  std::string text;
  std::string file;

  /// At most `max` bytes of the file, or the text if no file is named.
  [[nodiscard]] Result<std::string> read(std::size_t max, TooLong too_long) const;
};
/// Adds `name` and `name`-file; the help of the file names the `max` bytes.
void add_text_or_file(CLI::App& command, const std::string& name, TextOrFile& value, const std::string& help,
                      std::size_t max);

// The holder of a lease that outlives its command.

/// For `lock acquire` and `job claim`: this process ends before others check on the holder, but its caller (a shell, a
/// script) does not. An empty name becomes "user@host:pid" of the caller.
Holder calling_process(const std::string& name);

// --grace: the time of a command between SIGTERM and SIGKILL.

/// The longest that fits into a lease: at most a third of the ttl passes between heartbeats, and another third is
/// reserved for a late one.
constexpr Duration fitting_grace(Duration grace, Duration ttl) { return grace < ttl / 3 ? grace : ttl / 3; }

/// The option of `lock run`, `session run`, `schedule run` and `elect`.
struct Grace {
  Duration asked_for = std::chrono::seconds(5);
  CLI::Option* option = nullptr;

  /// The grace that fits a lease of this ttl; warns if a longer one was requested.
  [[nodiscard]] Duration fitting(Duration ttl) const;
};

/// --timeout: how long a command may run. `effect` is for the help.
void add_timeout(CLI::App& command, std::optional<Duration>& timeout, const std::string& effect);
Result<void> check_timeout(const std::optional<Duration>& timeout);

/// `bound` is for the help: "at most a third of the ttl".
void add_grace(CLI::App& command, Grace& grace, const std::string& bound);

}  // namespace leasehold::cli
