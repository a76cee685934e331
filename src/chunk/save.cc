// Chunks::heartbeat and the verdicts.
#include "chunk/chunks.h"

#include "base/text.h"
#include "lease/ask.h"
#include "model/bounds.h"
#include "storage/query.h"

namespace leasehold {
namespace chunk {
namespace {

Result<ChunkSettled> settle(storage::Backend& backend, const sql::ChunkSettle& statement, BootTime deadline) {
  auto answer = lease::ask_again(deadline, [&] { return storage::query_one(backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  return settled_from(*answer, statement.set_name, statement.key);
}

}  // namespace

Result<void> check_save(std::string_view set, std::string_view key, const ChunkSave& save) {
  if (auto checked = check_chunk(set, key); !checked) return checked;
  return check_chunk_save(save);
}

sql::ChunkHeartbeat heartbeat_statement(std::string_view set, std::string_view key, Token token,
                                        const ChunkSave& save) {
  sql::ChunkHeartbeat statement{.set_name = set, .key = key, .token = token.value};
  statement.cursor = save.cursor;
  statement.rows = save.rows;
  return statement;
}

sql::ChunkSettle settle_statement(std::string_view set, std::string_view key, Token token, std::string_view verdict,
                                  const ChunkSave& save) {
  sql::ChunkSettle statement{.set_name = set, .key = key, .token = token.value, .verdict = verdict};
  statement.cursor = save.cursor;
  statement.rows = save.rows;
  statement.retryable = true;
  return statement;
}

}  // namespace chunk

Result<ChunkHeartbeat> Chunks::heartbeat(std::string_view set, std::string_view key, Token token, const ChunkSave& save,
                                         Duration ttl) const {
  if (auto checked = chunk::check_save(set, key, save); !checked) return std::move(checked).error();
  auto new_ttl = lease::new_ttl(ttl);
  if (!new_ttl) return std::move(new_ttl).error();
  auto statement = chunk::heartbeat_statement(set, key, token, save);
  statement.ttl = *new_ttl;
  const auto deadline = impl_->deadline();
  BootTime before_sending;
  auto answer = lease::ask_again(deadline, [&] {
    before_sending = BootClock::now();
    return storage::query_one(*impl_->backend, statement, deadline);
  });
  if (!answer) return std::move(answer).error();
  if (!answer->outcome.done()) return chunk::settle_refusal(*answer, set, key);
  ChunkHeartbeat heartbeat;
  lease::note_extension(heartbeat, *answer, before_sending);
  heartbeat.rows = answer->rows.value_or(0);
  return heartbeat;
}

Result<ChunkSettled> Chunks::complete(std::string_view set, std::string_view key, Token token,
                                      const ChunkSave& save) const {
  if (auto checked = chunk::check_save(set, key, save); !checked) return std::move(checked).error();
  return chunk::settle(*impl_->backend, chunk::settle_statement(set, key, token, "complete", save), impl_->deadline());
}

Result<ChunkSettled> Chunks::fail(std::string_view set, std::string_view key, Token token,
                                  const ChunkFailure& failure) const {
  if (auto checked = chunk::check_save(set, key, failure.save); !checked) return std::move(checked).error();
  if (auto checked = check_delay("delay", failure.delay.value_or(Duration(0))); !checked) {
    return std::move(checked).error();
  }
  const auto error = clean_text(failure.error, bounds::error_bytes);
  auto statement = chunk::settle_statement(set, key, token, "fail", failure.save);
  if (!error.empty()) statement.error = error;
  statement.retryable = failure.retryable;
  statement.delay = failure.delay;
  return chunk::settle(*impl_->backend, statement, impl_->deadline());
}

Result<ChunkSettled> Chunks::release(std::string_view set, std::string_view key, Token token,
                                     const ChunkSave& save) const {
  if (auto checked = chunk::check_save(set, key, save); !checked) return std::move(checked).error();
  return chunk::settle(*impl_->backend, chunk::settle_statement(set, key, token, "release", save), impl_->deadline());
}

Result<ChunkSettled> Chunks::skip(std::string_view set, std::string_view key, Token token,
                                  std::string_view reason) const {
  if (auto checked = chunk::check_save(set, key, {}); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  auto statement = chunk::settle_statement(set, key, token, "skip", {});
  if (!reason.empty()) statement.error = reason;
  return chunk::settle(*impl_->backend, statement, impl_->deadline());
}

}  // namespace leasehold
