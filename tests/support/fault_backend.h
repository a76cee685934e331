// A store whose network breaks on demand.
//
//   auto faults = std::make_shared<FaultBackend>(test_store.open_backend());
//   auto store = store_over(faults, {});
//   faults->fail_next(Fault::lose_reply);          // done, but nobody is told: in_doubt
//   faults->fail_always(Fault::fail_before_send);  // never reached the store: unavailable
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "storage/backend.h"

namespace leasehold::support {

enum class Fault { none, fail_before_send, lose_reply };

class FaultBackend final : public storage::Backend {
 public:
  explicit FaultBackend(std::shared_ptr<storage::Backend> inner) : inner_(std::move(inner)) {}

  /// The next `times` calls fail like this; with a statement's name, only calls of that one.
  void fail_next(Fault fault, int times = 1, std::string statement = {}) {
    const std::lock_guard lock(mutex_);
    fault_ = fault;
    times_ = times;
    statement_ = std::move(statement);
  }
  void fail_always(Fault fault) { fail_next(fault, std::numeric_limits<int>::max()); }
  void heal() { fail_next(Fault::none, 0); }

  /// How often a statement was asked for.
  [[nodiscard]] int calls(const std::string& statement) const {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(statement);
    return found == calls_.end() ? 0 : found->second;
  }

  /// How many calls failed on purpose.
  [[nodiscard]] int failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
  }

  Result<storage::Rows> query(const storage::Statement& statement, std::span<const storage::Param> params,
                              BootTime deadline) override {
    const auto fault = draw(statement.name);
    if (fault == Fault::fail_before_send) return unreachable();
    return with_fault(fault, inner_->query(statement, params, deadline));
  }
  /// Those that fail before they are sent are missing from what travels together.
  std::vector<Result<storage::Rows>> query_each(std::span<const storage::Question> questions,
                                                BootTime deadline) override {
    std::vector<Fault> faults;
    std::vector<storage::Question> sent;
    for (const auto& question : questions) {
      faults.push_back(draw(question.statement->name));
      if (faults.back() != Fault::fail_before_send) sent.push_back(question);
    }
    auto rows = inner_->query_each(sent, deadline);
    std::vector<Result<storage::Rows>> answers;
    for (std::size_t i = 0, next = 0; i < questions.size(); ++i) {
      const bool missing = faults[i] == Fault::fail_before_send;
      answers.push_back(missing ? Result<storage::Rows>(unreachable())
                                : with_fault(faults[i], std::move(rows[next++])));
    }
    return answers;
  }
  Result<std::unique_ptr<storage::Transaction>> begin(BootTime deadline) override {
    if (draw("begin") == Fault::fail_before_send) return unreachable();
    return inner_->begin(deadline);
  }
  Result<std::unique_ptr<storage::Transaction>> begin_scratch(BootTime deadline) override {
    return inner_->begin_scratch(deadline);
  }
  std::unique_ptr<storage::ChangeWatch> watch(std::string_view topic) override { return inner_->watch(topic); }
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

  Fault draw(std::string_view statement) {
    const std::lock_guard lock(mutex_);
    ++calls_[std::string(statement)];
    if (times_ == 0 || (!statement_.empty() && statement != statement_)) return Fault::none;
    --times_;
    ++failures_;
    return fault_;
  }

  std::shared_ptr<storage::Backend> inner_;
  mutable std::mutex mutex_;
  Fault fault_ = Fault::none;
  int times_ = 0;
  int failures_ = 0;
  std::map<std::string, int> calls_;
  std::string statement_;
};

}  // namespace leasehold::support
