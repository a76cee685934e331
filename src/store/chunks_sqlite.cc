// Chunks in a user's own SQLite transaction.
#include "chunk/answer.h"
#include "chunk/save.h"
#include "leasehold/sqlite.h"
#include "store/own_transaction_sqlite.h"

namespace leasehold {

Result<void> save_chunk(sqlite3* connection, std::string_view set, std::string_view key, Token token,
                        const ChunkSave& save) {
  if (auto checked = chunk::check_save(set, key, save); !checked) return checked;
  auto row = sqlite::run_one(connection, chunk::heartbeat_statement(set, key, token, save), "chunks");
  if (!row) return std::move(row).error();
  if (row->outcome != "extended") return chunk::heartbeat_refusal(*row, set, key);
  return {};
}

Result<ChunkSettled> complete_chunk(sqlite3* connection, std::string_view set, std::string_view key, Token token,
                                    const ChunkSave& save) {
  if (auto checked = chunk::check_save(set, key, save); !checked) return std::move(checked).error();
  auto row = sqlite::run_one(connection, chunk::settle_statement(set, key, token, "complete", save), "chunks");
  if (!row) return std::move(row).error();
  return chunk::settled_from(*row, set, key);
}

}  // namespace leasehold
