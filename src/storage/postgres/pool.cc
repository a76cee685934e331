#include "storage/postgres/pool.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/clock.h"

namespace leasehold::postgres {
namespace {

Error closed_error() { return {.code = Errc::unavailable, .message = "postgresql: the store was closed"}; }

}  // namespace

PooledConnection::~PooledConnection() {
  if (connection_) pool_->give_back(lane_, std::move(connection_));
}

Pool::Pool(std::string conninfo, int size) : conninfo_(std::move(conninfo)), size_(std::max(size, 1)) {}

bool Pool::has_place(Lane lane) const {
  return taken_ < size_ && (lane == Lane::batch || singles_ < std::max(size_ - batches(), 1));
}

void Pool::count(Lane lane, int change) {
  taken_ += change;
  if (lane == Lane::single) singles_ += change;
}

Result<void> Pool::open_first(BootTime deadline) {
  auto connection = Connection::connect(conninfo_, deadline);
  if (!connection) return std::move(connection).error();
  charset_ = (*connection)->charset();
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(*connection));
  return {};
}

Result<PooledConnection> Pool::take(Lane lane, BootTime deadline) {
  {
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return closed_ || has_place(lane); };
    if (!wait_until(changed_, lock, deadline, ready)) {
      return Error{.code = Errc::unavailable,
                   .message = fmt::format("postgresql: all {} connections are in use: raise pool= in the URL", size_)};
    }
    if (closed_) return closed_error();
    count(lane, +1);
  }
  if (auto connection = idle_one()) return PooledConnection(*this, lane, std::move(connection));
  auto connection = connect(deadline);
  if (connection) return PooledConnection(*this, lane, std::move(*connection));
  give_back(lane, nullptr);
  return std::move(connection).error();
}

/// The one used last, because its caches are warm. Drops connections that the server has closed.
std::unique_ptr<Connection> Pool::idle_one() {
  for (;;) {
    std::unique_ptr<Connection> connection;
    {
      const std::lock_guard lock(mutex_);
      if (idle_.empty()) return nullptr;
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
    if (connection->usable()) return connection;
  }
}

Result<std::unique_ptr<Connection>> Pool::connect(BootTime deadline) {
  GrowingPause backoff(std::chrono::seconds(1));
  for (;;) {
    auto connection = Connection::connect(conninfo_, deadline);
    if (connection) charset_ = (*connection)->charset();
    if (connection || connection.error().code != Errc::unavailable) return connection;
    if (!pause(backoff.next(), deadline)) return connection;
  }
}

/// False if there is no time left for a retry.
bool Pool::pause(Duration length, BootTime deadline) {
  const auto until = BootClock::now() + length;
  if (until >= deadline) return false;
  std::unique_lock lock(mutex_);
  return !wait_until(changed_, lock, until, [&] { return closed_; });
}

void Pool::give_back(Lane lane, std::unique_ptr<Connection> connection) {
  const bool keep = connection && connection->idle();
  std::unique_lock lock(mutex_);
  count(lane, -1);
  if (keep && !closed_) idle_.push_back(std::move(connection));
  lock.unlock();
  changed_.notify_all();
}

void Pool::close() {
  std::vector<std::unique_ptr<Connection>> idle;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    idle.swap(idle_);
  }
  changed_.notify_all();
}

}  // namespace leasehold::postgres
