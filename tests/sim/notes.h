// The output of a run: a trace to read, counts that show what was exercised, and the bars of its timeline.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "leasehold/time.h"
#include "sim/options.h"

namespace leasehold::sim {

/// A grant that a process has, from the answer until it was given up, lost or forgotten.
struct Bar {
  int client = 0;
  std::string key;
  std::int64_t token = 0;
  std::string lease;
  std::int64_t from = 0;  ///< step
  std::optional<std::int64_t> to{};
  Duration trusted_to{0};  ///< by the age of the run: it is over then, whatever the holder knows
};

/// Something that happened to a client at a moment; client -1: to the machine.
struct Mark {
  int client = 0;
  std::int64_t at = 0;                  ///< step
  std::optional<std::int64_t> until{};  ///< of a pause
  std::string what;
};

class Notes {
 public:
  /// A trace ends with what it was about: nothing is noted from now on.
  void close() { closed_ = true; }
  /// Where the run is: stands before every line.
  void at(Duration age, std::int64_t step) {
    if (closed_) return;
    age_ = age;
    step_ = step;
    ages_.resize(static_cast<std::size_t>(step) + 1, age);
  }
  template <typename... Args>
  void say(const std::string& who, fmt::format_string<Args...> format, Args&&... args) {
    if (closed_) return;
    lines_.push_back(fmt::format("{:7} {:12.6f}s {:>8}  ", step_, static_cast<double>(age_.count()) / 1e6, who) +
                     fmt::format(format, std::forward<Args>(args)...));
  }
  void count_act(const std::string& act, const std::string& answer) {
    ++acts_[act];
    ++answers_[act + ": " + answer];
  }
  void count(Fault fault) { ++faults_[fault]; }

  void open_bar(Bar bar) {
    bar.from = step_;
    bars_.push_back(std::move(bar));
  }
  void extend_bars(const std::string& lease, Duration trusted_to) {
    for (auto& bar : bars_) {
      if (bar.lease == lease && !bar.to) bar.trusted_to = trusted_to;
    }
  }
  void close_bar(int client, const std::string& key, std::int64_t token) {
    for (auto bar = bars_.rbegin(); bar != bars_.rend(); ++bar) {
      if (bar->client != client || bar->key != key || bar->token != token) continue;
      if (!bar->to) bar->to = step_;
      return;
    }
  }
  void close_bars(int client) {
    for (auto& bar : bars_) {
      if (bar.client == client && !bar.to && !closed_) bar.to = step_;
    }
  }
  void mark(int client, std::string what) {
    if (!closed_) marks_.push_back({.client = client, .at = step_, .what = std::move(what)});
  }
  /// The latest mark of the client is over.
  void end_mark(int client) {
    for (auto mark = marks_.rbegin(); mark != marks_.rend(); ++mark) {
      if (mark->client != client) continue;
      if (!closed_) mark->until = step_;
      return;
    }
  }

  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] const std::map<std::string, std::int64_t>& acts() const { return acts_; }
  [[nodiscard]] const std::map<std::string, std::int64_t>& answers() const { return answers_; }
  [[nodiscard]] const std::map<Fault, std::int64_t>& faults() const { return faults_; }
  [[nodiscard]] const std::vector<Bar>& bars() const { return bars_; }
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }
  /// When a step was.
  [[nodiscard]] Duration age_at(std::int64_t step) const {
    const auto at = static_cast<std::size_t>(step);
    return at < ages_.size() ? ages_[at] : age_;
  }

 private:
  bool closed_ = false;
  Duration age_{0};
  std::int64_t step_ = 0;
  std::vector<Duration> ages_;
  std::vector<std::string> lines_;
  std::map<std::string, std::int64_t> acts_;
  std::map<std::string, std::int64_t> answers_;
  std::map<Fault, std::int64_t> faults_;
  std::vector<Bar> bars_;
  std::vector<Mark> marks_;
};

}  // namespace leasehold::sim
