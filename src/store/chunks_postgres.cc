// Chunks in a user's own PostgreSQL transaction.
#include "chunk/answer.h"
#include "chunk/save.h"
#include "leasehold/postgres.h"
#include "store/own_transaction_postgres.h"

namespace leasehold {

Result<void> save_chunk(PGconn* connection, std::string_view set, std::string_view key, Token token,
                        const ChunkSave& save, std::string_view schema) {
  if (auto checked = chunk::check_save(set, key, save); !checked) return checked;
  auto row = postgres::run_one(connection, chunk::heartbeat_statement(set, key, token, save), schema);
  if (!row) return std::move(row).error();
  if (row->outcome != "extended") return chunk::heartbeat_refusal(*row, set, key);
  return {};
}

Result<ChunkSettled> complete_chunk(PGconn* connection, std::string_view set, std::string_view key, Token token,
                                    const ChunkSave& save, std::string_view schema) {
  if (auto checked = chunk::check_save(set, key, save); !checked) return std::move(checked).error();
  auto row = postgres::run_one(connection, chunk::settle_statement(set, key, token, "complete", save), schema);
  if (!row) return std::move(row).error();
  return chunk::settled_from(*row, set, key);
}

}  // namespace leasehold
