#include "cli/bind/session_options.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <string_view>

#include "base/process.h"
#include "base/text.h"
#include "base/time_text.h"
#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/run/wrapper_variables.h"
#include "leasehold/limits.h"

namespace leasehold::cli {
namespace {

constexpr const char* session_variable = held::session.key_variable;
constexpr const char* token_variable = held::session.token_variable;

std::optional<Token> token_in_environment() {
  const auto text = environment_value(token_variable);
  return text ? token_from(*text) : std::nullopt;
}

void act_where_session_is(CLI::App& command, Context& context, NamedSession& session) {
  after_parsing(command, context, [&context, &session] {
    session.read_handle();
    if (is_own_session(session.id)) act_where_held(context, held::session);
  });
}

}  // namespace

bool is_own_session(const std::string& id) { return environment_says(session_variable, id); }

void NamedSession::read_handle() {
  auto handle = SessionHandle::parse(id);
  if (!handle) return;
  id = std::move(handle->id);
  if (!token) token = handle->token;
}

std::optional<Token> NamedSession::proof() const {
  if (token) return token;
  // The token at hand does not apply to another session.
  return is_own_session(id) ? token_in_environment() : std::nullopt;
}

Result<Token> NamedSession::needed_proof() const {
  if (const auto known = proof()) return *known;
  return Error{.code = Errc::invalid_argument,
               .message = fmt::format("the token of session {} is missing: name the session as ID.TOKEN, with the "
                                      "number that `session open` printed, or set {} together with {}",
                                      leasehold::quoted(id), token_variable, session_variable)};
}

void add_named_session(CLI::App& command, Context& context, NamedSession& session, bool token) {
  act_where_session_is(command, context, session);
  command.add_option("ID", session.id, "The session")->required()->type_name("")->envname(session_variable);
  if (!token) return;
  add_optional_token(command, session.token,
                     fmt::format("The session's token (default: {}, if it is this session's)", token_variable));
}

void add_claiming_session(CLI::App& command, Context& context, NamedSession& session) {
  act_where_session_is(command, context, session);
  command.add_option("--session", session.id, "Session of the claim, as ID or ID.TOKEN")
      ->check(not_empty)
      ->required()
      ->type_name("ID")
      ->envname(session_variable);
}

void add_session_face(CLI::App& command, SessionFace& face) {
  auto& options = face.options;
  command.add_option("--id", options.id, "Id of the session (default: random)")->check(not_empty)->type_name("ID");
  command.add_option("--label", options.label, "Current work, for people")->type_name("TEXT");
  command.add_option("--codebase", options.codebase, "Codebase it works on, for people and filters")->type_name("TEXT");
  command.add_option("--track", options.track, "Line of work it belongs to")->type_name("TEXT");
  command.add_option("--meta", options.metadata, "Anything else: JSON, up to " + format_size(bounds::metadata_bytes))
      ->check(not_empty)
      ->type_name("JSON");
  add_duration(command, "--ttl", options.ttl,
               fmt::format("Stale after this long without a heartbeat: others can take its claims (default {})",
                           format_duration(options.ttl)));
  command.add_flag("--exclusive", options.exclusive, "At most one claim at a time");
  add_duration(command, "--max-age", options.max_age, "Maximum age, despite heartbeats");
  add_holder(command, face.holder);
}

CLI::Option* add_item_key(CLI::App& command, std::string& key) {
  return add_name(command, "ITEM", key, "The item's key");
}

namespace {

/// "-c", also among other letters: sh -ec '…'.
bool asks_for_one_command(std::string_view word) {
  return word.size() >= 2 && word[0] == '-' && word[1] != '-' && word.find('c') != std::string_view::npos;
}

/// A shell that was started to run one command line: it ends with that.
bool runs_one_command(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 7> shells = {"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"};
  if (words.size() < 2) return false;
  const auto program = std::string_view(words[0]).substr(words[0].rfind('/') + 1);
  return std::find(shells.begin(), shells.end(), program) != shells.end() && asks_for_one_command(words[1]);
}

}  // namespace

Result<Holder> holder_in_process(std::int64_t pid, const std::string& name) {
  if (pid == getpid()) {
    return Error{.code = Errc::invalid_argument,
                 .message = fmt::format("process {} is this command itself, which ends at once: a shell with nothing "
                                        "else to do (sh -c '... --pid $$') becomes the command; name a process that "
                                        "stays, or use `leasehold session run`",
                                        pid)};
  }
  return holder_of_process(pid, name);
}

bool ends_with_its_command(std::int64_t pid) { return runs_one_command(command_line_of(pid)); }

}  // namespace leasehold::cli
