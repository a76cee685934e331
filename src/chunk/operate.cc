// What operators do to chunks and sets: skip, reset, remove, tie a job to them.
#include <fmt/format.h>

#include "base/names.h"
#include "chunk/answer.h"
#include "chunk/chunks.h"
#include "core/chunk_limits.h"
#include "core/limits.h"
#include "lease/retry.h"
#include "storage/query.h"

namespace leasehold {
namespace chunk {
namespace {

Error tie_refusal(const sql::ChunkTieJob::Row& answer, std::string_view set, JobId job) {
  const auto what = fmt::format("job {}", job);
  const auto why = answer.why.value_or("");
  if (answer.outcome == "lost") return lost_error(what, why);
  if (answer.outcome == "not_found" && why == "set") return no_such_set(set);
  if (answer.outcome == "not_found") return {.code = Errc::not_found, .message = what + " does not exist"};
  if (answer.outcome == "terminal") {
    return {.code = Errc::terminal, .message = fmt::format("{} is {} already", what, answer.state.value_or("final"))};
  }
  if (answer.outcome == "busy") {
    return {.code = Errc::busy, .message = what + " is running or waits for other jobs: it cannot wait for the set"};
  }
  return odd_answer(what, answer.outcome);
}

}  // namespace
}  // namespace chunk

Result<ChunkState> Chunks::skip(std::string_view set, std::string_view key, std::string_view reason) const {
  if (auto checked = check_chunk(set, key); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  const sql::ChunkSkip statement{.set_name = set, .key = key, .reason = reason};
  auto answer = storage::query_one(*impl_->backend, statement, impl_->deadline());
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "skipped") return ChunkState::skipped;
  if (answer->outcome == "held") return chunk::held_error(*answer, set, key);
  if (answer->outcome == "terminal") return chunk::terminal_error(set, key, answer->state.value_or("final"));
  if (answer->outcome == "not_found") return chunk::no_such_chunk(set, key);
  return chunk::odd_answer(chunk::describe(set, key), answer->outcome);
}

Result<ChunkResetOutcome> Chunks::reset(std::string_view set, const ChunkReset& reset) const {
  if (auto checked = check_name("set name", set); !checked) return std::move(checked).error();
  if (auto checked = check_chunk_reset(reset); !checked) return std::move(checked).error();
  const std::vector<std::string_view> keys(reset.keys.begin(), reset.keys.end());
  sql::ChunkReset statement{.set_name = set, .which = to_string(reset.which), .keys = keys};
  if (reset.which == ChunkReset::Which::older) statement.older_than = reset.older_than;
  statement.from_start = reset.from_start;
  auto answer = storage::query_one(*impl_->backend, statement, impl_->deadline());
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "not_found") return chunk::no_such_set(set);
  if (answer->outcome != "ok") return chunk::odd_answer(chunk::describe(set), answer->outcome);
  return ChunkResetOutcome{.reset = answer->reset, .running = answer->running, .missing = answer->missing};
}

Result<JobState> Chunks::tie_job(std::string_view set, JobId job, std::optional<Token> token) const {
  if (auto checked = check_name("set name", set); !checked) return std::move(checked).error();
  sql::ChunkTieJob statement{.set_name = set, .job_id = job};
  if (token) statement.token = token->value;
  const auto deadline = impl_->deadline();
  auto answer =
      lease::ask_until_free(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome != "tied") return chunk::tie_refusal(*answer, set, job);
  const auto state = job_state_from(answer->state.value_or(""));
  if (!state) return chunk::odd_answer(chunk::describe(set), answer->state.value_or(""));
  return *state;
}

Result<std::int64_t> Chunks::remove(std::string_view set) const {
  if (auto checked = check_name("set name", set); !checked) return std::move(checked).error();
  auto answer = storage::query_one(*impl_->backend, sql::ChunkSetRemove{.set_name = set}, impl_->deadline());
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "removed") return answer->chunks;
  if (answer->outcome == "not_found") return chunk::no_such_set(set);
  if (answer->outcome != "held") return chunk::odd_answer(chunk::describe(set), answer->outcome);
  return Error{.code = Errc::held,
               .message = chunk::describe(set) + " has chunks that are being loaded: wait for them"};
}

}  // namespace leasehold
