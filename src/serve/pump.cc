#include "serve/pump.h"

#include <utility>

#include "base/clock.h"
#include "base/quiet_thread.h"
#include "store/store.h"

namespace leasehold::serve {
namespace {

Result<Subscription> subscription_from(const Request& request) {
  auto members = query_members(request.query);
  if (!members) return std::move(members).error();
  std::string topics;
  std::string after;
  for (auto& [name, value] : *members) {
    if (name != "topics" && name != "after") {
      return Error{.code = Errc::invalid_argument,
                   .message = "the stream knows `topics` and `after`, not \"" + name + "\""};
    }
    (name == "topics" ? topics : after) = std::move(value);
  }
  if (const auto last = request.headers.get("Last-Event-ID"); !last.empty()) after = last;
  auto chosen = parse_topics(topics);
  if (!chosen) return std::move(chosen).error();
  Subscription subscription{.stream = std::make_shared<Stream>(), .topics = *chosen};
  if (!after.empty()) {
    auto mark = parse_event_mark(after);
    if (!mark) return std::move(mark).error();
    subscription.after = *mark;
  }
  return subscription;
}

}  // namespace

Pump::~Pump() {
  drain("the server ends");
  if (thread_.joinable()) thread_.join();
}

Result<Response> Pump::answer(const Request& request, std::shared_ptr<std::stop_source> token) {
  auto subscription = subscription_from(request);
  if (!subscription) return std::move(subscription).error();
  subscription->token = std::move(token);
  // Proxies must pass on each frame at once.
  Response response{
      .headers = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}},
      .stream = subscription->stream};
  if (auto added = add(std::move(*subscription)); !added) return std::move(added).error();
  return response;
}

Result<void> Pump::add(Subscription subscription) {
  const std::lock_guard lock(mutex_);
  if (draining_) return Error{.code = Errc::unavailable, .message = "the server is stopping"};
  arrivals_.push_back(std::move(subscription));
  if (!thread_.joinable()) thread_ = start_quiet_thread([this] { run(); });
  call();
  return {};
}

void Pump::drain(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  if (draining_) return;
  draining_ = true;
  reason_ = reason;
  call();
}

bool Pump::rests() {
  const std::lock_guard lock(mutex_);
  return resting_;
}

void Pump::call() {
  called_.notify_all();
  if (watch_) watch_->wake();
}

void Pump::run() {
  std::unique_lock lock(mutex_);
  while (!draining_) {
    resting_ = true;
    called_.wait(lock, [this] { return is_called(); });
    if (draining_) break;
    resting_ = false;
    watch_ = store_.impl().backend->watch("");
    serve_clients(lock);
    watch_.reset();
  }
  for (auto& one : std::exchange(arrivals_, {})) live_.add(std::move(one));
  live_.close(reason_);
}

void Pump::serve_clients(std::unique_lock<std::mutex>& lock) {
  changed_ = true;
  while (!draining_) {
    for (auto& one : std::exchange(arrivals_, {})) live_.add(std::move(one));
    const bool changed = std::exchange(changed_, false);
    lock.unlock();
    const auto next = live_.turn(changed);
    lock.lock();
    if (live_.idle() && arrivals_.empty()) return;
    if (!is_called()) sleep(lock, next);
  }
}

/// Sleeps until the next turn. A change wakes the thread, unless it is about to read everything that changes.
void Pump::sleep(std::unique_lock<std::mutex>& lock, const Live::Next& next) {
  if (next.soon) {
    wait_until(called_, lock, next.at, [this] { return is_called(); });
    return;
  }
  auto& watch = *watch_;
  lock.unlock();
  const bool changed = watch.wait(next.at);
  lock.lock();
  changed_ = changed;
}

}  // namespace leasehold::serve
