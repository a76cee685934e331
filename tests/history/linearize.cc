#include "history/linearize.h"

#include <algorithm>
#include <functional>
#include <random>
#include <unordered_set>

namespace leasehold::history {
namespace {

/// 128 bits: with a million entries, two different ones fall together once in 10^26 runs.
struct Fingerprint {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

struct FingerprintHash {
  std::size_t operator()(const Fingerprint& print) const { return static_cast<std::size_t>(print.low); }
};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29U);
}

std::uint64_t hash_of(const State& state, std::uint64_t seed) {
  auto hash = mix(seed, static_cast<std::uint64_t>(state.phase));
  for (const auto number : {state.token, std::int64_t{state.token_reported}, std::int64_t{state.holder},
                            state.expires_from, state.expires_to, state.attempts, state.writes}) {
    hash = mix(hash, static_cast<std::uint64_t>(number));
  }
  for (const auto* text : {&state.session, &state.cursor, &state.unseen}) {
    for (const char letter : *text) hash = mix(hash, static_cast<unsigned char>(letter));
    hash = mix(hash, text->size());
  }
  return hash;
}

class Search {
 public:
  Search(const std::vector<Act>& acts, const Surroundings& around, std::size_t max)
      : acts_(acts), around_(around), most_(max), taken_(acts.size(), false) {
    std::mt19937_64 draw(acts.size());
    for (std::size_t i = 0; i < acts.size(); ++i) marks_.push_back({.high = draw(), .low = draw()});
  }

  Finding run() {
    go_deeper(State{});
    while (!path_.empty()) {
      if (path_.back().by == never) return {};
      if (seen_.size() > most_) return {.verdict = Verdict::undecided};
      if (!take_next()) go_back();
    }
    return explain();
  }

 private:
  /// A point of the search: the state, and what could come next.
  struct Point {
    State state;
    Nanoseconds by = never;
    std::vector<std::size_t> candidates;
    std::size_t next = 0;
  };

  /// When the first of the acts not taken that certainly happened ended; `never`: there is none.
  [[nodiscard]] Nanoseconds first_end() const {
    auto by = never;
    for (auto i = first_open_; i < acts_.size() && acts_[i].start < by; ++i) {
      if (!taken_[i]) by = std::min(by, acts_[i].end);
    }
    return by;
  }

  /// Acts that certainly happened come first, by their end: that is the likeliest order. Acts in doubt come last.
  [[nodiscard]] std::vector<std::size_t> candidates(Nanoseconds by) const {
    std::vector<std::size_t> found;
    for (auto i = first_open_; i < acts_.size() && acts_[i].start < by; ++i) {
      if (!taken_[i]) found.push_back(i);
    }
    std::stable_sort(found.begin(), found.end(), [&](auto a, auto b) { return acts_[a].end < acts_[b].end; });
    return found;
  }

  void go_deeper(State state) {
    while (first_open_ < acts_.size() && taken_[first_open_]) ++first_open_;
    const auto by = first_end();
    path_.push_back({.state = std::move(state), .by = by, .candidates = candidates(by)});
    note_progress();
  }

  bool take_next() {
    auto& point = path_.back();
    while (point.next < point.candidates.size()) {
      const auto act = point.candidates[point.next++];
      auto ruling = rule(point.state, acts_[act], {.by = point.by}, around_);
      if (!ruling.next) continue;
      // An act in doubt that would have changed nothing can be left out.
      if (acts_[act].answer == Answer::may_have && *ruling.next == point.state) continue;
      toggle(act);
      if (!seen_.insert(fingerprint(*ruling.next)).second) {
        toggle(act);
        continue;
      }
      order_.push_back(act);
      go_deeper(std::move(*ruling.next));
      return true;
    }
    return false;
  }

  void go_back() {
    path_.pop_back();
    if (order_.empty()) return;
    toggle(order_.back());
    first_open_ = std::min(first_open_, order_.back());
    order_.pop_back();
  }

  void toggle(std::size_t act) {
    taken_[act] = !taken_[act];
    set_.high ^= marks_[act].high;
    set_.low ^= marks_[act].low;
  }

  [[nodiscard]] Fingerprint fingerprint(const State& state) const {
    return {.high = set_.high ^ hash_of(state, 1), .low = set_.low ^ hash_of(state, 2)};
  }

  void note_progress() {
    const auto& point = path_.back();
    if (!farthest_.candidates.empty() && point.by <= farthest_.by) return;
    farthest_ = point;
    farthest_order_ = order_;
  }

  [[nodiscard]] Finding explain() const {
    Finding finding{.verdict = Verdict::violated, .order = farthest_order_};
    for (const auto act : farthest_.candidates) {
      if (acts_[act].answer == Answer::may_have) continue;
      const auto ruling = rule(farthest_.state, acts_[act], {.by = farthest_.by}, around_);
      if (!ruling.next) finding.obstacles.push_back({.act = act, .why = ruling.why});
    }
    return finding;
  }

  const std::vector<Act>& acts_;
  const Surroundings& around_;
  std::size_t most_;
  std::vector<bool> taken_;
  std::size_t first_open_ = 0;
  std::vector<Fingerprint> marks_;
  Fingerprint set_;
  std::vector<Point> path_;
  std::vector<std::size_t> order_;
  std::unordered_set<Fingerprint, FingerprintHash> seen_;
  Point farthest_;
  std::vector<std::size_t> farthest_order_;
};

}  // namespace

Finding linearize(const std::vector<Act>& acts, const Surroundings& around, std::size_t max) {
  return Search(acts, around, max).run();
}

}  // namespace leasehold::history
