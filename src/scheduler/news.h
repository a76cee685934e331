// Tells a scheduler that something may have become due: a schedule was defined, triggered, resumed, or a run has ended.
#pragma once

#include <memory>
#include <string>

#include "lease/awaited.h"
#include "lease/patience.h"
#include "storage/backend.h"

namespace leasehold::scheduler {

/// Belongs to one thread, but for wake().
class News {
 public:
  /// A scheduler looks so often at least: at the dead of this host, and at a wall clock that was set. And for longer
  /// than this the store may not remember that somebody listens.
  static constexpr Duration longest_wait = std::chrono::seconds(5);

  News(storage::Backend& backend, lease::Awaited& awaited, Duration call_timeout);

  /// Before looking: what happens after that ends the next wait.
  void listen();
  void wait(BootTime until);
  /// The last look has found something: the next wake-up is answered at once.
  void were_good() { damping_.after_silence(); }
  /// Ends the wait that is under way, or else the next one. From any thread.
  void wake() { watch_->wake(); }

 private:
  storage::Backend& backend_;
  lease::Awaited& awaited_;
  const Duration call_timeout_;
  const std::string topic_ = "schedules";
  const std::unique_ptr<storage::ChangeWatch> watch_;
  lease::Damping damping_;
};

}  // namespace leasehold::scheduler
