// Options and arguments that the commands about sessions and their claims share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

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
void add_named_session(CLI::App& command, NamedSession& session, bool token);
/// --session, for commands whose argument is an item.
void add_claiming_session(CLI::App& command, NamedSession& session);

/// What `session open` and `session run` let people say about a session.
struct SessionFace {
  SessionOptions options;
  std::string holder;
};
void add_session_face(CLI::App& command, SessionFace& face);

/// The item that a command is about.
CLI::Option* add_item_key(CLI::App& command, std::string& key);

}  // namespace leasehold::cli
