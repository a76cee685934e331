// Converts the store's answers about chunks to results of the public API.
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
/// Its name in leases and events: "orders/1-1000".
std::string full_key(std::string_view set, std::string_view key);

Error no_such_set(std::string_view set);
Error no_such_chunk(std::string_view set, std::string_view key);

/// For `held`, from a row that names the chunk's holder.
template <typename Row>
Error held_error(const Row& row, std::string_view set, std::string_view key) {
  return {.code = Errc::held,
          .message = describe(set, key) + " is being loaded by " + row.holder.value_or("another loader"),
          .held_by = lease::present_holder(row, "chunk", full_key(set, key))};
}

/// For `terminal`; `state` is the store's word.
Error terminal_error(std::string_view set, std::string_view key, std::string_view state);

/// The refusal of a claim. `key` is the requested chunk; empty: any.
Error claim_refusal(const sql::ChunkClaimed& answer, std::string_view set, std::string_view key);

/// The refusal of an action on a whole set.
Error set_refusal(const storage::Outcome& outcome, std::string_view set);

/// The refusal of a verdict or a heartbeat: `lost` or `not_found`.
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

// One attempt to claim chunks of a set.
namespace chunk {

/// What a claim sends to the store.
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

/// Sends the claim, and repeats it only if the answer got lost or the store was busy.
Result<ChunkGrant> try_claim(lease::StoreCall call, const Request& request);

}  // namespace chunk

// The progress of a loader and the verdict on its chunk as statements; also for saves in the caller's own transaction.
namespace chunk {

Result<void> check_save(std::string_view set, std::string_view key, const ChunkSave& save);

/// These borrow their arguments.
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

// The state of Chunks.
struct Chunks::Impl : lease::StoreAccess {
  /// Shared by all handles of a store.
  std::shared_ptr<lease::Reaper> reaper;
  std::shared_ptr<lease::Awaited> awaited;

  /// Tries once, and once more if a process that died on this host was in the way.
  [[nodiscard]] Result<ChunkGrant> claim_once(const chunk::Request& request, const Call& call) const;
  /// Repeats until a grant, a final set or the end of the wait; then returns the last refusal.
  [[nodiscard]] Result<ChunkGrant> claim_patiently(const chunk::Request& request, const ChunkClaimOptions& options,
                                                   const Call& call) const;
};

}  // namespace leasehold
