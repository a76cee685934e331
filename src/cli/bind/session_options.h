// Options and arguments that the commands about sessions and their claims share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/context.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "leasehold/session.h"

namespace leasehold::cli {

/// A session as its holder or an operator names it: else LEASEHOLD_SESSION, as `session run` and
/// `session open --export` set it.
struct NamedSession {
  std::string id;
  std::optional<Token> token;  ///< --token, where a command has it

  /// What proves to be its holder: --token; else LEASEHOLD_SESSION_TOKEN, where that is this session's. Nothing: who
  /// says so is an operator, or anybody.
  [[nodiscard]] std::optional<Token> proof() const;
  /// The same for commands that are the holder's only.
  [[nodiscard]] Result<Token> needed_proof() const;
};
/// Whether this is the session that the environment tells of.
bool is_own_session(const std::string& id);

/// The argument ID; with `token`, also --token.
void add_named_session(CLI::App& command, Context& context, NamedSession& session, bool token);
/// --session, for commands whose argument is an item.
void add_claiming_session(CLI::App& command, Context& context, NamedSession& session);

/// What `session open` and `session run` let people say about a session.
struct SessionFace {
  SessionOptions options;
  std::string holder;
};
void add_session_face(CLI::App& command, SessionFace& face);

/// The item that a command is about.
CLI::Option* add_item_key(CLI::App& command, std::string& key);

// The process that a session stands for, so that its end is seen at once on this host.

/// A holder who is that process: boot id, pid and start time tell it from every later one. `not_found` where there is
/// no such process, `invalid_argument` where it is this very one. An empty name becomes "user@host:pid".
Result<Holder> holder_in_process(std::int64_t pid, const std::string& name);

/// Whether it is a shell that was started for one command line (`sh -c`), and ends with that.
bool ends_with_its_command(std::int64_t pid);

}  // namespace leasehold::cli
