#include <fmt/format.h>
#include <algorithm>

#include "base/text.h"
#include "base/time_text.h"
#include "model/words.h"
#include "session/sessions.h"

namespace leasehold::session {
namespace {

/// On one line and not too long, whatever the text is.
std::string in_brackets(std::string_view text) {
  if (text.empty()) return "";
  const auto safe = quoted(text);
  return fmt::format(" ({})", std::string_view(safe).substr(1, safe.size() - 2));
}

/// "of ann on db1 (pts/3)"
std::string describe_place(const Holder& holder) {
  auto place = " of " + holder.name;
  if (!holder.host.empty()) place += " on " + holder.host;
  constexpr std::string_view devices = "/dev/";
  std::string_view tty = holder.tty;
  if (tty.starts_with(devices)) tty.remove_prefix(devices.size());
  return place + in_brackets(tty);
}

}  // namespace

std::string describe_owner(const LeaseInfo& owner) {
  auto text = describe_session(owner.session) + in_brackets(owner.label) + describe_place(owner.holder);
  text += ", last heartbeat " + format_age(owner.heartbeat_age());
  if (owner.progress_at) text += ", last progress " + format_age(owner.store_now - *owner.progress_at);
  if (owner.taken_at) text += ", claimed " + format_age(owner.store_now - *owner.taken_at);
  if (owner.state == LeaseState::expired) return text + ", stale: free to take";
  return text + fmt::format(", frees in {} unless it heartbeats", format_duration(owner.retry_in()));
}

namespace {

constexpr std::string_view how_to_open = "open one with `leasehold session open`";

std::optional<LeaseInfo> owner_in(const sql::ClaimAnswer& answer) {
  if (!answer.session_id || !answer.holder) return std::nullopt;
  return owner_from(answer, answer.key);
}

/// For `held`, `race` and `blocked`: the owner, and when to try again if nothing else happens.
Error refused_by_owner(Errc code, std::string message, const sql::ClaimAnswer& answer) {
  Error error{.code = code, .message = std::move(message), .held_by = owner_in(answer)};
  if (!error.held_by) return error;
  error.message += " by " + describe_owner(*error.held_by);
  error.retry_at = error.held_by->expires_at;
  error.retry_in = std::max(error.held_by->retry_in(), Duration::zero());
  return error;
}

std::string describe_obstacle(const sql::ClaimAnswer& answer) {
  const auto why = answer.why.value_or("");
  if (why == "parent") return fmt::format("{}, above it,", describe_item(answer.key));
  if (why == "child") return fmt::format("{}, below it,", describe_item(answer.key));
  if (why == "dependency") return fmt::format("{}, which it depends on,", describe_item(answer.key));
  return fmt::format("{}, which it conflicts with,", describe_item(answer.key));
}

/// "item \"SD-2\", which it depends on, is not done; it is claimed"; the owner follows, if there is one.
std::string describe_obstruction(const sql::ClaimAnswer& answer) {
  const auto obstacle = describe_obstacle(answer);
  if (answer.why != "dependency") return obstacle + " is claimed";
  return obstacle + (answer.session_id ? " is not done; it is claimed" : " is not done");
}

Error unregistered(const sql::ClaimAnswer& answer, std::string_view session) {
  const auto why = answer.why.value_or("");
  const auto who = session.empty() ? "the session" : describe_session(session);
  const auto what = why == "stale"        ? "is stale: it was silent too long, or its process is gone"
                    : why == "closed"     ? "is closed"
                    : why == "superseded" ? "was reopened, and this token is from before"
                                          : "is unknown";
  return {.code = Errc::unregistered, .message = fmt::format("{} {}; {}", who, what, how_to_open)};
}

Error at_capacity(const sql::ClaimAnswer& answer, std::string_view session) {
  const auto who = session.empty() ? "the session" : describe_session(session);
  return {
      .code = Errc::at_capacity,
      .message = fmt::format("{} is exclusive and has {}: release that one, or switch", who, describe_item(answer.key)),
      .held_by = owner_in(answer)};
}

Error lost(const sql::ClaimAnswer& answer) {
  const auto why = lost_reason_from(answer.why.value_or(""));
  auto message =
      fmt::format("the claim of {} is lost: {}", describe_item(answer.key),
                  why == LostReason::expired ? "its session was silent too long"
                                             : lease::describe_loss(why, quoted(answer.end_detail.value_or(""))));
  auto current = owner_in(answer);
  const bool taken_over = why == LostReason::expired || why == LostReason::superseded;
  if (current && taken_over) message += "; now with " + describe_session(current->session);
  return {.code = Errc::lost, .message = std::move(message), .lost_reason = why, .held_by = std::move(current)};
}

Error busy(const sql::ClaimAnswer& answer, std::string_view item) {
  if (answer.why == "children") {
    return {.code = Errc::busy, .message = describe_item(item) + " has children: remove them first"};
  }
  return {.code = Errc::busy,
          .message = describe_item(item) + " is stale, but its session is finishing a write; try again",
          .held_by = owner_in(answer)};
}

}  // namespace

std::string describe_session(std::string_view id) { return "session " + quoted(id); }

std::string describe_item(std::string_view key) { return "item " + quoted(key); }

Error no_such_session(std::string_view id) {
  return {.code = Errc::not_found, .message = fmt::format("{} is unknown; {}", describe_session(id), how_to_open)};
}

Error no_such_item(std::string_view key) {
  return {.code = Errc::not_found, .message = describe_item(key) + " does not exist: add it first"};
}

Error session_refusal(const sql::LeaseAnswer& answer, std::string_view id) {
  if (answer.outcome.refusal() == Errc::not_found) return no_such_session(id);
  return lease::refusal_from(answer, describe_session(id));
}

Error claim_refusal(const sql::ClaimAnswer& answer, std::string_view item, std::string_view session) {
  const auto what = describe_item(item);
  const auto code = answer.outcome.refusal();
  switch (code) {
    case Errc::held: return refused_by_owner(code, what + " is claimed", answer);
    case Errc::race: return refused_by_owner(code, what + " was taken at the same moment", answer);
    case Errc::blocked:
      return refused_by_owner(code, fmt::format("{} is blocked: {}", what, describe_obstruction(answer)), answer);
    case Errc::unregistered: return unregistered(answer, session);
    case Errc::at_capacity: return at_capacity(answer, session);
    case Errc::lost: return lost(answer);
    case Errc::busy: return busy(answer, item);
    case Errc::not_found: return no_such_item(answer.key);
    case Errc::terminal: return {.code = code, .message = what + " is done: reopen it to work on it again"};
    default: return odd_answer(what, answer.outcome.word());
  }
}

Error stale_session(std::string_view session) {
  sql::ClaimAnswer answer;
  answer.why = "stale";
  return unregistered(answer, session);
}

Error no_next_item(const sql::ClaimAnswer& answer, std::string_view parent, std::string_view session) {
  const auto where = parent.empty() ? std::string() : " below " + describe_item(parent);
  const auto code = answer.outcome.refusal();
  switch (code) {
    case Errc::empty: return {.code = code, .message = fmt::format("no item is left to take{}", where)};
    case Errc::held:
      return refused_by_owner(
          code, fmt::format("no item is free{}; the first may be {}, claimed", where, describe_item(answer.key)),
          answer);
    case Errc::blocked:
      return refused_by_owner(
          code,
          answer.why == "dependency"
              ? fmt::format("no item is free{}: the next one waits for {}, which {}", where, describe_item(answer.key),
                            answer.session_id ? "is claimed" : "no session works on")
              : fmt::format("no item is free{}: {}", where, describe_obstruction(answer)),
          answer);
    case Errc::busy:
      return {.code = code, .message = "other sessions are taking the last items at this moment; try again"};
    default: return claim_refusal(answer, answer.key, session);
  }
}

Error path_refusal(const sql::ClaimAnswer& answer, std::string_view session) {
  const auto code = answer.outcome.refusal();
  const auto place = place_of_path(answer.key);
  switch (code) {
    case Errc::held: {
      auto error = refused_by_owner(code, fmt::format("{} is in the way, claimed", describe_path(place)), answer);
      if (error.held_by) {
        error.held_by->kind = "path";
        error.held_by->key = place.path;
      }
      return error;
    }
    case Errc::busy:
      return {
          .code = code,
          .message = describe_path(place) + " is in the way: its session is stale, but finishing a write; try again"};
    case Errc::unregistered: return unregistered(answer, session);
    default: return odd_answer("paths of " + describe_session(session), answer.outcome.word());
  }
}

Result<Claim> claim_from(Result<sql::ClaimAnswer> answer, std::string_view item, std::string_view session) {
  if (!answer) return std::move(answer).error();
  if (!answer->outcome.done()) return claim_refusal(*answer, item, session);
  return Claim{.key = std::move(answer->key),
               .token = {answer->token.value_or(0)},
               .session = std::move(answer->session_id).value_or(""),
               .taken_at = answer->taken_at.value_or(Timestamp{}),
               .expires_at = answer->expires_at.value_or(Timestamp{}),
               .previous_session = std::move(answer->previous_session).value_or(""),
               .previous_holder = lease::holder_named(std::move(answer->previous_holder)),
               .created = answer->created,
               .replayed = answer->replayed};
}

}  // namespace leasehold::session
