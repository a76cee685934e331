// A chunk set made of memory for the loader runtime, that the test breaks, holds up and looks into.
//
//   FakeChunkSource source(300ms);
//   source.add("a");
//   ... run_loader(source, ...) on another thread ...
//   ASSERT_TRUE(source.await([](const auto& seen) { return seen.verdicts.contains("a"); }));
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "loader/source.h"

namespace leasehold::support {

class FakeChunkSource final : public loader::ChunkSource {
 public:
  /// What the loader did so far.
  struct Seen {
    std::vector<std::string> claimed;
    std::vector<std::int64_t> claim_leases;  ///< attached to
    std::map<std::string, std::vector<std::string>> saves;
    std::map<std::string, std::vector<std::string>> verdicts;  ///< "complete 5", "fail oops (for good)", "release"
    std::map<std::string, int> heartbeats;                     ///< without anything to save
    std::vector<std::int64_t> opened;
    std::vector<std::int64_t> closed;
    int beats = 0;
    int save_calls = 0;
    int settle_calls = 0;
    int waits = 0;  ///< how often a claim lay down to wait
  };

  explicit FakeChunkSource(Duration ttl) : ttl_(ttl) {}

  void add(const std::string& key, bool alone = false) {
    change([&] {
      open_.push_back(key);
      if (alone) alone_.insert(key);
    });
  }
  /// Somebody else loads it; give_back() ends that.
  void add_held(const std::string& key) {
    change([&] { held_.insert(key); });
  }
  void give_back(const std::string& key) {
    change([&] {
      held_.erase(key);
      open_.push_back(key);
    });
  }

  /// Every call fails like this until it is nothing.
  void fail_all_with(std::optional<Error> error) {
    change([&] { broken_ = std::move(error); });
  }
  /// Only these calls, so many times.
  enum class Call { claim, extend, save, settle, progress };
  void fail_with(Call call, Error error, int times) {
    change([&] { failures_[call] = {std::move(error), times}; });
  }
  /// The claim takes its chunk, but its answer does not arrive.
  void lose_next_claim() {
    change([&] { lose_claim_ = true; });
  }
  void lose_lease(std::int64_t id) {
    change([&] { lost_leases_.insert(id); });
  }
  void lose_chunk(const std::string& key) {
    change([&] { lost_chunks_.insert(key); });
  }

  /// True as soon as it is so; false after ten seconds. Looks again with every call of the loader, and now and then.
  bool await(const std::function<bool(const Seen&)>& so) {
    const auto give_up = BootClock::now() + std::chrono::seconds(10);
    std::unique_lock lock(mutex_);
    while (!so(seen_)) {
      if (BootClock::now() >= give_up) return false;
      changed_.wait_for(lock, std::chrono::milliseconds(5));
    }
    return true;
  }
  Seen seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

  Result<LoaderLease> open_lease() override {
    const Act act(*this);
    if (broken_) return *broken_;
    seen_.opened.push_back(++last_lease_);
    return lease(last_lease_);
  }

  Result<LoaderLease> extend(const LoaderLease& extended) override {
    const Act act(*this);
    ++seen_.beats;
    if (auto error = failure(Call::extend)) return *error;
    if (lost_leases_.contains(extended.id)) return lost();
    return lease(extended.id);
  }

  Result<void> close(const LoaderLease& closed) override {
    const Act act(*this);
    if (broken_) return *broken_;
    if (lost_leases_.contains(closed.id)) return lost();
    seen_.closed.push_back(closed.id);
    for (auto& [key, id] : std::exchange(attached_, {})) {
      id == closed.id ? open_.push_back(key) : static_cast<void>(attached_[key] = id);
    }
    return {};
  }

  Result<ChunkGrant> claim(const LoaderLease& to, Patience patience, const std::stop_token& stop) override {
    const std::stop_callback wake(stop, [this] { change([] {}); });
    Act act(*this);
    seen_.claim_leases.push_back(to.id);
    if (auto error = failure(Call::claim)) return *error;
    if (lost_leases_.contains(to.id)) return lost();
    const auto may_go_on = [&] { return stop.stop_requested() || !open_.empty() || broken_ || is_final(); };
    if (patience == Patience::wait && !may_go_on()) {
      ++seen_.waits;
      changed_.notify_all();
      changed_.wait(act.lock, may_go_on);
    }
    if (open_.empty()) return refusal();
    auto grant = take(to);
    if (std::exchange(lose_claim_, false)) return Error{.code = Errc::in_doubt, .message = "the answer was lost"};
    return grant;
  }

  Result<ChunkHeartbeat> heartbeat(const Chunk& chunk, const ChunkSave& save) override {
    const Act act(*this);
    const bool saves = save.cursor || save.rows;
    if (saves) ++seen_.save_calls;
    if (auto error = saves ? failure(Call::save) : broken_) return *error;
    if (!saves) ++seen_.heartbeats[chunk.key];
    if (lost_chunks_.contains(chunk.key)) return lost();
    if (saves) seen_.saves[chunk.key].push_back(std::string(save.cursor.value_or("-")) + " " + count(save.rows));
    return ChunkHeartbeat{.ttl = ttl_, .trusted_until = trusted(), .rows = save.rows.value_or(0)};
  }

  Result<ChunkSettled> settle(const Chunk& chunk, const ChunkVerdict& verdict) override {
    const Act act(*this);
    ++seen_.settle_calls;
    if (auto error = failure(Call::settle)) return *error;
    if (lost_chunks_.contains(chunk.key)) return lost();
    if (verdict.text.size() > 1000) return Error{.code = Errc::invalid_argument, .message = "the text is too long"};
    seen_.verdicts[chunk.key].push_back(words_of(verdict));
    attached_.erase(chunk.key);
    if (verdict.kind == ChunkVerdict::Kind::release) open_.push_back(chunk.key);
    return ChunkSettled{};
  }

  Result<ChunkSetInfo> progress() override {
    const Act act(*this);
    if (auto error = failure(Call::progress)) return *error;
    ChunkSetInfo set;
    set.name = "set";
    set.state = is_final() ? ChunkSetState::complete : ChunkSetState::running;
    return set;
  }

 private:
  /// One call: alone, and the test looks again afterwards.
  struct Act {
    explicit Act(FakeChunkSource& whose) : source(whose), lock(whose.mutex_) {}
    Act(const Act&) = delete;
    Act& operator=(const Act&) = delete;
    ~Act() {
      lock.unlock();
      source.changed_.notify_all();
    }
    FakeChunkSource& source;
    std::unique_lock<std::mutex> lock;
  };

  template <typename Change>
  void change(Change&& how) {
    {
      const std::lock_guard lock(mutex_);
      how();
    }
    changed_.notify_all();
  }

  std::optional<Error> failure(Call call) {
    if (broken_) return broken_;
    auto& [error, times] = failures_[call];
    if (times == 0) return std::nullopt;
    --times;
    return error;
  }
  static Error lost() {
    return {.code = Errc::lost, .message = "the lease is lost", .lost_reason = LostReason::expired};
  }
  [[nodiscard]] bool is_final() const { return open_.empty() && held_.empty() && attached_.empty(); }
  [[nodiscard]] Error refusal() const {
    if (broken_) return *broken_;
    if (is_final()) return {.code = Errc::empty, .message = "the set is complete"};
    return {.code = Errc::held, .message = "somebody is at them"};
  }
  [[nodiscard]] BootTime trusted() const { return BootClock::now() + ttl_; }
  [[nodiscard]] LoaderLease lease(std::int64_t id) const {
    return {.id = id, .instance = "fake", .ttl = ttl_, .expires_at = {}, .trusted_until = trusted()};
  }

  ChunkGrant take(const LoaderLease& to) {
    ChunkGrant grant{.chunks = {}, .lease_id = to.id, .holder = {}, .ttl = ttl_, .trusted_until = trusted()};
    const auto key = open_.front();
    open_.pop_front();
    grant.alone = alone_.contains(key);
    if (grant.alone) grant.lease_id = ++last_lease_;
    attached_[key] = grant.lease_id;
    seen_.claimed.push_back(key);
    grant.chunks.push_back({.set = "set", .key = key, .token = {++last_token_}, .spec = "{}"});
    return grant;
  }

  static std::string count(std::optional<std::int64_t> rows) { return rows ? std::to_string(*rows) : "-"; }
  static std::string words_of(const ChunkVerdict& verdict) {
    switch (verdict.kind) {
      case ChunkVerdict::Kind::complete: return "complete " + count(verdict.rows);
      case ChunkVerdict::Kind::fail:
        return "fail " + verdict.text + (verdict.retryable ? "" : " (for good)") + (verdict.delay ? " (later)" : "");
      case ChunkVerdict::Kind::release: return "release";
      case ChunkVerdict::Kind::skip: break;
    }
    return "skip " + verdict.text;
  }

  const Duration ttl_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Seen seen_;
  std::deque<std::string> open_;
  std::set<std::string> alone_;
  std::set<std::string> held_;                    ///< by others
  std::map<std::string, std::int64_t> attached_;  ///< to which of the loader's leases
  std::set<std::string> lost_chunks_;
  std::set<std::int64_t> lost_leases_;
  std::optional<Error> broken_;
  std::map<Call, std::pair<Error, int>> failures_;
  bool lose_claim_ = false;
  std::int64_t last_lease_ = 100;
  std::int64_t last_token_ = 1000;
};

}  // namespace leasehold::support
