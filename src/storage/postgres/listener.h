// The waiting watches, by topic.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "storage/backend.h"
#include "storage/postgres/connection.h"

namespace leasehold::postgres {

/// Threading: may be called from any thread.
class WatchList : public std::enable_shared_from_this<WatchList> {
 public:
  std::unique_ptr<storage::ChangeWatch> add(std::string_view topic);
  void wake(std::string_view topic);
  void wake_all();

 private:
  class Watch;

  std::mutex mutex_;
  std::vector<Watch*> watches_;
};

// Wake-ups through LISTEN: one connection and one thread per store, started with the first watch.
//
// Hints only. While the connection is down, and always behind a transaction pooler, no notification arrives, and
// waiting threads look again by themselves. After every (re)connect all watches wake, because they may have missed
// some.
class WatchList;

class Listener {
 public:
  /// The channel is the schema's name; a payload is a topic.
  Listener(std::string conninfo, std::string channel);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// May outlive the listener; then it only times out.
  std::unique_ptr<storage::ChangeWatch> watch(std::string_view topic);

  /// Stops the thread and wakes all watches. Idempotent.
  void stop();

 private:
  void run();
  Duration listen_once();
  void follow(Connection& connection);
  bool hear(Connection& connection);
  enum class Woken { by_server, by_stop, by_timeout };
  Woken sleep(int socket, Duration longest) const;

  const std::string conninfo_;
  const std::string channel_;
  const std::shared_ptr<WatchList> watches_;
  const int stop_fd_;
  std::mutex starting_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace leasehold::postgres
