// The tools of the server, described as acts are. Those for claims and locks know sessions; the others are acts.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "act/act.h"
#include "mcp/desk.h"
#include "model/describe.h"

namespace leasehold::mcp {

using model::Described;
using model::field;
using model::fields_of;
using model::inlined;
using model::Type;

enum class Toolset { claims, locks, jobs, chunks, schedules, rows };

/// The detail of an error that names the session: a call may have opened it.
inline constexpr char session_detail[] = "session";

struct Tool {
  std::string_view name{};  ///< "claim_next"
  std::string_view help{};  ///< for the model: what it does, when to use it
  bool reads = false;
  bool idempotent = false;
  bool waits = false;  ///< may wait, as `wait_seconds` says
  /// Its answers say `granted`, and a refusal that waiting can change is a normal one. Otherwise every refusal is an
  /// error.
  bool asks = false;

  Described (*arguments)() = nullptr;
  Described (*answer)() = nullptr;
  std::shared_ptr<void> (*fresh)() = nullptr;
  Result<act::Answer> (*perform)(Desk& desk, const void* arguments, const std::stop_token& stop) = nullptr;
  const act::Act* act = nullptr;  ///< instead of `perform`
  Toolset toolset = Toolset::claims;
};

/// The tools of some toolsets, in their order.
std::vector<Tool> tools_of(std::span<const Toolset> toolsets);

/// Nothing for an unknown word.
std::optional<Toolset> toolset_from(std::string_view word);
const std::vector<std::string>& toolset_words();

/// {"name":...,"description":...,"inputSchema":...,"outputSchema":...,"annotations":...}
/// Its schemas are small: every client sends them to its model with every conversation. Objects inside of an answer are
/// named only.
std::string describe_tool(const Tool& tool);

/// What tools/call returns.
struct Outcome {
  std::string text{};        ///< for the model
  std::string structured{};  ///< JSON; empty: none
  bool is_error = false;
  bool bad_arguments = false;
  std::string_view code = "ok";  ///< for counts: the word of a refusal, also of one that is an answer
};

Outcome call_tool(Desk& desk, const Tool& tool, std::string_view arguments, const std::stop_token& stop);

namespace detail {
template <typename F>
struct Performs;
template <typename A, typename R>
struct Performs<Result<R> (*)(Desk&, const A&, const std::stop_token&)> {
  using Arguments = A;
  using Answer = R;
};
}  // namespace detail

/// Describes the tool that `function` performs.
template <auto function>
constexpr Tool tool(Tool described) {
  using Arguments = typename detail::Performs<decltype(function)>::Arguments;
  using Answered = typename detail::Performs<decltype(function)>::Answer;
  described.arguments = model::described<Arguments>;
  described.answer = model::described<Answered>;
  described.fresh = []() -> std::shared_ptr<void> { return std::make_shared<Arguments>(); };
  described.perform = [](Desk& desk, const void* given, const std::stop_token& stop) -> Result<act::Answer> {
    auto answer = function(desk, *static_cast<const Arguments*>(given), stop);
    if (!answer) return std::move(answer).error();
    return act::Answer{std::make_shared<const Answered>(std::move(*answer)), model::described<Answered>()};
  };
  return described;
}

/// The refusal of a call that names neither the session nor the token.
Error no_proof();
/// The refusal with the session in it: this call may have opened it.
Error with_session(Error error, const SessionHandle& session);

std::span<const Tool> session_tools();
std::span<const Tool> item_tools();
std::span<const Tool> claim_tools();
std::span<const Tool> path_tools();
std::span<const Tool> lock_tools();

/// Whether the refusal is an answer: the thing exists, and is not to be had now.
constexpr bool is_answer(Errc code) {
  return code == Errc::held || code == Errc::busy || code == Errc::empty || code == Errc::at_capacity ||
         code == Errc::paused || code == Errc::not_due || code == Errc::rate_limited || code == Errc::race ||
         code == Errc::blocked;
}

}  // namespace leasehold::mcp
