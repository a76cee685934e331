// Runs named statements over the pool: writes of several threads share one commit, reads go by themselves.
//
// Every transaction is READ COMMITTED, whatever the default of the server, the database or the role is. And how long a
// write may wait for a row lock (somebody's fence, say) is bounded on the server. A connection whose
// session is our own has both from the start. Behind a pooler, and where a call needs another bound,
// they travel in front of it in the same pipeline and are local to its transaction: no extra round
// trip, nothing that could leak to others. A bound on our side alone would leave the server
// waiting on for a caller that has gone, to grant it the lock later.
//
// In a shared batch that bound is short. Whoever does not make it there is asked again alone, on the caller's
// own thread and another connection, with all the time it has left; the rest goes again without it.
//
// Calls of one statement that has an each-form are one command of the batch; see each.h.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "storage/combiner.h"
#include "storage/postgres/each.h"
#include "storage/postgres/pool.h"
#include "storage/postgres/texts.h"

namespace leasehold::postgres {

/// Threading: from any thread.
class Caller {
 public:
  Caller(Pool& pool, std::shared_ptr<const Texts> texts, Naming naming)
      : pool_(pool), texts_(std::move(texts)), naming_(naming), combiner_(pool.batches()) {}

  /// Changes nothing, so it is asked again when the connection breaks; never `in_doubt`.
  Result<storage::Rows> read(const storage::Statement& statement, std::span<const storage::Param> params,
                             BootTime deadline);
  Result<storage::Rows> write(const storage::Statement& statement, std::span<const storage::Param> params,
                              BootTime deadline);
  /// See Backend::query_each.
  std::vector<Result<storage::Rows>> write_each(std::span<const storage::Question> questions, BootTime deadline);

 private:
  Result<storage::Rows> write_alone(const storage::Statement& statement, std::span<const storage::Param> params,
                                    BootTime deadline);
  void write_batch(std::span<storage::PendingCall* const> calls);
  std::optional<CallGroup> write_together(std::span<const CallGroup> groups);
  [[nodiscard]] Command command_for(CallGroup group, std::vector<BinaryParams>& params) const;
  static std::optional<CallGroup> share_out(std::span<const CallGroup> groups, const Outcome& outcome);

  enum class Bound {
    none,   ///< a read
    usual,  ///< the second command sets it, and need not be sent where the session has it already
    own,    ///< the second command sets it
  };
  /// The first command is Texts::isolation(), which a session of our own has already.
  Outcome run(Lane lane, Bound bound, std::span<const Command> commands, BootTime deadline);

  Pool& pool_;
  std::shared_ptr<const Texts> texts_;
  std::atomic<Naming> naming_;
  storage::Combiner combiner_;
};

}  // namespace leasehold::postgres
