// Runs named statements over the pool: writes of several threads share one commit, reads run by themselves.
//
// Every transaction is READ COMMITTED, whatever the default of the server, the database or the role. The server bounds
// how long a write may wait for a row lock (such as another program's fence). A session of our own has both settings
// from the start. Behind a pooler, or if a call needs another bound, the settings precede the call in the same pipeline
// and are local to its transaction: no extra round trip, and nothing leaks to others. With a bound on our side only,
// the server would keep waiting for a caller that has gone, and grant it the lock later.
//
// In a shared batch that bound is short. A call that exceeds it runs again by itself, on its caller's thread and
// another connection, with all the time it has left; the rest of the batch runs again without it.
//
// Calls of one statement with an each-form are one command of the batch; see each.h.
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

/// Threading: may be called from any thread.
class Caller {
 public:
  Caller(Pool& pool, std::shared_ptr<const Texts> texts, Naming naming)
      : pool_(pool), texts_(std::move(texts)), naming_(naming), combiner_(pool.batches()) {}

  /// Changes nothing, so it is repeated if the connection breaks; never `in_doubt`.
  Result<storage::Rows> read(const storage::Statement& statement, std::span<const storage::Param> params,
                             BootTime deadline);
  Result<storage::Rows> write(const storage::Statement& statement, std::span<const storage::Param> params,
                              BootTime deadline);
  /// See Backend::query_each.
  std::vector<Result<storage::Rows>> write_each(std::span<const storage::Question> questions, BootTime deadline);

 private:
  Result<storage::Rows> write_singly(const storage::Statement& statement, std::span<const storage::Param> params,
                                     BootTime deadline);
  void write_batch(std::span<storage::PendingCall* const> calls);
  std::optional<CallGroup> write_together(std::span<const CallGroup> groups);
  [[nodiscard]] Command command_for(CallGroup group, std::vector<BinaryParams>& params) const;
  static std::optional<CallGroup> share_out(std::span<const CallGroup> groups, const Outcome& outcome);

  enum class Bound {
    none,      ///< a read
    standard,  ///< the second command sets it, and is skipped if the session has it already
    own,       ///< the second command sets it
  };
  /// The first command is Texts::isolation(), which a session of our own has already.
  Outcome run(Lane lane, Bound bound, std::span<const Command> commands, BootTime deadline);

  Pool& pool_;
  std::shared_ptr<const Texts> texts_;
  std::atomic<Naming> naming_;
  storage::Combiner combiner_;
};

}  // namespace leasehold::postgres
