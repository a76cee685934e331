#include "storage/postgres/caller.h"

#include <algorithm>
#include <array>
#include <string>

#include "storage/postgres/backend.h"
#include "storage/postgres/binary_rows.h"
#include "storage/postgres/pool.h"

namespace leasehold::postgres {
namespace {

using namespace std::chrono_literals;
using storage::PendingCall;
using storage::Rows;

/// A call this close to its deadline runs by itself: if it is cut off, only its own answer is lost.
constexpr Duration too_late_for_a_batch = 300ms;

bool belongs_in_batch(const PendingCall& call) { return call.deadline - BootClock::now() > too_late_for_a_batch; }

BootTime earliest_deadline(std::span<const CallGroup> groups) {
  auto earliest = BootTime::max();
  for (const auto group : groups) {
    for (const auto* call : group) earliest = std::min(earliest, call->deadline);
  }
  return earliest;
}

}  // namespace

Result<Rows> Caller::read(const storage::Statement& statement, std::span<const storage::Param> params,
                          BootTime deadline) {
  const BinaryParams none;
  const BinaryParams encoded(statement.params, params, pool_.charset());
  const std::array commands = {Command{&texts_->isolation(), &none}, Command{&texts_->of(statement), &encoded}};
  auto outcome = run(Lane::single, Bound::none, commands, deadline);
  const bool broke = outcome.failure && outcome.failure->fate == Fate::unknown;
  if (broke && BootClock::now() < deadline) outcome = run(Lane::single, Bound::none, commands, deadline);
  if (!outcome.failure) return decode_rows(outcome.results.back().get(), statement.columns);
  if (outcome.failure->fate == Fate::unknown) outcome.failure->error.code = Errc::unavailable;
  return std::move(outcome.failure->error);
}

Result<Rows> Caller::write(const storage::Statement& statement, std::span<const storage::Param> params,
                           BootTime deadline) {
  PendingCall call{.statement = &statement,
                   .params = params,
                   .deadline = deadline,
                   .alike = has_each_form(statement, dialect().each)};
  if (belongs_in_batch(call)) {
    combiner_.run(std::span(&call, 1), [this](std::span<PendingCall* const> calls) { write_batch(calls); });
    if (!call.rerun) return std::move(call.answer);
  }
  return write_singly(statement, params, deadline);
}

std::vector<Result<Rows>> Caller::write_each(std::span<const storage::Question> questions, BootTime deadline) {
  auto calls = storage::calls_for(questions, deadline);
  const bool together = !calls.empty() && belongs_in_batch(calls.front());
  if (together) combiner_.run(calls, [this](std::span<PendingCall* const> batch) { write_batch(batch); });
  std::vector<Result<Rows>> answers;
  answers.reserve(calls.size());
  for (auto& call : calls) {
    const bool rerun = !together || call.rerun;
    answers.push_back(rerun ? write_singly(*call.statement, call.params, deadline) : std::move(call.answer));
  }
  return answers;
}

Result<Rows> Caller::write_singly(const storage::Statement& statement, std::span<const storage::Param> params,
                                  BootTime deadline) {
  const auto wait = std::to_string(lock_wait_ms(deadline));
  const BinaryParams none;
  const BinaryParams bound(wait);
  const BinaryParams encoded(statement.params, params, pool_.charset());
  const std::array commands = {Command{&texts_->isolation(), &none}, Command{&texts_->bound(), &bound},
                               Command{&texts_->of(statement), &encoded}};
  auto outcome = run(Lane::single, Bound::own, commands, deadline);
  if (outcome.failure) return std::move(outcome.failure->error);
  return decode_rows(outcome.results.back().get(), statement.columns);
}

void Caller::write_batch(std::span<PendingCall* const> calls) {
  std::vector<PendingCall*> together;
  for (auto* call : calls) {
    call->rerun = !belongs_in_batch(*call);
    if (!call->rerun) together.push_back(call);
  }
  sort_for_grouping(together, dialect().each);
  bool grouped = true;
  // Each round removes the call that made the batch fail, so that the others, heartbeats among them, go on.
  while (!together.empty()) {
    const auto failed = write_together(grouped ? group_calls(together, dialect().each) : one_by_one(together));
    if (!failed) return;
    if (failed->size() > 1) {
      // Find the failed call by sending each call as a separate command.
      grouped = false;
    } else {
      failed->front()->rerun = true;
      together.erase(together.begin() + (failed->data() - together.data()));
    }
  }
}

/// Nothing: all are answered. Otherwise the failed group; all were rolled back.
std::optional<CallGroup> Caller::write_together(std::span<const CallGroup> groups) {
  const BinaryParams none;
  const BinaryParams bound(Connection::default_lock_wait_ms);
  std::vector<BinaryParams> params;
  params.reserve(groups.size());
  std::vector<Command> commands{{&texts_->isolation(), &none}, {&texts_->bound(), &bound}};
  for (const auto group : groups) commands.push_back(command_for(group, params));
  return share_out(groups, run(Lane::batch, Bound::standard, commands, earliest_deadline(groups)));
}

/// The command points into `params`, which must have room for it.
Command Caller::command_for(CallGroup group, std::vector<BinaryParams>& params) const {
  const auto& call = *group.front();
  const auto& statement = *call.statement;
  if (group.size() > 1) return {&texts_->each_of(statement), &params.emplace_back(transpose(group, pool_.charset()))};
  return {&texts_->of(statement), &params.emplace_back(statement.params, call.params, pool_.charset())};
}

std::optional<CallGroup> Caller::share_out(std::span<const CallGroup> groups, const Outcome& outcome) {
  const auto extra = outcome.prologue;
  if (!outcome.failure) {
    for (std::size_t i = 0; i < groups.size(); ++i) answer_group(groups[i], outcome.results[extra + i].get());
    return std::nullopt;
  }
  const auto& failure = *outcome.failure;
  const auto failed = groups[std::min(std::max(outcome.results.size(), extra) - extra, groups.size() - 1)];
  const bool several = groups.size() > 1 || failed.size() > 1;
  if (failure.fate == Fate::rolled_back && (several || failure.waited_too_long_for_a_lock())) return failed;
  for (const auto group : groups) {
    for (auto* call : group) call->answer = failure.error;
  }
  return std::nullopt;
}

/// Retries commands that cannot have run: on another connection if this one was closed, without names if a pooler does
/// not keep them.
Outcome Caller::run(Lane lane, Bound bound, std::span<const Command> commands, BootTime deadline) {
  constexpr int most_tries = 4;
  for (int attempt = 1;; ++attempt) {
    auto connection = pool_.take(lane, deadline);
    if (!connection) return {.failure = Failure{.fate = Fate::not_sent, .error = std::move(connection).error()}};
    // Another thread may detect the pooler meanwhile; this attempt's own naming counts.
    const Naming naming = naming_;
    const auto settings = std::size_t{bound == Bound::none ? 1U : 2U};
    const auto present = std::size_t{!(*connection)->owns_session() ? 0U : bound == Bound::standard ? 2U : 1U};
    auto outcome = (*connection)->pipeline(commands.subspan(present), naming, deadline);
    outcome.prologue = settings - present;
    if (!outcome.failure || attempt == most_tries || BootClock::now() >= deadline) return outcome;
    const bool unprepared = naming == Naming::named && outcome.failure->lost_prepared_statement();
    if (unprepared) naming_ = Naming::unnamed;
    if (!unprepared && outcome.failure->fate != Fate::not_sent) return outcome;
  }
}

}  // namespace leasehold::postgres
