// How far a loader got and what became of its chunk, on the way into a statement; also for those who save in a
// transaction of their own.
#pragma once

#include <string_view>

#include "leasehold/chunk.h"
#include "storage/statements.h"

namespace leasehold::chunk {

Result<void> check_save(std::string_view set, std::string_view key, const ChunkSave& save);

/// These borrow what they are given.
sql::ChunkHeartbeat heartbeat_statement(std::string_view set, std::string_view key, Token token, const ChunkSave& save);
sql::ChunkSettle settle_statement(std::string_view set, std::string_view key, Token token, std::string_view verdict,
                                  const ChunkSave& save);

}  // namespace leasehold::chunk
