// The command tree.
//
// Adding the options of all commands would take most of the time of a short call. So the tool adds all groups, for help
// and for guesses, but only the commands of the groups that the line names (add_named_commands).
#include <algorithm>
#include <span>
#include <string_view>

#include "cli/command.h"
#include "cli/pages/pages.h"

namespace leasehold::cli {
namespace {

using Add = void (*)(CLI::App&, Context&);

/// A group of commands under a name; without a name they are at the top level.
struct Group {
  const char* name = nullptr;
  const char* description = nullptr;
  const char* examples[2] = {};
  std::span<const Add> commands;
};

constexpr Add lock_commands[] = {add_lock_acquire, add_lock_heartbeat, add_lock_release, add_lock_run,
                                 add_lock_show,    add_lock_ls,        add_lock_watch,   add_lock_revoke};
constexpr Add job_commands[] = {add_job_add,    add_job_import,  add_job_claim,  add_job_heartbeat, add_job_complete,
                                add_job_fail,   add_job_release, add_job_snooze, add_job_settle,    add_job_show,
                                add_job_ls,     add_job_search,  add_job_batch,  add_job_payload,   add_job_result,
                                add_job_errors, add_job_wait,    add_job_cancel, add_job_retry,     add_job_redrive,
                                add_job_rm};
constexpr Add queue_commands[] = {add_queue_ls,    add_queue_show,   add_queue_workers, add_queue_set,
                                  add_queue_pause, add_queue_resume, add_queue_drain,   add_queue_purge};
constexpr Add chunk_commands[] = {add_chunk_plan,     add_chunk_run,  add_chunk_claim,   add_chunk_heartbeat,
                                  add_chunk_complete, add_chunk_fail, add_chunk_release, add_chunk_skip,
                                  add_chunk_progress, add_chunk_show, add_chunk_ls,      add_chunk_reset,
                                  add_chunk_set,      add_chunk_rm};
constexpr Add rate_commands[] = {add_rate_take, add_rate_set, add_rate_show, add_rate_ls, add_rate_rm};
constexpr Add lease_commands[] = {add_lease_ls};
constexpr Add session_commands[] = {add_session_run,  add_session_open,  add_session_heartbeat,
                                    add_session_park, add_session_close, add_session_ls,
                                    add_session_show, add_session_mine,  add_session_watch};
constexpr Add item_commands[] = {add_item_add,  add_item_ls,     add_item_show, add_item_note,
                                 add_item_done, add_item_reopen, add_item_rm};
constexpr Add claim_commands[] = {add_claim_take,     add_claim_next,   add_claim_release, add_claim_switch,
                                  add_claim_transfer, add_claim_revoke, add_claim_show,    add_claim_ls};
constexpr Add path_commands[] = {add_path_take, add_path_release, add_path_ls};
constexpr Add schedule_commands[] = {
    add_schedule_set,      add_schedule_run,  add_schedule_daemon,  add_schedule_acquire, add_schedule_heartbeat,
    add_schedule_complete, add_schedule_fail, add_schedule_release, add_schedule_trigger, add_schedule_pause,
    add_schedule_resume,   add_schedule_ls,   add_schedule_show,    add_schedule_next,    add_schedule_history,
    add_schedule_rename,   add_schedule_rm};
constexpr Add adopt_commands[] = {add_adopt_plan,   add_adopt_apply,  add_adopt_try,
                                  add_adopt_verify, add_adopt_revert, add_adopt_ls};
constexpr Add row_commands[] = {add_row_claim,   add_row_work, add_row_heartbeat, add_row_complete, add_row_fail,
                                add_row_release, add_row_show, add_row_ls,        add_row_recover};
constexpr Add migrate_commands[] = {add_migrate_up, add_migrate_down, add_migrate_status, add_migrate_verify,
                                    add_migrate_plan};
constexpr Add token_commands[] = {add_token_create, add_token_ls, add_token_revoke};
constexpr Add audit_command[] = {add_audit};
constexpr Add retention_commands[] = {add_retention_show, add_retention_set};
constexpr Add elect_command[] = {add_elect};
constexpr Add work_and_look_commands[] = {add_work,    add_serve,  add_mcp,     add_top,   add_events,
                                          add_history, add_status, add_metrics, add_doctor};
constexpr Add other_commands[] = {add_init, add_hook, add_recover, add_prune,      add_sql, add_grant,
                                  add_acts, add_call, add_demo,    add_completion, add_man, add_help};

/// In the order of the help.
constexpr Group groups[] = {
    {"lock",
     "Acquire, keep, release and inspect named locks",
     {"leasehold lock run deploy --wait 1m -- ./deploy.sh", "leasehold lock show deploy"},
     lock_commands},
    {.commands = elect_command},
    {"job",
     "Add jobs to queues, work on them, inspect them",
     {R"(leasehold job add mail '{"to":"ann"}')", "leasehold job ls --queue mail --state failed"},
     job_commands},
    {"queue",
     "Inspect, limit, pause and purge queues",
     {"leasehold queue ls", "leasehold queue set merge --max-running 1"},
     queue_commands},
    {"chunk",
     "Split a sync into chunks that many loaders share, and show its progress",
     {"leasehold chunk plan orders --range 1..1000000 --size 10000", "leasehold chunk progress orders --watch"},
     chunk_commands},
    {"rate",
     "Keep a rate that all callers of a source share",
     {"leasehold rate take orders-api --every 750ms && ./fetch-a-page"},
     rate_commands},
    {"lease",
     "List everything that any process holds",
     {"leasehold lease ls --kind job --state expired"},
     lease_commands},
    {"session",
     "Register as a live session, and see the other sessions",
     {"leasehold session run --label 'fixing the parser' -- bash", "leasehold session ls"},
     session_commands},
    {"item",
     "Manage the backlog that sessions share",
     {"leasehold item add SD-1 --title 'Parse nested comments'", "leasehold item ls --state open"},
     item_commands},
    {"claim",
     "Claim items exclusively for a session, transfer and release them",
     {"leasehold claim next", "leasehold claim ls --watch"},
     claim_commands},
    {"path",
     "Claim files and folders exclusively for a session",
     {"leasehold path take src/parser docs/parser.md", "leasehold path ls"},
     path_commands},
    {"schedule",
     "Run work on time and only once, and record every occurrence",
     {"leasehold schedule run refresh --every 10m-15m -- ./refresh", "leasehold schedule history refresh"},
     schedule_commands},
    {"adopt",
     "Give the rows of your own tables leases, and take them back",
     {"leasehold adopt plan adopt.toml", "leasehold adopt apply adopt.toml"},
     adopt_commands},
    {"row",
     "Claim, work on and inspect the rows of adopted tables",
     {"leasehold row work sync_jobs -c 4 -- ./load", "leasehold row ls sync_jobs --state expired"},
     row_commands},
    {.commands = work_and_look_commands},
    {"migrate",
     "Show and change the schema's version",
     {"leasehold migrate up", "leasehold migrate verify"},
     migrate_commands},
    {"token",
     "Create, list and revoke the API tokens of `leasehold serve`",
     {"leasehold token create mailer --scope work --only 'queue:mail*' --expires-in 90d", "leasehold token ls"},
     token_commands},
    {.commands = audit_command},
    {"retention",
     "Show and set how long the store keeps finished work and its history",
     {"leasehold retention show", "leasehold retention set --jobs 3d --failed 90d"},
     retention_commands},
    {.commands = other_commands}};

void describe_root(CLI::App& root, Context& context) {
  root.require_subcommand(1);
  // Subcommands inherit it, so it comes first.
  root.formatter_fn([](const CLI::App* app, std::string, CLI::AppFormatMode) { return help_page(*app); });
  add_common_options(root, context);
  root.set_version_flag("-V,--version", std::string("leasehold ") + LEASEHOLD_VERSION, "Show the version")
      ->group(common_group);
  root.footer(
      "EXAMPLES\n"
      "  leasehold lock run deploy -- ./deploy.sh     # one deploy at a time\n"
      "  leasehold job add mail '{\"to\":\"ann\"}'\n"
      "  leasehold work mail -- ./send-mail            # one command per job\n"
      "  leasehold schedule run refresh --every 10m-15m -- ./refresh     # once, even if many crons call it\n"
      "  leasehold status\n"
      "  leasehold demo\n"
      "\n"
      "Exit codes: 0 ok, 1 failure, 2 usage, 3 nothing to do, 4 not found, 69 store unreachable,\n"
      "75 held, at a limit or wait ran out, 76 lease lost. For more, see `man leasehold` or `leasehold man`.");
}

CLI::App& add(CLI::App& root, const Group& group) {
  std::vector<std::string> examples;
  for (const char* example : group.examples) {
    if (example != nullptr) examples.emplace_back(example);
  }
  return *add_group(root, group.name, group.description, examples);
}

/// Adds the commands of the groups for which `is_wanted` is true, and the top-level ones.
template <typename Predicate>
void add_commands(CLI::App& root, Context& context, Predicate is_wanted) {
  describe_root(root, context);
  for (const auto& group : groups) {
    const bool on_top = group.name == nullptr;
    auto& parent = on_top ? root : add(root, group);
    if (!on_top && !is_wanted(group.name)) continue;
    for (const auto add_command : group.commands) add_command(parent, context);
  }
}

}  // namespace

void add_all_commands(CLI::App& root, Context& context) {
  add_commands(root, context, [](std::string_view) { return true; });
}

void add_named_commands(CLI::App& root, Context& context) {
  const auto is_a_word = [&words = context.words](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  // These commands describe all others.
  const bool all = is_a_word("help") || is_a_word("man") || is_a_word("completion");
  // The parser enters a group only at a word that is its name; extra groups do no harm.
  add_commands(root, context, [&](std::string_view group) { return all || is_a_word(group); });
}

}  // namespace leasehold::cli
