// Hand-written histories for tests: each act with its process, its first and last millisecond, and its answer.
//
//   Story story("lock");
//   story.did(1, 10, 20, "acquire", "", "ok token=100 at=15 expires=515");
//   story.did(2, 30, 40, "acquire", "", "ok token=101 at=35 expires=535");
//   EXPECT_TRUE(violates(story, "held by p1"));
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "history/check.h"

namespace leasehold::history {

class Story {
 public:
  explicit Story(std::string feature) : feature_(std::move(feature)) {}

  /// On the thing of the story. `reported` is the end line's word and values, with moments in milliseconds; empty: no
  /// answer.
  Story& did(int process, int from, int to, const std::string& verb, const std::string& asked,
             const std::string& reported) {
    return did_to(feature_, "k", process, from, to, verb, asked, reported);
  }
  Story& did_to(const std::string& feature, const std::string& key, int process, int from, int to,
                const std::string& verb, const std::string& asked, const std::string& reported) {
    const auto act = ++acts_[process];
    auto& lines = lines_[process];
    lines += fmt::format("start {} {} {} {} {} {} {}\n", process, act, stamp(from), feature, verb, key, asked);
    if (!reported.empty())
      lines += fmt::format("end {} {} {} {}\n", process, act, stamp(to), in_microseconds(reported));
    return *this;
  }
  /// After its last line; the others live on.
  Story& dies(int process) {
    dead_[process] = true;
    return *this;
  }

  [[nodiscard]] History history() const {
    History history{.run = "story", .ttl = 500'000};
    for (const auto& [process, lines] : lines_) {
      const auto bye = fmt::format("bye {} {}\n", process, stamp(1'000'000));
      add_lines(history, dead_.contains(process) ? lines : lines + bye);
    }
    return history;
  }

 private:
  static Nanoseconds stamp(int millisecond) { return Nanoseconds{millisecond} * 1'000'000; }

  static std::string in_microseconds(const std::string& reported) {
    std::istringstream in(reported);
    std::string out;
    for (std::string word; in >> word;) {
      const bool moment = word.starts_with("at=") || word.starts_with("expires=");
      out += word + (moment ? "000 " : " ");
    }
    return out;
  }

  std::string feature_;
  std::map<int, std::string> lines_;
  std::map<int, std::int64_t> acts_;
  std::map<int, bool> dead_;
};

inline ::testing::AssertionResult is_linearizable(const Story& story) {
  const auto report = check(story.history());
  if (report.verdict() == Verdict::linearizable) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << report.summary() << "\n"
                                       << (report.violations.empty() ? "" : report.violations.front());
}

/// It is rejected, and for this reason.
inline ::testing::AssertionResult violates(const Story& story, const std::string& reason) {
  const auto report = check(story.history());
  if (report.verdict() != Verdict::violated) return ::testing::AssertionFailure() << report.summary();
  if (report.violations.front().find(reason) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << report.violations.front();
}

}  // namespace leasehold::history
