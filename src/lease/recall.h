// Notifies holders early that their lease was ended, or that a job under it was cancelled.
//
//   auto watching = recalls->watch(lease_id, [](const LeaseNews& news) { ... });
//
// A holder learns both at its next heartbeat, but that may be minutes away. So one thread of the store looks once a
// second, with a single read for all leases that this process watches, and reads nothing while there are none. A failed
// look is not repeated at once: the heartbeats still report the news, only later.
//
// It polls instead of listening: one read per second costs a server less than another connection for every holder, it
// works behind poolers, and it is the same on both stores.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "leasehold/held_lease.h"
#include "leasehold/lease.h"
#include "storage/backend.h"

namespace leasehold::lease {

/// Threading: from any thread.
class Recalls {
 public:
  /// Runs on the thread of the recalls, repeatedly while the news is true, and must be quick.
  using OnNews = std::function<void(const LeaseNews&)>;

  explicit Recalls(std::shared_ptr<storage::Backend> backend);
  Recalls(const Recalls&) = delete;
  Recalls& operator=(const Recalls&) = delete;
  ~Recalls();

  /// Watches until the returned object is destroyed. Afterwards `on_news` is not running and never will, unless
  /// `on_news` itself destroys the object. Without a thread there is no early news.
  [[nodiscard]] std::shared_ptr<void> watch(std::int64_t lease_id, OnNews on_news);

 private:
  struct State;
  const std::shared_ptr<State> state_;
  std::mutex starting_;
  std::thread thread_;
};

/// For HeldLease: heartbeats at once when the lease has ended.
HeldLease::Watch watch_with(std::shared_ptr<Recalls> recalls);

}  // namespace leasehold::lease
