// Lets the processes that write to one file take turns.
//
// SQLite's busy handler makes every process sleep and retry, and a process that commits in a loop always wins. The gate
// is a lock on a sidecar file (PATH-gate) with a turnstile before it: the next process holds the turnstile, so the last
// writer cannot enter again at once. Urgent writers (heartbeats) skip the turnstile; they take a third lock, and the
// others let them go first. Correctness does not depend on the gate, only fairness does: a process that has waited too
// long (the process inside may be stopped) bypasses it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "leasehold/time.h"
#include "storage/combiner.h"
#include "storage/sqlite/change_watch.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/store_clock.h"
#include "storage/sqlite/store_file.h"

namespace leasehold::sqlite {

class WriteGate {
 public:
  /// Takes ownership of the descriptor of the sidecar file. With -1 the gate is always open.
  explicit WriteGate(int file) : file_(file) {}
  WriteGate(const WriteGate&) = delete;
  WriteGate& operator=(const WriteGate&) = delete;
  ~WriteGate();

  /// Waits for a turn, for a third of a second at most. For one thread at a time. leave() is called in any case.
  void enter(bool urgent, BootTime deadline);
  void leave();

 private:
  bool take(short what, int byte) const;
  bool wait_for(int byte, BootTime until) const;
  bool let_the_urgent_go_first(BootTime until) const;

  int file_ = -1;
  bool inside_ = false;
  bool in_a_hurry_ = false;
  BootTime walk_around_until_{};
};

// The only connection of a process that writes to the file. Used by one thread at a time.
class Writer {
 public:
  Writer(std::unique_ptr<Connection> connection, StoreFile file, const Clock& clock, std::shared_ptr<ChangeHub> hub);

  /// A begun write transaction. Destruction without commit() rolls it back.
  class Turn {
   public:
    Turn(Turn&& other) noexcept : writer_(std::exchange(other.writer_, nullptr)), clock_loaded_(other.clock_loaded_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();

    Connection& connection() { return *writer_->connection_; }
    [[nodiscard]] Moment moment() const { return writer_->clock_.read(); }
    /// Loads the store clock, once.
    Result<void> load_clock();
    Result<void> commit();

   private:
    friend class Writer;
    explicit Turn(Writer& writer) : writer_(&writer) {}
    Writer* writer_;
    bool clock_loaded_ = false;
  };

  /// Prepares the statements of `calls` before it takes the file's lock: preparing takes longer than running, and other
  /// processes wait for the lock.
  Result<Turn> begin(bool urgent, BootTime deadline, std::span<storage::PendingCall* const> calls = {});
  /// Reads the store clock through a reader, without a turn; false if this boot must be recorded first.
  Result<bool> learn_clock(Connection& reader, BootTime deadline);
  [[nodiscard]] bool clock_known() const { return clock_known_.load(std::memory_order_acquire); }
  /// Requires clock_known().
  [[nodiscard]] Moment moment() const { return clock_.read(); }
  [[nodiscard]] const StoreFile& file() const { return file_; }

 private:
  Result<void> begin_in_turn(bool urgent, BootTime deadline, std::span<storage::PendingCall* const> calls);
  Result<void> move_in();
  bool take(bool urgent, BootTime deadline);
  void give_back();

  std::mutex mutex_;
  std::condition_variable freed_;
  bool taken_ = false;
  int urgent_waiting_ = 0;
  std::unique_ptr<Connection> connection_;
  StoreFile file_;
  std::optional<WriteGate> gate_;  ///< set once leasehold's tables are in the file
  StoreClock clock_;
  std::atomic<bool> clock_known_ = false;
  std::shared_ptr<ChangeHub> hub_;
};

}  // namespace leasehold::sqlite
