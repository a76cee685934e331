// The database interface: everything leasehold needs from a database, and everything a new one has to implement besides
// its .sql files. It knows statements and transactions, not locks or queues.
//
// Threading: every method of Backend may be called from any thread; a Transaction or ChangeWatch belongs to one thread,
// except where noted.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/time.h"
#include "storage/statement.h"

namespace leasehold::storage {

/// Several statements and scripts in one transaction. Destruction without commit() rolls it back.
class Transaction {
 public:
  virtual ~Transaction() = default;

  virtual Result<Rows> query(const Statement& statement, std::span<const Param> params) = 0;
  /// Runs an embedded script of several statements, adapted to this store (see Backend::localize). Returns the rows of
  /// the last statement that has any, all columns as text.
  virtual Result<Rows> run_script(std::string_view sql) = 0;
  virtual Result<void> commit() = 0;
};

/// Signals possible changes. A hint only: it may come late, twice, without reason, or not at all, so the waiting thread
/// must also look again now and then.
class ChangeWatch {
 public:
  virtual ~ChangeWatch() = default;

  /// Sleeps until a change since the watch was created, or since the last wait returned; or `until`. Returns whether it
  /// was more than the time: a thread that gets the processor late must not take a change for the time.
  virtual bool wait(BootTime until) = 0;

  /// Ends the current wait, or else the next one. May be called from any thread.
  virtual void wake() = 0;
};

/// A statement and its parameters.
struct Question {
  const Statement* statement;
  std::span<const Param> params;
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// Runs one named statement in a transaction of its own and commits it; calls of several threads may share one
  /// commit. `unavailable`, `busy`: nothing happened. `in_doubt`: it may have. Returns by `deadline`, as far as the
  /// operating system allows.
  virtual Result<Rows> query(const Statement& statement, std::span<const Param> params, BootTime deadline) = 0;

  /// Runs several writing statements in order. Each has its own answer as from query(), and a failure of one does not
  /// affect the others. They share one commit if possible. All but the first must not wait for rows locked by others.
  virtual std::vector<Result<Rows>> query_each(std::span<const Question> questions, BootTime deadline) {
    std::vector<Result<Rows>> answers;
    answers.reserve(questions.size());
    for (const auto& question : questions) answers.push_back(query(*question.statement, question.params, deadline));
    return answers;
  }

  /// Starts a transaction that may write.
  virtual Result<std::unique_ptr<Transaction>> begin(BootTime deadline) = 0;

  /// A transaction in an empty place, to try out migrations; it never commits. Its named statements see the objects
  /// that scripts create there instead of the real ones.
  virtual Result<std::unique_ptr<Transaction>> begin_scratch(BootTime deadline) = 0;

  /// Changes under a topic ("lock:deploy"); the empty topic means any.
  virtual std::unique_ptr<ChangeWatch> watch(std::string_view topic) = 0;

  [[nodiscard]] virtual const Dialect& dialect() const = 0;

  /// Adapts the text of an embedded script to this store (its schema name).
  [[nodiscard]] virtual std::string localize(std::string_view sql) const = 0;

  /// True if a pooler may give the server session to other clients between two of our statements.
  virtual Result<bool> shares_session(BootTime deadline) = 0;

  /// Facts about the store's location beyond the statement store_facts: names and values.
  using Facts = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] virtual Facts facts() const { return {}; }

  virtual void close() = 0;
};

}  // namespace leasehold::storage
