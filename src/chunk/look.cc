// Looking at chunks and their sets.
#include <fmt/format.h>

#include "base/names.h"
#include "chunk/answer.h"
#include "chunk/chunks.h"
#include "core/chunk_limits.h"
#include "core/limits.h"
#include "storage/query.h"

namespace leasehold {
namespace chunk {
namespace {

int small(std::int64_t number) { return static_cast<int>(number); }

ChunkInfo chunk_info_from(sql::ChunkList::Row& row) {
  ChunkInfo info;
  info.key = std::move(row.key);
  info.position = row.position;
  info.state = chunk_state_from(row.state).value_or(ChunkState::available);
  info.planner = std::move(row.planner);
  info.hash = std::move(row.hash);
  info.token = {row.token};
  info.attempts = small(row.attempts);
  info.failures = small(row.failures);
  info.crashes = small(row.crashes);
  info.due_at = row.due_at;
  info.started_at = row.started_at;
  info.finished_at = row.finished_at;
  info.synced_at = row.synced_at;
  info.saved_at = row.saved_at;
  info.rows = row.rows;
  info.holder = std::move(row.holder).value_or("");
  info.host = std::move(row.host).value_or("");
  info.pid = row.pid.value_or(0);
  info.tty = std::move(row.tty).value_or("");
  info.heartbeat_at = row.heartbeat_at;
  info.expires_at = row.expires_at;
  info.spec = std::move(row.spec);
  info.cursor = std::move(row.cursor);
  info.error = std::move(row.error).value_or("");
  info.note = std::move(row.note).value_or("");
  info.store_now = row.store_now;
  return info;
}

ChunkSetInfo set_info_from(sql::ChunkSetList::Row& row) {
  return {.name = std::move(row.name),
          .state = chunk_set_state_from(row.state).value_or(ChunkSetState::planned),
          .planner = std::move(row.planner),
          .planned_at = row.planned_at,
          .total = row.total,
          .available = row.available,
          .deferred = row.deferred,
          .running = row.running,
          .expired = row.expired,
          .completed = row.completed,
          .skipped = row.skipped,
          .exhausted = row.exhausted,
          .rows = row.rows,
          .attempts = row.attempts,
          .started_at = row.started_at,
          .finished_at = row.finished_at,
          .oldest_sync = row.oldest_sync,
          .job_id = row.job_id,
          .failure_budget = small(row.failure_budget),
          .crash_budget = small(row.crash_budget),
          .backoff_base = row.backoff_base,
          .backoff_most = row.backoff_most,
          .default_ttl = row.default_ttl,
          .store_now = row.store_now};
}

Result<std::vector<ChunkInfo>> list_chunks(storage::Backend& backend, const sql::ChunkList& statement,
                                           BootTime deadline) {
  return storage::query_list(backend, statement, deadline, [&](auto& row) {
    auto info = chunk_info_from(row);
    info.set = statement.set_name;
    return info;
  });
}

}  // namespace
}  // namespace chunk

std::string ChunkSetInfo::summary() const {
  if (state != ChunkSetState::partial) return to_string(state);
  return fmt::format("partial {}/{} ({} exhausted)", completed + skipped, total, exhausted);
}

Result<ChunkInfo> Chunks::show(std::string_view set, std::string_view key) const {
  if (auto checked = check_chunk(set, key); !checked) return std::move(checked).error();
  const sql::ChunkList statement{.set_name = set, .key = key, .most = 1};
  auto chunks = chunk::list_chunks(*impl_->backend, statement, impl_->deadline());
  if (!chunks) return std::move(chunks).error();
  if (chunks->empty()) return chunk::no_such_chunk(set, key);
  return std::move(chunks->front());
}

Result<std::vector<ChunkInfo>> Chunks::list(std::string_view set, const ChunkFilter& filter) const {
  if (auto checked = check_name("set name", set); !checked) return std::move(checked).error();
  if (auto checked = check_limit(filter.limit); !checked) return std::move(checked).error();
  sql::ChunkList statement{.set_name = set};
  if (filter.state) statement.state = to_string(*filter.state);
  if (filter.after_position >= 0) statement.after_position = filter.after_position;
  statement.most = filter.limit;
  auto chunks = chunk::list_chunks(*impl_->backend, statement, impl_->deadline());
  if (!chunks || !chunks->empty()) return chunks;
  // None like that, or no such set?
  if (auto known = progress(set); !known) return std::move(known).error();
  return chunks;
}

Result<ChunkSetInfo> Chunks::progress(std::string_view set) const {
  if (auto checked = check_name("set name", set); !checked) return std::move(checked).error();
  const sql::ChunkSetList statement{.set_name = set};
  auto sets = storage::query_list(*impl_->backend, statement, impl_->deadline(), chunk::set_info_from);
  if (!sets) return std::move(sets).error();
  if (sets->empty()) return chunk::no_such_set(set);
  return std::move(sets->front());
}

Result<std::vector<ChunkSetInfo>> Chunks::sets() const {
  const sql::ChunkSetList statement{.set_name = std::nullopt};
  return storage::query_list(*impl_->backend, statement, impl_->deadline(), chunk::set_info_from);
}

}  // namespace leasehold
