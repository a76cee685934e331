// The seam: all that leasehold asks of a database, and all that a new one has to offer besides its
// .sql files. It knows statements and transactions, nothing of locks or queues.
//
// Threading: every method of Backend may be called from any thread; a Transaction or ChangeWatch
// belongs to one, but for what says otherwise.
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

/// Several statements and scripts in one transaction. Destroyed without commit(): rolled back.
class Transaction {
 public:
  virtual ~Transaction() = default;

  virtual Result<Rows> query(const Statement& statement, std::span<const Param> params) = 0;
  /// An embedded script: several statements, put into this store's words (see Backend::localize).
  /// Gives the rows of the last one that has any, all columns as text.
  virtual Result<Rows> run_script(std::string_view sql) = 0;
  virtual Result<void> commit() = 0;
};

/// Tells that something may have changed. A hint: it may come late, twice, for nothing, or not at all,
/// so the one who waits looks again now and then.
class ChangeWatch {
 public:
  virtual ~ChangeWatch() = default;

  /// Sleeps until a change since the watch was made, or since the last wait returned; or `until`.
  virtual void wait(BootTime until) = 0;

  /// Ends the wait that is under way, or else the next one. From any thread.
  virtual void wake() = 0;
};

/// A statement and what it is asked with.
struct Question {
  const Statement* statement;
  std::span<const Param> params;
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// Runs one named statement in a transaction of its own and commits it; calls of several threads
  /// may share one commit. `unavailable`, `busy`: nothing happened. `in_doubt`: it may have.
  /// Never returns later than `deadline`, as far as the operating system allows.
  virtual Result<Rows> query(const Statement& statement, std::span<const Param> params, BootTime deadline) = 0;

  /// Several statements that write, in their order, each with its own answer as from query(): what becomes of one does
  /// not touch the others. One commit for all of them, wherever that can be had. Those behind the first must not wait
  /// for rows that others have locked.
  virtual std::vector<Result<Rows>> query_each(std::span<const Question> questions, BootTime deadline) {
    std::vector<Result<Rows>> answers;
    answers.reserve(questions.size());
    for (const auto& question : questions) answers.push_back(query(*question.statement, question.params, deadline));
    return answers;
  }

  /// Starts a transaction that may write.
  virtual Result<std::unique_ptr<Transaction>> begin(BootTime deadline) = 0;

  /// A transaction on an empty place where migrations can be tried out; never commits. What scripts
  /// make there, the named statements of the transaction see instead of the real thing.
  virtual Result<std::unique_ptr<Transaction>> begin_scratch(BootTime deadline) = 0;

  /// Changes under a topic ("lock:deploy"), or under any for the empty topic.
  virtual std::unique_ptr<ChangeWatch> watch(std::string_view topic) = 0;

  [[nodiscard]] virtual const Dialect& dialect() const = 0;

  /// Puts the text of an embedded script into this store's words (its schema name).
  [[nodiscard]] virtual std::string localize(std::string_view sql) const = 0;

  /// Others may get the server's session between two of our statements: a pooler is in between.
  virtual Result<bool> shares_session(BootTime deadline) = 0;

  /// What can be told of the store's place besides what the statement store_facts tells: names and values.
  using Facts = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] virtual Facts facts() const { return {}; }

  virtual void close() = 0;
};

}  // namespace leasehold::storage
