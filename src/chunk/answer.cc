#include "chunk/answer.h"

#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "core/duration.h"

namespace leasehold::chunk {
namespace {

std::optional<Duration> retry_in(const sql::ChunkClaimed& answer) {
  if (!answer.retry_at) return std::nullopt;
  return *answer.retry_at - answer.store_now;
}

/// One that was asked for by its key, or the one of all that frees first.
Error claim_held(const sql::ChunkClaimed& answer, std::string_view set, std::string_view key) {
  const auto holds = answer.key ? std::string_view(*answer.key) : key;
  const auto current = lease::present_lease(answer, "chunk", full_key(set, holds));
  auto message = key.empty() ? "every open chunk of " + quoted(set) + " is being loaded" : describe(set, key);
  if (current) message += (key.empty() ? "; the first to free is " : " is ") + lease::describe_holding(*current);
  return {.code = Errc::held,
          .message = std::move(message),
          .current = current,
          .retry_at = answer.retry_at,
          .retry_in = retry_in(answer)};
}

Error claim_empty(const sql::ChunkClaimed& answer, std::string_view set) {
  const auto soon = retry_in(answer);
  const auto why = answer.why.value_or("");
  auto message = why == "deferred" ? "every open chunk of " + quoted(set) + " backs off"
                                   : fmt::format("{} is {}: nothing is left to load", describe(set), why);
  if (soon) message += "; look again in " + format_duration(*soon);
  return {.code = Errc::empty, .message = std::move(message), .retry_at = answer.retry_at, .retry_in = soon};
}

}  // namespace

std::string describe(std::string_view set) { return "chunk set " + quoted(set); }

std::string describe(std::string_view set, std::string_view key) {
  return fmt::format("chunk {} of {}", quoted(key), quoted(set));
}

std::string full_key(std::string_view set, std::string_view key) { return fmt::format("{}/{}", set, key); }

Error no_such_set(std::string_view set) {
  return {.code = Errc::not_found, .message = describe(set) + " does not exist: plan it first"};
}

Error no_such_chunk(std::string_view set, std::string_view key) {
  return {.code = Errc::not_found, .message = describe(set, key) + " does not exist"};
}

Error terminal_error(std::string_view set, std::string_view key, std::string_view state) {
  return {.code = Errc::terminal,
          .message = fmt::format("{} is {}: reset it to have it loaded again", describe(set, key), state)};
}

Error claim_refusal(const sql::ChunkClaimed& answer, std::string_view set, std::string_view key) {
  const auto why = answer.why.value_or("");
  if (answer.outcome == "held") return claim_held(answer, set, key);
  if (answer.outcome == "empty") return claim_empty(answer, set);
  if (answer.outcome == "terminal") return terminal_error(set, key, why);
  if (answer.outcome == "not_found") return why == "chunk" ? no_such_chunk(set, key) : no_such_set(set);
  if (answer.outcome == "busy") {
    return {.code = Errc::busy, .message = describe(set) + " has chunks, but others are just at them; try again"};
  }
  if (answer.outcome == "lost") return lost_error("the lease of this claim", why);
  return odd_answer(describe(set), answer.outcome);
}

Error heartbeat_refusal(const sql::ChunkHeartbeat::Row& answer, std::string_view set, std::string_view key) {
  if (answer.outcome == "not_found") return no_such_chunk(set, key);
  if (answer.outcome != "lost") return odd_answer(describe(set, key), answer.outcome);
  return lost_error(describe(set, key), answer.why.value_or(""),
                    lease::present_holder(answer, "chunk", full_key(set, key)));
}

Result<ChunkSettled> settled_from(const sql::ChunkSettle::Row& answer, std::string_view set, std::string_view key) {
  const auto what = describe(set, key);
  if (answer.outcome == "settled") {
    const auto state = chunk_state_from(answer.state.value_or(""));
    const auto set_state = chunk_set_state_from(answer.set_state.value_or(""));
    if (!state || !set_state) return odd_answer(what, answer.state.value_or("") + "/" + answer.set_state.value_or(""));
    return ChunkSettled{.state = *state, .due_at = answer.due_at, .set_state = *set_state, .replayed = answer.replayed};
  }
  if (answer.outcome == "not_found") return no_such_chunk(set, key);
  if (answer.outcome != "lost") return odd_answer(what, answer.outcome);
  return lost_error(what, answer.why.value_or(""), lease::present_holder(answer, "chunk", full_key(set, key)));
}

}  // namespace leasehold::chunk
