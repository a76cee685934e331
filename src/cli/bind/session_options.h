// Options and arguments shared by the commands about sessions and their claims.
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

/// A session as named by its holder or an operator: else LEASEHOLD_SESSION, as `session run` and `session open
/// --export` set it. Written as ID or as ID.TOKEN.
struct NamedSession {
  std::string id;
  std::optional<Token> token;  ///< --token, if the command has it, or that of the handle

  /// A handle becomes the id and its token.
  void read_handle();

  /// The proof of being its holder: --token; else LEASEHOLD_SESSION_TOKEN, if that belongs to this session. Nothing:
  /// the caller is an operator, or anyone else.
  [[nodiscard]] std::optional<Token> proof() const;
  /// The same for commands that only the holder may use.
  [[nodiscard]] Result<Token> needed_proof() const;
};
/// Whether this is the session in the environment.
bool is_own_session(const std::string& id);

/// The argument ID; with `token`, also --token.
void add_named_session(CLI::App& command, Context& context, NamedSession& session, bool token);
/// --session, for commands whose argument is an item.
void add_claiming_session(CLI::App& command, Context& context, NamedSession& session);

/// The settings of a session for `session open` and `session run`.
struct SessionFace {
  SessionOptions options;
  std::string holder;
};
void add_session_face(CLI::App& command, SessionFace& face);

/// The item that a command acts on.
CLI::Option* add_item_key(CLI::App& command, std::string& key);

// The process that a session stands for, so that its end is noticed at once on this host.

/// A holder with that process: boot id, pid and start time distinguish it from every later one. `not_found` if there is
/// no such process, `invalid_argument` if it is this very one. An empty name becomes "user@host:pid".
Result<Holder> holder_in_process(std::int64_t pid, const std::string& name);

/// Whether it is a shell that was started for one command line (`sh -c`), and ends with that.
bool ends_with_its_command(std::int64_t pid);

}  // namespace leasehold::cli
