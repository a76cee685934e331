// How a wrapper passes its lease to its command, and how a leasehold inside that command finds it.
//
//   work q -- leasehold lock run deploy -- leasehold job heartbeat
//
// Wrappers nest. The common variables (LEASEHOLD_KEY, _TOKEN, _EXPIRES_AT, _DB) are those of the innermost wrapper.
// Each wrapper also sets variables of its own kind, which wrappers of other kinds leave unchanged: the heartbeat above
// finds its job in LEASEHOLD_JOB_ID, _JOB_TOKEN and _JOB_DB, although the lock has replaced the common ones.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "leasehold/lease.h"
#include "leasehold/lock.h"

namespace leasehold::cli {

/// One kind of thing that a wrapper holds, and the variables that only wrappers of this kind set.
struct HeldKind {
  const char* what;
  const char* key_variable;
  const char* token_variable;
  const char* store_variable;
};
namespace held {
inline constexpr HeldKind job{"job", "LEASEHOLD_JOB_ID", "LEASEHOLD_JOB_TOKEN", "LEASEHOLD_JOB_DB"};
inline constexpr HeldKind lock{"lock", "LEASEHOLD_LOCK", "LEASEHOLD_LOCK_TOKEN", "LEASEHOLD_LOCK_DB"};
/// The key within its set, which is in LEASEHOLD_SET.
inline constexpr HeldKind chunk{"chunk", "LEASEHOLD_CHUNK", "LEASEHOLD_CHUNK_TOKEN", "LEASEHOLD_CHUNK_DB"};
inline constexpr HeldKind schedule{"schedule", "LEASEHOLD_SCHEDULE", "LEASEHOLD_SCHEDULE_TOKEN",
                                   "LEASEHOLD_SCHEDULE_DB"};
inline constexpr HeldKind session{"session", "LEASEHOLD_SESSION", "LEASEHOLD_SESSION_TOKEN", "LEASEHOLD_SESSION_DB"};
/// The values of the key columns, one per line; the table is in LEASEHOLD_TABLE.
inline constexpr HeldKind row{"row", "LEASEHOLD_ROW", "LEASEHOLD_ROW_TOKEN", "LEASEHOLD_ROW_DB"};
}  // namespace held

/// What a wrapper holds for its command.
struct HeldThing {
  std::string key;
  Token token;
  Timestamp expires_at;
  std::string url;  ///< of the store, with an absolute path, because the command may change its folder
};
/// NAME=VALUE: the common variables and those of the kind.
std::vector<std::string> wrapper_variables(const HeldKind& kind, const HeldThing& thing);

/// The value of an environment variable. An empty one counts as not set.
std::optional<std::string> environment_value(const char* name);
/// Whether an environment variable has this value.
bool environment_says(const char* name, const std::string& value);

/// The token for this kind that a wrapper or the user has put into the environment; `is_own` is true if the command
/// line names the thing that the wrapper of this kind holds. LEASEHOLD_TOKEN counts only if no wrapper has set it for
/// something else.
std::optional<Token> token_from_environment(const HeldKind& kind, bool is_own);
/// Selects the store of the wrapper of this kind, unless --db names one.
void act_where_held(Context& context, const HeldKind& kind);

/// --token of a command that acts on something held; required, but the environment may provide it. Resolved when the
/// whole command line is known.
CLI::Option* add_held_token(CLI::App& command, Context& context, Token& token, const HeldKind& kind,
                            std::function<bool()> is_own);
/// --token of a claim, which no wrapper holds: else LEASEHOLD_TOKEN, if the user has set it.
CLI::Option* add_claim_token(CLI::App& command, Context& context, Token& token);

// Passes the locks of a wrapper to its command, and checks them in a leasehold inside of it.
//
//   lock run deploy -- sh -c 'leasehold lock run deploy -- ...'      would wait for itself for ever
//
// The store refuses a lock to the thread that already holds it. A command consists of other processes than its wrapper,
// and any number of them: they are different holders, and may wait for each other. So the environment lists all holders
// that a process runs inside of, and before taking a lock it checks whether one of these has it. In another store no
// holder has such a name, so the check is harmless.

/// NAME=VALUE: the wrapper's variables (the key is the first name), LEASEHOLD_KEYS (all names, one per line), _INSTANCE
/// (the holder's) and _INSTANCES (of all holders it runs inside of, one per line).
std::vector<std::string> lock_environment(const Grant& grant, const std::vector<std::string>& names,
                                          const std::string& url);

/// Whether the innermost `lock run` or `elect` holds this lock for the caller.
bool is_own_lock(const std::string& name);

/// `reentry`: an outer wrapper has one of the locks, and waiting for it would never end.
Result<void> check_reentry(const Locks& locks, const std::vector<std::string>& names,
                           const std::optional<Share>& share);

}  // namespace leasehold::cli
