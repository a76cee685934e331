// A store whose network breaks on demand.
//
//   auto faults = std::make_shared<FaultBackend>(test_store.open_backend());
//   auto store = store_over(faults, {});
//   faults->fail_next(Fault::lose_reply);          // done, but the answer is lost: in_doubt
//   faults->fail_always(Fault::fail_before_send);  // never reached the store: unavailable
//   faults->hold("job_settle_many");              // waits until let_go()
//   faults->asked();                               // what was asked for and waited for, in order
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "storage/backend.h"

namespace leasehold::support {

enum class Fault { none, fail_before_send, lose_reply };

class FaultBackend final : public storage::Backend {
 public:
  explicit FaultBackend(std::shared_ptr<storage::Backend> inner) : inner_(std::move(inner)) {}

  /// The next `times` calls fail like this; with a statement's name, only calls of that one. What was said before is
  /// forgotten.
  void fail_next(Fault fault, int times = 1, std::string statement = {}) {
    heal();
    then_fail(fault, times, std::move(statement));
  }
  /// The same, besides what was said before, and after it where both speak of one statement.
  void then_fail(Fault fault, int times, std::string statement) {
    const std::lock_guard lock(mutex_);
    rules_.push_back({fault, times, std::move(statement), unreachable()});
  }
  /// The next `times` calls of a statement never reach the store and are answered like this; besides what was said.
  void refuse_next(Error answer, int times, std::string statement) {
    const std::lock_guard lock(mutex_);
    rules_.push_back({Fault::fail_before_send, times, std::move(statement), std::move(answer)});
  }
  void fail_always(Fault fault) { fail_next(fault, std::numeric_limits<int>::max()); }
  void heal() {
    const std::lock_guard lock(mutex_);
    rules_.clear();
  }

  /// Calls of a statement wait before they are sent until let_go(), or ten seconds.
  void hold(std::string statement) {
    const std::lock_guard lock(mutex_);
    held_ = std::move(statement);
  }
  void let_go() {
    hold("");
    let_go_.notify_all();
  }

  /// Gets the name of every statement before it is sent.
  void listen(std::function<void(std::string_view)> listener) { listener_ = std::move(listener); }

  /// How often a statement was asked for.
  [[nodiscard]] int calls(const std::string& statement) const {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(statement);
    return found == calls_.end() ? 0 : found->second;
  }

  /// Every statement that was asked for, every "wait TOPIC" for a change, and what the test noted; in order.
  [[nodiscard]] std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  void note(std::string what) {
    const std::lock_guard lock(mutex_);
    ++calls_[what];
    asked_.push_back(std::move(what));
  }

  /// How long the latest call of a statement was willing to wait.
  [[nodiscard]] Duration patience(const std::string& statement) const {
    const std::lock_guard lock(mutex_);
    const auto found = patience_.find(statement);
    return found == patience_.end() ? Duration::max() : found->second;
  }

  /// How many calls failed on purpose.
  [[nodiscard]] int failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
  }

  Result<storage::Rows> query(const storage::Statement& statement, std::span<const storage::Param> params,
                              BootTime deadline) override {
    if (listener_) listener_(statement.name);
    note_patience(statement.name, deadline - BootClock::now());
    const auto rule = draw(statement.name);
    if (rule.fault == Fault::fail_before_send) return rule.error;
    return with_fault(rule.fault, inner_->query(statement, params, deadline));
  }
  /// Those that fail before they are sent are missing from what travels together.
  std::vector<Result<storage::Rows>> query_each(std::span<const storage::Question> questions,
                                                BootTime deadline) override {
    std::vector<Rule> rules;
    std::vector<storage::Question> sent;
    for (const auto& question : questions) {
      rules.push_back(draw(question.statement->name));
      if (rules.back().fault != Fault::fail_before_send) sent.push_back(question);
    }
    auto rows = inner_->query_each(sent, deadline);
    std::vector<Result<storage::Rows>> answers;
    for (std::size_t i = 0, next = 0; i < questions.size(); ++i) {
      const bool missing = rules[i].fault == Fault::fail_before_send;
      answers.push_back(missing ? Result<storage::Rows>(rules[i].error)
                                : with_fault(rules[i].fault, std::move(rows[next++])));
    }
    return answers;
  }
  Result<std::unique_ptr<storage::Transaction>> begin(BootTime deadline) override {
    if (const auto rule = draw("begin"); rule.fault == Fault::fail_before_send) return rule.error;
    return inner_->begin(deadline);
  }
  Result<std::unique_ptr<storage::Transaction>> begin_scratch(BootTime deadline) override {
    return inner_->begin_scratch(deadline);
  }
  std::unique_ptr<storage::ChangeWatch> watch(std::string_view topic) override {
    return std::make_unique<NotedWatch>(*this, "wait " + std::string(topic), inner_->watch(topic));
  }
  [[nodiscard]] const storage::Dialect& dialect() const override { return inner_->dialect(); }
  [[nodiscard]] std::string localize(std::string_view sql) const override { return inner_->localize(sql); }
  Result<bool> shares_session(BootTime deadline) override { return inner_->shares_session(deadline); }
  void close() override { inner_->close(); }

 private:
  static Result<storage::Rows> with_fault(Fault fault, Result<storage::Rows> rows) {
    if (fault != Fault::lose_reply || !rows) return rows;
    return Error{.code = Errc::in_doubt, .message = "the connection broke before the answer came"};
  }

  static Error unreachable() { return {.code = Errc::unavailable, .message = "the store cannot be reached"}; }

  struct Rule {
    Fault fault = Fault::none;
    int times = 0;
    std::string statement{};  ///< empty: every one
    Error error{};            ///< for Fault::fail_before_send
  };

  class NotedWatch final : public storage::ChangeWatch {
   public:
    NotedWatch(FaultBackend& whose, std::string what, std::unique_ptr<storage::ChangeWatch> inner)
        : whose_(whose), what_(std::move(what)), inner_(std::move(inner)) {}
    bool wait(BootTime until) override {
      whose_.note(what_);
      return inner_->wait(until);
    }
    void wake() override { inner_->wake(); }

   private:
    FaultBackend& whose_;
    const std::string what_;
    const std::unique_ptr<storage::ChangeWatch> inner_;
  };

  void note_patience(std::string_view statement, Duration patience) {
    const std::lock_guard lock(mutex_);
    patience_[std::string(statement)] = patience;
  }

  Rule draw(std::string_view statement) {
    note(std::string(statement));
    std::unique_lock lock(mutex_);
    let_go_.wait_for(lock, std::chrono::seconds(10), [&] { return held_ != statement; });
    for (auto& rule : rules_) {
      if (rule.times == 0 || (!rule.statement.empty() && statement != rule.statement)) continue;
      --rule.times;
      ++failures_;
      return rule;
    }
    return {};
  }

  std::shared_ptr<storage::Backend> inner_;
  mutable std::mutex mutex_;
  std::condition_variable let_go_;
  std::vector<Rule> rules_;
  std::string held_;
  int failures_ = 0;
  std::map<std::string, int> calls_;
  std::map<std::string, Duration> patience_;
  std::vector<std::string> asked_;
  std::function<void(std::string_view)> listener_;
};

}  // namespace leasehold::support
