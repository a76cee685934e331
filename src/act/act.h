// Every operation of the public API, described once: its name, arguments, answer, scope, refusals, an example.
//
//   const auto* claim = act::find("job.claim");
//   auto answer = act::call(store, *claim, R"({"queue":"mail","max":10})");
//   print(answer ? *answer : model::to_json(answer.error()));
//
// The tables are in one file per feature: lock.cc, job.cc, queue.cc ... The templates of this file only describe;
// everything that reads a table is an ordinary function.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/call.h"
#include "leasehold/result.h"
#include "leasehold/store.h"
#include "model/field.h"

namespace leasehold::act {

/// An answer, and how it is described.
struct Answer {
  std::shared_ptr<const void> at{};
  model::Described type{};
};

struct Act {
  std::string_view name{};           ///< "job.claim"
  std::string_view help{};           ///< one line, in the imperative
  Scope scope = Scope::read;         ///< what a database role needs for it
  bool reads = false;                ///< changes nothing, though its scope is not `read`
  std::string_view sql{};            ///< its SQL function; empty: SQL reads views, or has no such function
  bool idempotent = false;           ///< the same arguments again change nothing more
  bool waits = false;                ///< may wait, as `wait_seconds` says
  bool patient = false;              ///< waits as long as it takes, unless `wait_seconds` says otherwise
  bool reveals = false;              ///< its answer has a secret, which the store must not keep
  bool local = false;                ///< about the caller's own process, so not for other machines
  std::span<const Errc> refusals{};  ///< besides those that every act may answer
  std::string_view example{};        ///< arguments, as JSON

  // From the function that performs it.
  model::Described (*arguments)() = nullptr;
  model::Described (*answer)() = nullptr;
  std::shared_ptr<void> (*fresh)() = nullptr;  ///< arguments with their defaults
  Result<Answer> (*perform)(const Store& store, const void* arguments, const Call& call) = nullptr;
};

/// All acts, by feature.
const std::vector<Act>& all();
/// Nothing for an unknown name.
const Act* find(std::string_view name);

/// The error for that, with the name that was probably meant.
Error unknown_act(std::string_view name);

/// An act of scope `read` changes nothing.
inline bool only_reads(const Act& act) { return act.scope == Scope::read || act.reads; }

/// Whether the act asks for something that another holder may have: claim, acquire, take, next. Over HTTP and MCP an
/// ordinary refusal of such an act is an answer with `granted` false.
bool asks(const Act& act);

/// Whether the act may be refused with this code.
bool may_answer(const Act& act, Errc code);

/// Reads and checks the arguments, and performs the act. The holder of a claim is call.holder, under the name that the
/// arguments give.
Result<Answer> perform(const Store& store, const Act& act, std::string_view arguments, const Call& call = {});
/// The same; the answer as JSON. A caller without scope `admin` gets it without the proofs of other holders.
Result<std::string> call(const Store& store, const Act& act, std::string_view arguments, const Call& call = {},
                         model::Proofs proofs = model::Proofs::shown);
/// The same by name; a refusal is {"error":{...}}.
std::string call(const Store& store, std::string_view name, std::string_view arguments, const Call& call = {});

/// "read", "produce", "work", "admin".
std::string_view word_of(Scope scope);

/// Everything about every act, as JSON: api/acts.json.
std::string catalogue();

// The objects that a call touches, and whether the patterns of an API token (TokenInfo::only) allow them.

/// An object by its kind, one of pattern_kinds or "job", and its name. No name: all objects of the kind. No kind: the
/// whole store.
struct Touched {
  std::string_view kind{};
  std::string name{};

  bool operator==(const Touched&) const = default;
};

/// From the arguments alone. `invalid_argument` if they cannot be read.
Result<std::vector<Touched>> touched_by(const Act& act, std::string_view arguments);

/// `denied` if the patterns do not allow everything that the call touches. A job belongs to its queue: for an id it
/// asks the store. Without patterns it does nothing.
Result<void> check_touch(const Store& store, const Act& act, std::string_view arguments,
                         std::span<const std::string> only);

template <Errc... codes>
inline constexpr std::array<Errc, sizeof...(codes)> refusals = {codes...};

namespace detail {
template <typename F>
struct Performs;
template <typename A, typename R>
struct Performs<Result<R> (*)(const Store&, const A&, const Call&)> {
  using Arguments = A;
  using Answer = R;
};
}  // namespace detail

/// Describes the act that `function` performs.
template <auto function>
constexpr Act act(Act described) {
  using Arguments = typename detail::Performs<decltype(function)>::Arguments;
  using Answered = typename detail::Performs<decltype(function)>::Answer;
  described.arguments = model::described<Arguments>;
  described.answer = model::described<Answered>;
  described.fresh = []() -> std::shared_ptr<void> { return std::make_shared<Arguments>(); };
  described.perform = [](const Store& store, const void* arguments, const Call& call) -> Result<Answer> {
    auto answer = function(store, *static_cast<const Arguments*>(arguments), call);
    if (!answer) return std::move(answer).error();
    return Answer{std::make_shared<const Answered>(std::move(*answer)), model::described<Answered>()};
  };
  return described;
}

// The tables, one per feature.
std::span<const Act> lock_acts();
std::span<const Act> job_acts();
std::span<const Act> job_settle_acts();
std::span<const Act> job_look_acts();
std::span<const Act> queue_acts();
std::span<const Act> chunk_acts();
std::span<const Act> chunk_set_acts();
std::span<const Act> session_acts();
std::span<const Act> item_acts();
std::span<const Act> claim_acts();
std::span<const Act> claim_hand_over_acts();
std::span<const Act> path_acts();
std::span<const Act> schedule_acts();
std::span<const Act> schedule_look_acts();
std::span<const Act> rate_acts();
std::span<const Act> row_acts();
std::span<const Act> lease_acts();
std::span<const Act> store_acts();
std::span<const Act> access_acts();

}  // namespace leasehold::act
