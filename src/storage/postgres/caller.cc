#include "storage/postgres/caller.h"

#include <algorithm>
#include <array>
#include <string>

#include "storage/postgres/deadlines.h"

namespace leasehold::postgres {
namespace {

using namespace std::chrono_literals;
using storage::Call;
using storage::Rows;

/// A call this close to its deadline goes alone: when it is cut off, only its own answer is lost.
constexpr Duration too_late_for_a_batch = 300ms;

bool belongs_in_batch(const Call& call) { return call.deadline - BootClock::now() > too_late_for_a_batch; }

}  // namespace

Result<Rows> Caller::read(const storage::Statement& statement, std::span<const storage::Param> params,
                          BootTime deadline) {
  const BinaryParams encoded(statement.params, params);
  const std::array commands = {Command{&texts_->of(statement), &encoded}};
  auto outcome = run(Lane::single, Bound::none, commands, deadline);
  const bool broke = outcome.failure && outcome.failure->fate == Fate::unknown;
  if (broke && BootClock::now() < deadline) outcome = run(Lane::single, Bound::none, commands, deadline);
  if (!outcome.failure) return decode_rows(outcome.results.back().get(), statement.columns);
  if (outcome.failure->fate == Fate::unknown) outcome.failure->error.code = Errc::unavailable;
  return std::move(outcome.failure->error);
}

Result<Rows> Caller::write(const storage::Statement& statement, std::span<const storage::Param> params,
                           BootTime deadline) {
  Call call{.statement = &statement, .params = params, .deadline = deadline};
  if (belongs_in_batch(call)) {
    auto answer = combiner_.run(call, [this](std::span<Call* const> calls) { write_batch(calls); });
    if (!call.alone) return answer;
  }
  return write_alone(statement, params, deadline);
}

Result<Rows> Caller::write_alone(const storage::Statement& statement, std::span<const storage::Param> params,
                                 BootTime deadline) {
  const auto wait = std::to_string(lock_wait_ms(deadline));
  const BinaryParams bound(wait);
  const BinaryParams encoded(statement.params, params);
  const std::array commands = {Command{&texts_->bound(), &bound}, Command{&texts_->of(statement), &encoded}};
  auto outcome = run(Lane::single, Bound::own, commands, deadline);
  if (outcome.failure) return std::move(outcome.failure->error);
  return decode_rows(outcome.results.back().get(), statement.columns);
}

void Caller::write_batch(std::span<Call* const> calls) {
  std::vector<Call*> together;
  for (auto* call : calls) {
    call->alone = !belongs_in_batch(*call);
    if (!call->alone) together.push_back(call);
  }
  // Each round takes out the one that made the batch fail, so that the others, heartbeats among them, go on.
  while (!together.empty()) {
    const auto failed = write_together(together);
    if (!failed) return;
    together.erase(together.begin() + static_cast<std::ptrdiff_t>(*failed));
  }
}

/// Nothing: all are answered. Otherwise which one failed: it has to go alone, and nothing has happened to any.
std::optional<std::size_t> Caller::write_together(std::span<Call* const> calls) {
  const BinaryParams bound(Connection::usual_lock_wait_ms);
  std::vector<BinaryParams> params;
  params.reserve(calls.size());
  std::vector<Command> commands{{&texts_->bound(), &bound}};
  auto deadline = calls.front()->deadline;
  for (const auto* call : calls) {
    commands.push_back({&texts_->of(*call->statement), &params.emplace_back(call->statement->params, call->params)});
    deadline = std::min(deadline, call->deadline);
  }
  return share_out(calls, run(Lane::batch, Bound::usual, commands, deadline));
}

std::optional<std::size_t> Caller::share_out(std::span<Call* const> calls, Outcome outcome) {
  // Where the bound was sent, the first result is its.
  const auto extra = outcome.bound_sent ? std::size_t{1} : std::size_t{0};
  if (!outcome.failure) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      calls[i]->answer = decode_rows(outcome.results[extra + i].get(), calls[i]->statement->columns);
    }
    return std::nullopt;
  }
  const auto& failure = *outcome.failure;
  const auto failed = std::min(std::max(outcome.results.size(), extra) - extra, calls.size() - 1);
  if (failure.fate == Fate::rolled_back && (calls.size() > 1 || failure.waited_too_long_for_a_lock())) {
    calls[failed]->alone = true;
    return failed;
  }
  for (auto* call : calls) call->answer = failure.error;
  return std::nullopt;
}

/// What cannot have been run is run again: on another connection when this one was closed under us, without
/// names when a pooler does not keep them.
Outcome Caller::run(Lane lane, Bound bound, std::span<const Command> commands, BootTime deadline) {
  constexpr int most_tries = 4;
  for (int attempt = 1;; ++attempt) {
    auto connection = pool_.take(lane, deadline);
    if (!connection) return {.failure = Failure{.fate = Fate::not_sent, .error = std::move(connection).error()}};
    // Another thread may learn of the pooler meanwhile; what counts is how this one asked.
    const Naming naming = naming_;
    const bool bound_already = bound == Bound::usual && (*connection)->owns_session();
    auto outcome = (*connection)->pipeline(commands.subspan(bound_already ? 1 : 0), naming, deadline);
    outcome.bound_sent = !bound_already;
    if (!outcome.failure || attempt == most_tries || BootClock::now() >= deadline) return outcome;
    const bool unprepared = naming == Naming::named && outcome.failure->lost_prepared_statement();
    if (unprepared) naming_ = Naming::unnamed;
    if (!unprepared && outcome.failure->fate != Fate::not_sent) return outcome;
  }
}

}  // namespace leasehold::postgres
