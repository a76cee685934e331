// Operators' actions on chunks and sets: skip, reset, remove, tie a job to them.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "chunk/chunks.h"
#include "lease/call.h"
#include "model/bounds.h"
#include "model/words.h"
#include "storage/query.h"

namespace leasehold {
namespace chunk {
namespace {

// Chunks in one transaction: other writers of a SQLite file wait for it.
constexpr std::size_t reset_batch = 1000;

Error tie_refusal(const sql::ChunkTieJob::Row& answer, std::string_view set, JobId job) {
  const auto what = fmt::format("job {}", job);
  const auto why = answer.why.value_or("");
  const auto code = answer.outcome.refusal();
  switch (code) {
    case Errc::lost: return lost_error(what, why);
    case Errc::not_found:
      return why == "set" ? no_such_set(set) : Error{.code = code, .message = what + " does not exist"};
    case Errc::terminal:
      return {.code = code, .message = fmt::format("{} is already {}", what, answer.state.value_or("final"))};
    case Errc::busy:
      return {.code = code, .message = what + " is running or waits for other jobs, so it cannot wait for the set"};
    default: return odd_answer(what, answer.outcome.word());
  }
}

}  // namespace
}  // namespace chunk

Result<ChunkState> Chunks::skip(std::string_view set, std::string_view key, std::string_view reason) const {
  if (auto checked = check_chunk(set, key); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  const sql::ChunkSkip statement{.set_name = set, .key = key, .reason = reason};
  auto answer = impl_->new_call().ask(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return ChunkState::skipped;
  switch (answer->outcome.refusal()) {
    case Errc::held: return chunk::held_error(*answer, set, key);
    case Errc::terminal: return chunk::terminal_error(set, key, answer->state.value_or("final"));
    case Errc::not_found: return chunk::no_such_chunk(set, key);
    default: return chunk::odd_answer(chunk::describe(set, key), answer->outcome.word());
  }
}

Result<ChunkResetOutcome> Chunks::reset(std::string_view set, const ChunkReset& reset) const {
  if (auto checked = check_name("set name", set); !checked) return std::move(checked).error();
  if (auto checked = check_chunk_reset(reset); !checked) return std::move(checked).error();
  const std::vector<std::string_view> keys(reset.keys.begin(), reset.keys.end());
  std::span<const std::string_view> keys_left(keys);
  std::string after_key;
  ChunkResetOutcome total{.set = std::string(set)};
  for (;;) {
    const auto some = keys_left.first(std::min(keys_left.size(), chunk::reset_batch));
    keys_left = keys_left.subspan(some.size());
    sql::ChunkReset statement{.set_name = set, .which = to_string(reset.which), .keys = some};
    if (reset.which == ChunkReset::Which::older) statement.older_than = reset.older_than;
    statement.from_start = reset.from_start;
    statement.after_key = after_key;
    statement.batch = std::int64_t{chunk::reset_batch};
    auto answer = impl_->new_call().ask(statement);
    if (!answer) return std::move(answer).error();
    if (!answer->outcome.done()) return chunk::set_refusal(answer->outcome, set);
    total.reset += answer->reset;
    total.running += answer->running;
    total.missing += answer->missing;
    if (!answer->more && keys_left.empty()) return total;
    after_key = std::move(answer->last_key);
  }
}

Result<JobState> Chunks::tie_job(std::string_view set, JobId job, std::optional<Token> token) const {
  if (auto checked = check_name("set name", set); !checked) return std::move(checked).error();
  sql::ChunkTieJob statement{.set_name = set, .job_id = job};
  if (token) statement.token = token->value;
  auto answer = impl_->new_call().ask_until_free(statement);
  if (!answer) return std::move(answer).error();
  if (!answer->outcome.done()) return chunk::tie_refusal(*answer, set, job);
  const auto state = from_word<JobState>(answer->state.value_or(""));
  if (!state) return chunk::odd_answer(chunk::describe(set), answer->state.value_or(""));
  return *state;
}

Result<std::int64_t> Chunks::remove(std::string_view set) const {
  if (auto checked = check_name("set name", set); !checked) return std::move(checked).error();
  const sql::ChunkSetRemove statement{.set_name = set, .batch = defaults::sweep_batch};
  auto answer = impl_->new_call().ask(statement);
  if (!answer) return std::move(answer).error();
  lease::sweep<sql::ChunkSweep>(*impl_);
  if (answer->outcome.done()) return answer->chunks;
  if (answer->outcome.refusal() != Errc::held) return chunk::set_refusal(answer->outcome, set);
  return Error{.code = Errc::held,
               .message = chunk::describe(set) + " has chunks that are being loaded: wait for them"};
}

}  // namespace leasehold
