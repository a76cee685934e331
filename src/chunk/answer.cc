#include "chunk/chunks.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/time_text.h"
#include "model/words.h"

namespace leasehold::chunk {
namespace {

std::optional<Duration> retry_in(const sql::ChunkClaimed& answer) {
  if (!answer.retry_at) return std::nullopt;
  return *answer.retry_at - answer.store_now;
}

/// The requested chunk, or the one that frees first.
Error claim_held(const sql::ChunkClaimed& answer, std::string_view set, std::string_view key) {
  const auto holds = answer.held_key ? std::string_view(*answer.held_key) : key;
  const auto current = lease::present_lease(answer, "chunk", full_key(set, holds));
  auto message = key.empty() ? "every open chunk of " + quoted(set) + " is being loaded" : describe(set, key);
  if (current) message += (key.empty() ? "; the first to free is " : " is ") + lease::describe_holding(*current);
  return {.code = Errc::held,
          .message = std::move(message),
          .held_by = current,
          .retry_at = answer.retry_at,
          .retry_in = retry_in(answer)};
}

Error claim_empty(const sql::ChunkClaimed& answer, std::string_view set) {
  const auto soon = retry_in(answer);
  const auto why = answer.why.value_or("");
  auto message = why == "deferred" ? "every open chunk of " + quoted(set) + " is backing off"
                                   : fmt::format("{} is {}: nothing is left to load", describe(set), why);
  if (soon) message += "; try again in " + format_duration(*soon);
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
          .message = fmt::format("{} is {}: reset it to load it again", describe(set, key), state)};
}

Error claim_refusal(const sql::ChunkClaimed& answer, std::string_view set, std::string_view key) {
  const auto why = answer.why.value_or("");
  switch (answer.outcome.refusal()) {
    case Errc::held: return claim_held(answer, set, key);
    case Errc::empty: return claim_empty(answer, set);
    case Errc::terminal: return terminal_error(set, key, why);
    case Errc::not_found: return why == "chunk" ? no_such_chunk(set, key) : no_such_set(set);
    case Errc::busy:
      return {.code = Errc::busy, .message = describe(set) + ": other loaders are claiming its chunks; try again"};
    case Errc::lost: return lost_error("the lease of this claim", why);
    default: return odd_answer(describe(set), answer.outcome.word());
  }
}

Error set_refusal(const storage::Outcome& outcome, std::string_view set) {
  return outcome.refusal() == Errc::not_found ? no_such_set(set) : odd_answer(describe(set), outcome.word());
}

Result<ChunkSettled> settled_from(const sql::ChunkSettle::Row& answer, std::string_view set, std::string_view key) {
  if (answer.outcome.done()) {
    const auto state = from_word<ChunkState>(answer.state.value_or(""));
    const auto set_state = from_word<ChunkSetState>(answer.set_state.value_or(""));
    if (!state || !set_state) {
      return odd_answer(describe(set, key), answer.state.value_or("") + "/" + answer.set_state.value_or(""));
    }
    return ChunkSettled{.set = std::string(set),
                        .key = std::string(key),
                        .state = *state,
                        .due_at = answer.due_at,
                        .set_state = *set_state,
                        .replayed = answer.replayed};
  }
  return settle_refusal(answer, set, key);
}

}  // namespace leasehold::chunk
