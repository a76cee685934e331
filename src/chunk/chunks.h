// From the store's answers about chunks to what a caller gets.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lease/answer.h"
#include "lease/call.h"
#include "lease/patience.h"
#include "lease/reap.h"
#include "leasehold/chunk.h"
#include "leasehold/result.h"
#include "storage/statements.h"

namespace leasehold {

namespace chunk {

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

/// Whatever an act on a whole set is refused with.
Error set_refusal(const storage::Outcome& outcome, std::string_view set);

/// Whatever a holder's verdict or heartbeat is refused with: `lost` or `not_found`.
template <typename Row>
Error settle_refusal(const Row& answer, std::string_view set, std::string_view key) {
  const auto what = describe(set, key);
  switch (answer.outcome.refusal()) {
    case Errc::lost:
      return lost_error(what, answer.why.value_or(""), lease::present_holder(answer, "chunk", full_key(set, key)));
    case Errc::not_found: return no_such_chunk(set, key);
    default: return odd_answer(what, answer.outcome.word());
  }
}

Result<ChunkSettled> settled_from(const sql::ChunkSettle::Row& answer, std::string_view set, std::string_view key);

}  // namespace chunk

// One try at a set's chunks.
namespace chunk {

/// All that the store needs to know of a claim.
struct Request {
  std::string set;
  std::string key;  ///< empty: the next ones
  int max = 1;
  std::optional<Duration> ttl;
  std::optional<Duration> older_than;
  Holder holder;
  std::string request_id;
  std::optional<std::int64_t> attach;
};

/// Asks once; repeats only where the answer got lost on the way, or the store was busy.
Result<ChunkGrant> try_claim(lease::StoreCall call, const Request& request);

}  // namespace chunk

// How far a loader got and what became of its chunk, on the way into a statement; also for those who save in a
// transaction of their own.
namespace chunk {

Result<void> check_save(std::string_view set, std::string_view key, const ChunkSave& save);

/// These borrow what they are given.
sql::ChunkHeartbeat heartbeat_statement(std::string_view set, std::string_view key, Token token, const ChunkSave& save);
class VerdictStatement {
 public:
  explicit VerdictStatement(const ChunkSettlement& settlement);
  VerdictStatement(const VerdictStatement&) = delete;
  VerdictStatement& operator=(const VerdictStatement&) = delete;

  [[nodiscard]] const sql::ChunkSettle& get() const { return statement_; }

 private:
  std::string error_;
  sql::ChunkSettle statement_;
};

Result<void> check_settlement(const ChunkSettlement& settlement);

}  // namespace chunk

// What Chunks holds.
struct Chunks::Impl : lease::StoreAccess {
  /// Shared by all handles of a store.
  std::shared_ptr<lease::Reaper> reaper;
  std::shared_ptr<lease::Awaited> awaited;

  /// One try, and another where somebody who died on this host stood in the way.
  [[nodiscard]] Result<ChunkGrant> claim_once(const chunk::Request& request, const Call& call) const;
  /// Until something was granted, the set is final or the time to wait is over; then the last refusal.
  [[nodiscard]] Result<ChunkGrant> claim_patiently(const chunk::Request& request, const ChunkClaimOptions& options,
                                                   const Call& call) const;
};

}  // namespace leasehold
