#include "storage/sqlite/backend.h"

#include <fmt/format.h>
#include <filesystem>
#include <mutex>
#include <vector>

#include "storage/combiner.h"
#include "storage/sqlite/writer.h"

namespace leasehold::sqlite {
namespace {

using storage::Param;
using storage::PendingCall;
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

/// An empty in-memory database, discarded at the end.
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

/// Connections for reading: one per concurrently reading thread.
class Readers {
 public:
  explicit Readers(std::string path) : path_(std::move(path)) {}

  Result<std::unique_ptr<Connection>> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
      }
    }
    return Connection::open_reader(path_);
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
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

class FileBackend final : public storage::Backend {
 public:
  FileBackend(const StoreFile& file, std::unique_ptr<Connection> connection, const Clock& clock)
      : path_(file.path()),
        in_memory_(file.in_memory()),
        wall_(clock),
        hub_(std::make_shared<ChangeHub>()),
        writer_(std::move(connection), file, clock, hub_),
        readers_(path_) {}

  Result<Rows> query(const Statement& statement, std::span<const Param> params, BootTime deadline) override {
    if (auto known = know_clock(deadline); !known) return std::move(known).error();
    if (statement.access == storage::Access::read && !in_memory_) return read(statement, params, deadline);
    PendingCall call{&statement, params, deadline};
    combiner_.run(std::span(&call, 1), [this](std::span<PendingCall* const> calls) { run_batch(calls); });
    return std::move(call.answer);
  }

  std::vector<Result<Rows>> query_each(std::span<const storage::Question> questions, BootTime deadline) override {
    if (auto known = know_clock(deadline); !known) return {questions.size(), Result<Rows>(known.error())};
    auto calls = storage::calls_for(questions, deadline);
    if (!calls.empty()) combiner_.run(calls, [this](std::span<PendingCall* const> batch) { run_batch(batch); });
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
  [[nodiscard]] Facts facts() const override { return writer_.file().facts(); }
  void close() override { readers_.close(); }

 private:
  /// With the first query, not when opening: the tables may not exist yet.
  Result<void> know_clock(BootTime deadline) {
    if (writer_.clock_known()) return {};
    // A pure reader should not have to wait for a writer.
    if (!in_memory_) {
      auto reader = readers_.take();
      if (!reader) return why_not_opened(std::move(reader).error());
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
    if (!connection) return why_not_opened(std::move(connection).error());
    (*connection)->be_patient_until(deadline);
    auto rows = (*connection)->run(statement, params, writer_.moment());
    readers_.give_back(std::move(*connection));
    // The contents of a deleted file are no longer valid.
    if (auto same = writer_.file().check(); !same) return std::move(same).error();
    return rows;
  }

  /// A reader cannot open a missing file; the reason why it is missing is more useful than that.
  Error why_not_opened(Error error) const {
    auto same = writer_.file().check();
    return same ? std::move(error) : std::move(same).error();
  }

  /// All in one transaction and one commit. If one fails, all are rolled back: then each runs by itself, so that an
  /// error affects only its own caller.
  void run_batch(std::span<PendingCall* const> calls) {
    if (run_together(calls) || calls.size() == 1) return;
    for (auto* call : calls) run_together(std::span(&call, 1));
  }

  /// False: one of them failed, and all were rolled back. The answers are filled in either way.
  bool run_together(std::span<PendingCall* const> calls) {
    bool urgent = false;
    auto deadline = calls.front()->deadline;
    for (const auto* call : calls) {
      urgent = urgent || call->statement->urgent;
      deadline = std::min(deadline, call->deadline);
    }
    auto turn = writer_.begin(urgent, deadline, calls);
    if (!turn) {
      // The others would not get in either; a caller with time left tries again.
      answer_all(calls, turn.error());
      return true;
    }
    for (auto* call : calls) {
      call->answer = turn->connection().run(*call->statement, call->params, turn->moment());
      if (!call->answer) return false;
    }
    // A failed commit may have reached the disk or not, so no caller may retry on its own.
    if (auto committed = turn->commit(); !committed) answer_all(calls, committed.error());
    return true;
  }

  static void answer_all(std::span<PendingCall* const> calls, const Error& error) {
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

/// The writing connection, and the file it has open.
Result<std::unique_ptr<Connection>> open_writer(StoreFile& file, bool durable) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file.path(), ignored)) {
    return cannot_open(file.path(), "it is a folder, not a file");
  }
  if (auto single = file.require_one_name(); !single) return std::move(single).error();
  auto connection = Connection::open(file.path(), durable);
  if (!connection) return connection;
  if (auto noted = file.remember((*connection)->get()); !noted) return std::move(noted).error();
  return connection;
}

}  // namespace

Result<std::unique_ptr<storage::Backend>> open(const StoreUrl& url, const Clock& clock, BootTime) {
  StoreFile file(url.path);
  file.make_private();
  auto connection = open_writer(file, url.durable);
  if (!connection) return std::move(connection).error();
  return std::unique_ptr<storage::Backend>(std::make_unique<FileBackend>(file, std::move(*connection), clock));
}

Result<bool> rehome(const StoreUrl& url, const Clock& clock) {
  StoreFile file(url.path);
  auto connection = open_writer(file, true);
  if (!connection) return std::move(connection).error();
  Writer writer(std::move(*connection), file, clock, std::make_shared<ChangeHub>());
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
