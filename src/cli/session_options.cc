#include "cli/session_options.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/text.h"
#include "cli/chunk_options.h"
#include "cli/command.h"

namespace leasehold::cli {
namespace {

constexpr const char* session_variable = "LEASEHOLD_SESSION";
constexpr const char* token_variable = "LEASEHOLD_SESSION_TOKEN";

std::optional<Token> token_in_environment() {
  const char* text = std::getenv(token_variable);
  const auto number = text != nullptr ? whole_number(text) : std::nullopt;
  return number && *number > 0 ? std::optional(Token{*number}) : std::nullopt;
}

}  // namespace

bool is_own_session(const std::string& id) { return environment_says(session_variable, id); }

std::optional<Token> NamedSession::proof() const {
  if (token) return token;
  // Of another session, the token at hand says nothing.
  return is_own_session(id) ? token_in_environment() : std::nullopt;
}

Result<Token> NamedSession::needed_proof() const {
  if (const auto known = proof()) return *known;
  return Error{.code = Errc::invalid_argument,
               .message = fmt::format("the token of session {} is missing: write --token with the number that "
                                      "`session open` gave, or set {} together with {}",
                                      leasehold::quoted(id), token_variable, session_variable)};
}

void add_named_session(CLI::App& command, NamedSession& session, bool token) {
  command.add_option("ID", session.id, "The session")->required()->type_name("")->envname(session_variable);
  if (!token) return;
  add_optional_token(command, session.token,
                     fmt::format("The session's token (default: {}, where that is this session's)", token_variable));
}

void add_claiming_session(CLI::App& command, NamedSession& session) {
  command.add_option("--session", session.id, "Whose claim it is")
      ->check(not_empty)
      ->required()
      ->type_name("ID")
      ->envname(session_variable);
}

void add_session_face(CLI::App& command, SessionFace& face) {
  auto& options = face.options;
  command.add_option("--id", options.id, "A name to know it by (default: drawn at random)")
      ->check(not_empty)
      ->type_name("ID");
  command.add_option("--label", options.label, "What it is doing, for people")->type_name("TEXT");
  command.add_option("--codebase", options.codebase, "What it works on, for people and filters")->type_name("TEXT");
  command.add_option("--track", options.track, "Which line of work it belongs to")->type_name("TEXT");
  command.add_option("--meta", options.metadata, "Anything else: JSON, up to 1 MiB")
      ->check(not_empty)
      ->type_name("JSON");
  add_duration(command, "--stale-after", options.ttl,
               "Stale when silent for longer than this: what it has claimed can be taken then (default 5m)");
  command.add_flag("--exclusive", options.exclusive, "At most one claim at a time");
  add_optional_duration(command, "--max-age", options.max_age, "No heartbeat keeps it up for longer than this");
  add_holder(command, face.holder);
}

CLI::Option* add_item_key(CLI::App& command, std::string& key) {
  return command.add_option("ITEM", key, "The item's key: up to 512 bytes of UTF-8")->required()->type_name("");
}

}  // namespace leasehold::cli
