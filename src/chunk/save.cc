// Chunks::heartbeat and the verdicts.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "chunk/chunks.h"
#include "lease/call.h"
#include "model/bounds.h"
#include "model/words.h"
#include "storage/query.h"

namespace leasehold {
namespace chunk {

Result<void> check_save(std::string_view set, std::string_view key, const ChunkSave& save) {
  if (auto checked = check_chunk(set, key); !checked) return checked;
  return check_chunk_save(save);
}

Result<void> check_settlement(const ChunkSettlement& settlement) {
  if (auto checked = check_chunk(settlement.set, settlement.key); !checked) return checked;
  return check_chunk_verdict(settlement.verdict);
}

sql::ChunkHeartbeat heartbeat_statement(std::string_view set, std::string_view key, Token token,
                                        const ChunkSave& save) {
  sql::ChunkHeartbeat statement{.set_name = set, .key = key, .token = token.value};
  statement.cursor = save.cursor;
  statement.rows = save.rows;
  return statement;
}

VerdictStatement::VerdictStatement(const ChunkSettlement& settlement)
    : statement_{.set_name = settlement.set, .key = settlement.key, .token = settlement.token.value} {
  const auto& verdict = settlement.verdict;
  statement_.verdict = word_of(verdict.kind);
  statement_.cursor = verdict.cursor;
  statement_.rows = verdict.rows;
  statement_.retryable = verdict.retryable;
  if (verdict.kind == Verdict::Kind::fail) {
    error_ = clean_text(verdict.text, bounds::error_bytes);
    statement_.delay = verdict.delay;
  } else {
    error_ = verdict.text;
  }
  if (!error_.empty()) statement_.error = error_;
}

namespace {

/// Verdicts sent together.
constexpr std::size_t max_together = 64;

}  // namespace
}  // namespace chunk

Result<ChunkHeartbeat> Chunks::heartbeat(std::string_view set, std::string_view key, Token token, const ChunkSave& save,
                                         std::optional<Duration> ttl) const {
  if (auto checked = chunk::check_save(set, key, save); !checked) return std::move(checked).error();
  if (auto checked = check_new_ttl(ttl); !checked) return std::move(checked).error();
  auto statement = chunk::heartbeat_statement(set, key, token, save);
  statement.ttl = ttl;
  auto call = impl_->new_call();
  auto answer = call.ask_again(statement);
  if (!answer) return std::move(answer).error();
  if (!answer->outcome.done()) return chunk::settle_refusal(*answer, set, key);
  ChunkHeartbeat heartbeat{.set = std::string(set), .key = std::string(key)};
  lease::note_extension(heartbeat, *answer, call.before_sending());
  heartbeat.rows = answer->rows.value_or(0);
  return heartbeat;
}

Result<ChunkSettled> Chunks::settle(const ChunkSettlement& settlement) const {
  return std::move(settle(std::span(&settlement, 1)).front());
}

std::vector<Result<ChunkSettled>> Chunks::settle(std::span<const ChunkSettlement> settlements) const {
  std::vector<Result<ChunkSettled>> answers;
  answers.reserve(settlements.size());
  while (!settlements.empty()) {
    const auto group = settlements.first(std::min(settlements.size(), chunk::max_together));
    std::vector<std::unique_ptr<chunk::VerdictStatement>> statements;
    for (const auto& one : group) {
      if (chunk::check_settlement(one)) statements.push_back(std::make_unique<chunk::VerdictStatement>(one));
    }
    auto call = impl_->new_call();
    auto rows = storage::query_all(call.backend(), statements, call.deadline());
    std::size_t sent = 0;
    for (const auto& one : group) {
      if (auto checked = chunk::check_settlement(one); !checked) {
        answers.emplace_back(std::move(checked).error());
        continue;
      }
      const auto place = sent++;
      auto row = call.repeat(lease::IfLost::ask_again, [&, first = true]() mutable {
        return std::exchange(first, false) ? std::move(rows[place]) : call.ask(statements[place]->get());
      });
      answers.push_back(row ? chunk::settled_from(*row, one.set, one.key) : Result<ChunkSettled>(row.error()));
    }
    settlements = settlements.subspan(group.size());
  }
  return answers;
}

Result<ChunkSettled> Chunks::complete(std::string_view set, std::string_view key, Token token,
                                      const ChunkSave& save) const {
  return settle({.set = std::string(set),
                 .key = std::string(key),
                 .token = token,
                 .verdict = {.kind = Verdict::Kind::complete, .cursor = save.cursor, .rows = save.rows}});
}

Result<ChunkSettled> Chunks::fail(std::string_view set, std::string_view key, Token token, std::string error) const {
  return settle({std::string(set), std::string(key), token, Verdict::fail(std::move(error))});
}

Result<ChunkSettled> Chunks::release(std::string_view set, std::string_view key, Token token,
                                     const ChunkSave& save) const {
  return settle({.set = std::string(set),
                 .key = std::string(key),
                 .token = token,
                 .verdict = {.kind = Verdict::Kind::release, .cursor = save.cursor, .rows = save.rows}});
}

Result<ChunkSettled> Chunks::skip(std::string_view set, std::string_view key, Token token, std::string reason) const {
  return settle({std::string(set), std::string(key), token, Verdict::skip(std::move(reason))});
}

}  // namespace leasehold
