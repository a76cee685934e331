// From the store's answers about chunks to what a caller gets.
#pragma once

#include <string>
#include <string_view>

#include "lease/answer.h"
#include "leasehold/chunk.h"
#include "leasehold/result.h"
#include "storage/statements.h"

namespace leasehold::chunk {

using lease::lost_error;
using lease::odd_answer;

/// "chunk set \"orders\""
std::string describe(std::string_view set);
/// "chunk \"1-1000\" of \"orders\""
std::string describe(std::string_view set, std::string_view key);
/// What leases and events call it: "orders/1-1000".
std::string full_key(std::string_view set, std::string_view key);

Error no_such_set(std::string_view set);
Error no_such_chunk(std::string_view set, std::string_view key);

/// For `held`, of a row that tells who has the chunk.
template <typename Row>
Error held_error(const Row& row, std::string_view set, std::string_view key) {
  return {.code = Errc::held,
          .message = describe(set, key) + " is being loaded by " + row.holder.value_or("somebody"),
          .current = lease::present_holder(row, "chunk", full_key(set, key))};
}

/// For `terminal`; `state` as the store spells it.
Error terminal_error(std::string_view set, std::string_view key, std::string_view state);

/// Whatever a claim is refused with. The key is the one that was asked for; empty: any.
Error claim_refusal(const sql::ChunkClaimed& answer, std::string_view set, std::string_view key);

/// For `lost` and `not_found`.
Error heartbeat_refusal(const sql::ChunkHeartbeat::Row& answer, std::string_view set, std::string_view key);

Result<ChunkSettled> settled_from(const sql::ChunkSettle::Row& answer, std::string_view set, std::string_view key);

}  // namespace leasehold::chunk
