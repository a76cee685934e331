// Turns a call's deadline into a bound on the server.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/time.h"
#include "storage/postgres/connection.h"

namespace leasehold::postgres {

/// For lock_timeout, in milliseconds: a little less than the remaining time, so that the server's refusal arrives in
/// time as an answer (`busy`), not as a doubt. Never zero, which would mean no bound.
inline std::int64_t lock_wait_ms(BootTime deadline) {
  const auto left = std::chrono::floor<std::chrono::milliseconds>(deadline - BootClock::now()).count();
  const auto margin = std::max<std::int64_t>(left / 10, 50);
  return std::clamp<std::int64_t>(left - margin, 1, 86'400'000);
}

// Connections for the threads of one store: opened when needed, discarded when broken.
//
// Threading: may be called from any thread; a taken connection belongs to its taker.
class Pool;

/// The purpose of a connection. Some are reserved for shared batches, so that callers waiting for a row lock cannot
/// delay other callers' heartbeats (with only one connection they can).
enum class Lane { batch, single };

/// A borrowed connection; it returns to the pool by itself, if it still works.
class PooledConnection {
 public:
  PooledConnection(Pool& pool, Lane lane, std::unique_ptr<Connection> connection)
      : pool_(&pool), lane_(lane), connection_(std::move(connection)) {}
  PooledConnection(PooledConnection&& other) noexcept = default;
  PooledConnection& operator=(PooledConnection&&) = delete;
  ~PooledConnection();

  Connection& operator*() const { return *connection_; }
  Connection* operator->() const { return connection_.get(); }

 private:
  Pool* pool_;
  Lane lane_;
  std::unique_ptr<Connection> connection_;
};

class Pool {
 public:
  Pool(std::string conninfo, int size);

  /// Opens the first connection, without a retry.
  Result<void> open_first(BootTime deadline);

  /// Waits for a free place; reconnects, backing off, until the deadline. If it fails, nothing was sent.
  Result<PooledConnection> take(Lane lane, BootTime deadline);

  /// Of the database, as the latest connection reported; there was one before any statement.
  [[nodiscard]] Charset charset() const { return charset_; }

  /// The number of connections reserved for batches: one can run while the other waits for the disk.
  [[nodiscard]] int batches() const { return size_ >= 4 ? 2 : 1; }

  /// From now on take() returns `unavailable`.
  void close();

 private:
  friend class PooledConnection;

  [[nodiscard]] bool has_place(Lane lane) const;
  void count(Lane lane, int change);
  void give_back(Lane lane, std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> idle_one();
  Result<std::unique_ptr<Connection>> connect(BootTime deadline);
  bool pause(Duration length, BootTime deadline);

  const std::string conninfo_;
  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::atomic<Charset> charset_ = Charset::unicode;
  int taken_ = 0;
  int singles_ = 0;  ///< of `taken_`
  bool closed_ = false;
};

}  // namespace leasehold::postgres
