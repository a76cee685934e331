// GET /api/v1/stream: one thread reads the store for all clients of the live stream, and writes to them what changes.
// docs/stream.md describes the frames.
//
//   Pump pump(store);
//   auto response = pump.answer(request);              // the transport sends what its stream gets
//   pump.drain("the server is being restarted");       // `bye` to every client
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "leasehold/store.h"
#include "serve/http.h"
#include "serve/listener.h"
#include "serve/live.h"
#include "storage/backend.h"

namespace leasehold::serve {

/// While no client is connected, its thread sleeps and does not read the store.
///
/// Threading: from any thread.
class Pump {
 public:
  explicit Pump(const Store& store) : store_(store), live_(store) {}
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;
  /// Drains.
  ~Pump();

  /// A response that goes on. Its query: `topics` (all, if left out) and `after`, a mark; the header Last-Event-ID has
  /// precedence over it, since a client that reconnects repeats the query. `invalid_argument`; `unavailable` after
  /// drain().
  /// Once `token` stops, the stream ends within a second; see Subscription.
  Result<Response> answer(const Request& request, std::shared_ptr<std::stop_source> token = {});
  Result<void> add(Subscription subscription);

  /// Whether its thread sleeps until a client comes.
  [[nodiscard]] bool rests();

  /// Ends every stream with `bye`, and opens no other.
  void drain(std::string_view reason);

 private:
  void run();
  void serve_clients(std::unique_lock<std::mutex>& lock);
  void sleep(std::unique_lock<std::mutex>& lock, const Live::Next& next);
  [[nodiscard]] bool is_called() const { return draining_ || !arrivals_.empty(); }
  void call();

  const Store store_;
  std::mutex mutex_;
  bool resting_ = true;  ///< until the first client comes there is no thread at all
  std::condition_variable called_;
  std::vector<Subscription> arrivals_;
  std::unique_ptr<storage::ChangeWatch> watch_;
  bool changed_ = false;
  bool draining_ = false;
  std::string reason_;
  std::thread thread_;
  Live live_;  ///< belongs to the thread
};

}  // namespace leasehold::serve
