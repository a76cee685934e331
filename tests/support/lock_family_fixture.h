// For tests of what several have of a lock, or one of several locks.
#pragma once

#include <barrier>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "lease/call.h"
#include "storage/query.h"
#include "storage/statements.h"
#include "support/job_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {

using Names = std::vector<std::string>;

/// Options for a share beside any number of others.
inline AcquireOptions sharing(Duration ttl = std::chrono::seconds(30)) { return {.ttl = ttl, .share = Share{}}; }

/// Options for so many permits of a capacity.
inline AcquireOptions permits(std::int64_t count, std::int64_t capacity, Duration ttl = std::chrono::seconds(30)) {
  return {.ttl = ttl, .share = Share{.permits = count, .capacity = capacity}};
}

inline AcquireOptions delayed(AcquireOptions options, Duration delay) {
  options.lock_delay = delay;
  return options;
}

inline AcquireOptions waiting(AcquireOptions options, Duration wait = std::chrono::seconds(30)) {
  options.wait = wait;
  return options;
}

inline AcquireOptions asked_as(AcquireOptions options, const std::string& request_id) {
  options.request_id = request_id;
  return options;
}

class LockFamilyTest : public StoreTest {
 private:
  static BootTime soon() { return BootClock::now() + 5s; }

  template <typename Act>
  auto with_backend(Act&& act) {
    const auto backend = under_test().open_backend();
    auto answer = act(*backend);
    backend->close();
    return answer;
  }

 protected:
  /// All of these locks, where a refusal would be the test's own mistake.
  Grant take_all(const Names& names, const AcquireOptions& options, const Call& call) {
    return must(locks().acquire_all(names, options, call));
  }

  /// The holders of a lock, in the order in which they got it: "ann bob".
  std::string holders_of(const std::string& name) {
    std::string text;
    for (const auto& holder : must(locks().holders(name))) text += (text.empty() ? "" : " ") + holder.holder.name;
    return text;
  }

  /// The events since the last call: "deploy acquired ann (shared); ...".
  std::string news() {
    std::string text;
    for (const auto& event : must(store().events({.after_id = reported_}))) {
      text += (text.empty() ? "" : "; ") + event.key + " " + event.what + " " + name_of(event.holder);
      if (event.previous_holder) text += " from " + event.previous_holder->name;
      if (!event.detail.empty()) text += " (" + event.detail + ")";
      reported_ = event.id;
    }
    return text;
  }

  /// Stands in line as a program that dies right after, or keeps the place. Returns the answer.
  std::string stand(const std::string& name, const std::string& who, Duration patience = 5s) {
    return with_backend([&](storage::Backend& backend) {
      const sql::LockWait wait{.name = name, .request_id = "place of " + who, .patience = patience};
      return must(storage::query_one(backend, lease::with_holder(wait, holder(who)), soon())).outcome.word();
    });
  }
  std::string stand_for_all(const Names& names, const std::string& who, Duration patience = 5s) {
    return with_backend([&](storage::Backend& backend) {
      const std::vector<std::string_view> all(names.begin(), names.end());
      const sql::LockWaitAll wait{.names = all, .request_id = "place of " + who, .patience = patience};
      const auto answer = must(storage::query_one(backend, lease::with_holder(wait, holder(who)), soon()));
      return answer.outcome.word() + " " + answer.key;
    });
  }
  bool leave(const Names& names, const std::string& who) {
    return with_backend([&](storage::Backend& backend) {
      const std::vector<std::string_view> all(names.begin(), names.end());
      const sql::LockLeaveAll leave{.names = all, .request_id = "place of " + who};
      return must(storage::query_one(backend, leave, soon())).left_line;
    });
  }

  /// Until so many places are taken.
  bool in_line(std::int64_t count) {
    return eventually([&] { return status_of(store()).waiters == count; });
  }

  /// `act(number, its own store)` in so many threads at once.
  void race(int threads, const std::function<void(int, Store&)>& act) {
    std::vector<Store> stores;
    for (int i = 0; i < 4; ++i) stores.push_back(open());
    std::barrier start(threads);
    std::vector<std::jthread> racers;
    for (int i = 0; i < threads; ++i) {
      racers.emplace_back([&, i] {
        start.arrive_and_wait();
        act(i, stores[static_cast<std::size_t>(i) % stores.size()]);
      });
    }
  }

 private:
  std::int64_t reported_ = 0;  ///< the last event that news() has reported
};

}  // namespace leasehold::support
