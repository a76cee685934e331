#include "storage/sqlite/backend.h"

#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <vector>

#include "storage/combiner.h"
#include "storage/sqlite/dialect.h"
#include "storage/sqlite/writer.h"

namespace leasehold::sqlite {
namespace {

using storage::Call;
using storage::Param;
using storage::Rows;
using storage::Statement;

class FileTransaction final : public storage::Transaction {
 public:
  explicit FileTransaction(Writer::Turn turn) : turn_(std::move(turn)) {}

  Result<Rows> query(const Statement& statement, std::span<const Param> params) override {
    return turn_.connection().run(statement, params, turn_.moment());
  }
  Result<Rows> run_script(std::string_view sql) override { return turn_.connection().run_script(sql); }
  Result<void> commit() override { return turn_.commit(); }

 private:
  Writer::Turn turn_;
};

/// An empty database in memory, thrown away at the end.
class ScratchTransaction final : public storage::Transaction {
 public:
  ScratchTransaction(std::unique_ptr<Connection> connection, Moment moment)
      : connection_(std::move(connection)), moment_(moment) {}

  Result<Rows> query(const Statement& statement, std::span<const Param> params) override {
    return connection_->run(statement, params, moment_);
  }
  Result<Rows> run_script(std::string_view sql) override { return connection_->run_script(sql); }
  Result<void> commit() override {
    return Error{.code = Errc::internal, .message = "a scratch transaction is never committed"};
  }

 private:
  std::unique_ptr<Connection> connection_;
  Moment moment_;
};

/// Connections for reading: as many as threads read at once.
class Readers {
 public:
  Readers(std::string path, bool durable) : path_(std::move(path)), durable_(durable) {}

  Result<std::unique_ptr<Connection>> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
      }
    }
    return Connection::open(path_, durable_);
  }
  void give_back(std::unique_ptr<Connection> connection) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
  }
  void close() {
    const std::lock_guard lock(mutex_);
    idle_.clear();
  }

 private:
  std::string path_;
  bool durable_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

class FileBackend final : public storage::Backend {
 public:
  FileBackend(const StoreUrl& url, std::unique_ptr<Connection> connection, const Clock& clock)
      : path_(url.path),
        in_memory_(url.in_memory()),
        wall_(clock),
        hub_(std::make_shared<ChangeHub>()),
        writer_(std::move(connection), url.path, clock, hub_),
        readers_(url.path, url.durable) {}

  Result<Rows> query(const Statement& statement, std::span<const Param> params, BootTime deadline) override {
    if (auto known = know_clock(deadline); !known) return std::move(known).error();
    if (statement.access == storage::Access::read && !in_memory_) return read(statement, params, deadline);
    Call call{&statement, params, deadline};
    return combiner_.run(call, [this](std::span<Call* const> calls) { run_batch(calls); });
  }

  std::vector<Result<Rows>> query_each(std::span<const storage::Question> questions, BootTime deadline) override {
    if (auto known = know_clock(deadline); !known) return {questions.size(), Result<Rows>(known.error())};
    auto calls = storage::calls_for(questions, deadline);
    if (!calls.empty()) combiner_.run_all(calls, [this](std::span<Call* const> batch) { run_batch(batch); });
    std::vector<Result<Rows>> answers;
    answers.reserve(calls.size());
    for (auto& call : calls) answers.push_back(std::move(call.answer));
    return answers;
  }

  Result<std::unique_ptr<storage::Transaction>> begin(BootTime deadline) override {
    auto turn = writer_.begin(false, deadline);
    if (!turn) return std::move(turn).error();
    return std::unique_ptr<storage::Transaction>(std::make_unique<FileTransaction>(std::move(*turn)));
  }

  Result<std::unique_ptr<storage::Transaction>> begin_scratch(BootTime) override {
    auto connection = Connection::open(":memory:", true);
    if (!connection) return std::move(connection).error();
    const Moment moment{wall_.wall_now(), wall_.wall_now()};
    return std::unique_ptr<storage::Transaction>(std::make_unique<ScratchTransaction>(std::move(*connection), moment));
  }

  std::unique_ptr<storage::ChangeWatch> watch(std::string_view) override { return make_change_watch(path_, hub_); }
  [[nodiscard]] const storage::Dialect& dialect() const override { return sqlite::dialect(); }
  [[nodiscard]] std::string localize(std::string_view sql) const override { return std::string(sql); }
  Result<bool> shares_session(BootTime) override { return false; }
  void close() override { readers_.close(); }

 private:
  /// With the first query, not when opening: the tables may have to be made first.
  Result<void> know_clock(BootTime deadline) {
    if (writer_.clock_known()) return {};
    // Whoever only wants to look should not have to wait for a writer.
    if (!in_memory_) {
      auto reader = readers_.take();
      if (!reader) return std::move(reader).error();
      auto learned = writer_.learn_clock(**reader, deadline);
      readers_.give_back(std::move(*reader));
      if (!learned) return std::move(learned).error();
      if (*learned) return {};
    }
    auto turn = writer_.begin(false, deadline);
    if (!turn) return std::move(turn).error();
    if (auto loaded = turn->load_clock(); !loaded) return loaded;
    return turn->commit();
  }

  Result<Rows> read(const Statement& statement, std::span<const Param> params, BootTime deadline) {
    auto connection = readers_.take();
    if (!connection) return std::move(connection).error();
    (*connection)->be_patient_until(deadline);
    auto rows = (*connection)->run(statement, params, writer_.moment());
    readers_.give_back(std::move(*connection));
    return rows;
  }

  /// All in one transaction and one commit. Where one of them fails, nothing has happened to any: then
  /// each goes alone, so that nobody pays for another's error.
  void run_batch(std::span<Call* const> calls) {
    if (run_together(calls) || calls.size() == 1) return;
    for (auto* call : calls) run_together(std::span(&call, 1));
  }

  /// False: one of them failed, and nothing has happened to any. The answers are filled in either way.
  bool run_together(std::span<Call* const> calls) {
    bool urgent = false;
    auto deadline = calls.front()->deadline;
    for (const auto* call : calls) {
      urgent = urgent || call->statement->urgent;
      deadline = std::min(deadline, call->deadline);
    }
    auto turn = writer_.begin(urgent, deadline);
    if (!turn) {
      // Another would not get in either; who still has time asks again.
      answer_all(calls, turn.error());
      return true;
    }
    for (auto* call : calls) {
      call->answer = turn->connection().run(*call->statement, call->params, turn->moment());
      if (!call->answer) return false;
    }
    // Whether a failed commit reached the disk cannot be told: nobody may try again by himself.
    if (auto committed = turn->commit(); !committed) answer_all(calls, committed.error());
    return true;
  }

  static void answer_all(std::span<Call* const> calls, const Error& error) {
    for (auto* call : calls) call->answer = error;
  }

  std::string path_;
  bool in_memory_;
  const Clock& wall_;
  std::shared_ptr<ChangeHub> hub_;
  Writer writer_;
  Readers readers_;
  storage::Combiner combiner_;
};

Error cannot_open(const std::string& path, std::string_view why) {
  return {.code = Errc::unavailable, .message = fmt::format("opening {}: {}", path, why)};
}

// Opened again and again, by readers and watches: a later chdir or a symlink must not lead elsewhere.
StoreUrl with_fixed_path(StoreUrl url) {
  std::error_code failed;
  const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(url.path, failed), failed);
  if (!url.in_memory() && !failed) url.path = path.string();
  return url;
}

}  // namespace

Result<std::unique_ptr<storage::Backend>> open(const StoreUrl& url, const Clock& clock, BootTime) {
  const auto fixed = with_fixed_path(url);
  std::error_code ignored;
  if (std::filesystem::is_directory(fixed.path, ignored)) return cannot_open(fixed.path, "it is a folder, not a file");
  auto connection = Connection::open(fixed.path, fixed.durable);
  if (!connection) return std::move(connection).error();
  return std::unique_ptr<storage::Backend>(std::make_unique<FileBackend>(fixed, std::move(*connection), clock));
}

Result<bool> rehome(const StoreUrl& url, const Clock& clock) {
  const auto path = with_fixed_path(url).path;
  auto connection = Connection::open(path, true);
  if (!connection) return std::move(connection).error();
  Writer writer(std::move(*connection), path, clock, std::make_shared<ChangeHub>());
  auto turn = writer.begin(false, BootClock::now() + std::chrono::seconds(10));
  if (!turn) return std::move(turn).error();
  auto usable = StoreClock(clock).is_usable(turn->connection());
  if (!usable) return std::move(usable).error();
  if (*usable) return false;
  auto forgotten = forget_machine(turn->connection(), clock.wall_now());
  if (!forgotten) return std::move(forgotten).error();
  auto committed = turn->commit();
  if (!committed) return std::move(committed).error();
  return true;
}

}  // namespace leasehold::sqlite
