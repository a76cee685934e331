#include "sim/sim_backend.h"

#include <utility>

namespace leasehold::sim {
namespace {

using storage::Param;
using storage::Rows;
using storage::Statement;

// In ten thousand statements.
constexpr int crashes = 30;
constexpr int pauses = 40;
constexpr int lost_requests = 50;
constexpr int lost_replies = 80;
constexpr int late_replies = 80;
constexpr int lost_wakeups = 2000;

Error gone() { return {.code = Errc::unavailable, .message = "this process is gone"}; }
Error unreachable() { return {.code = Errc::unavailable, .message = "the store cannot be reached"}; }
Error unanswered() { return {.code = Errc::in_doubt, .message = "the answer was lost"}; }

/// A transaction of the library: others wait until it is over.
class SimTransaction final : public storage::Transaction {
 public:
  SimTransaction(SimBackend& backend, std::unique_ptr<storage::Transaction> inner, BootTime deadline)
      : backend_(backend), inner_(std::move(inner)), deadline_(deadline) {}
  ~SimTransaction() override { over(); }

  Result<Rows> query(const Statement& statement, std::span<const Param> params) override {
    if (auto there = backend_.on_the_way_there(statement.name); !there) return fail(std::move(there).error());
    backend_.stage().notes.say(backend_.process().name(), "  {} in a transaction", statement.name);
    return inner_->query(statement, params);
  }
  Result<Rows> run_script(std::string_view sql) override { return inner_->run_script(sql); }
  Result<void> commit() override {
    if (auto there = backend_.on_the_way_there("commit"); !there) return fail(std::move(there).error());
    auto committed = inner_->commit();
    over();
    if (!committed) return committed;
    backend_.stage().look({.statement = "transaction"}, Parts::all());
    return backend_.on_the_way_back("commit", true, deadline_);
  }

 private:
  /// A failure here has been rolled back.
  Error fail(Error error) {
    over();
    return error;
  }
  void over() {
    if (!inner_) return;
    inner_.reset();
    backend_.stage().vacate();
  }

  SimBackend& backend_;
  std::unique_ptr<storage::Transaction> inner_;
  BootTime deadline_;
};

class SimWatch final : public storage::ChangeWatch {
 public:
  SimWatch(Stage& stage, Process& process) : stage_(stage), process_(process) {}
  bool wait(BootTime until) override {
    process_.sleep_until(until, !stage_.strikes(Fault::lose_wakeup, lost_wakeups));
    return process_.wakes_at() < until;
  }
  void wake() override {}

 private:
  Stage& stage_;
  Process& process_;
};

}  // namespace

Result<Rows> SimBackend::query(const Statement& statement, std::span<const Param> params, BootTime deadline) {
  if (auto there = on_the_way_there(statement.name); !there) return std::move(there).error();
  if (auto in = get_in(deadline); !in) return std::move(in).error();
  auto rows = stage_.perform(process_, statement, params, deadline);
  const bool has_written = rows && statement.access == storage::Access::write;
  if (auto back = on_the_way_back(statement.name, has_written, deadline); !back) return std::move(back).error();
  return rows;
}

Result<std::unique_ptr<storage::Transaction>> SimBackend::begin(BootTime deadline) {
  if (auto there = on_the_way_there("begin"); !there) return std::move(there).error();
  if (auto in = get_in(deadline); !in) return std::move(in).error();
  stage_.occupy(process_);
  auto begun = stage_.database().backend().begin(deadline);
  if (!begun) {
    stage_.vacate();
    return std::move(begun).error();
  }
  return std::unique_ptr<storage::Transaction>(std::make_unique<SimTransaction>(*this, std::move(*begun), deadline));
}

std::unique_ptr<storage::ChangeWatch> SimBackend::watch(std::string_view) {
  return std::make_unique<SimWatch>(stage_, process_);
}

Result<void> SimBackend::on_the_way_there(std::string_view what) {
  if (!process_.give_way()) return gone();
  if (stage_.strikes(Fault::crash, crashes)) {
    stage_.crash(process_, fmt::format("before {}", what));
    return gone();
  }
  if (stage_.strikes(Fault::pause, pauses)) stand_still();
  if (!process_.is_alive()) return gone();
  if (stage_.strikes(Fault::lose_request, lost_requests)) {
    stage_.notes.say(process_.name(), "  {} is lost on its way", what);
    return unreachable();
  }
  return {};
}

Result<void> SimBackend::on_the_way_back(std::string_view what, bool has_written, BootTime deadline) {
  if (!process_.give_way()) return gone();
  if (stage_.strikes(Fault::crash, crashes)) {
    stage_.crash(process_, fmt::format("before the answer to {}", what));
    return gone();
  }
  if (stage_.strikes(Fault::pause, pauses)) stand_still();
  if (stage_.strikes(Fault::delay_reply, late_replies)) {
    const Duration delay(stage_.luck.between(1'000, 12'000'000));
    stage_.notes.say(process_.name(), "  the answer to {} takes {} us", what, delay.count());
    process_.sleep_until(stage_.world.boot_now() + delay, false);
    if (stage_.world.boot_now() > deadline && has_written) return unanswered();
  }
  if (!process_.is_alive()) return gone();
  if (stage_.strikes(Fault::lose_reply, lost_replies)) {
    stage_.notes.say(process_.name(), "  the answer to {} is lost", what);
    return has_written ? unanswered() : unreachable();
  }
  return {};
}

Result<void> SimBackend::get_in(BootTime deadline) {
  while (stage_.is_occupied_by_other(process_)) {
    if (stage_.world.boot_now() >= deadline) return Error{.code = Errc::busy, .message = "another process writes"};
    if (!process_.sleep_until(deadline, true)) return gone();
  }
  return {};
}

// Longer than most leases last.
void SimBackend::stand_still() {
  const Duration span(stage_.luck.between(200'000, 20'000'000));
  stage_.notes.say(process_.name(), "PAUSE of {} us", span.count());
  stage_.notes.mark(process_.client(), "pause");
  process_.sleep_until(stage_.world.boot_now() + span, false);
  if (process_.is_alive()) stage_.notes.end_mark(process_.client());
}

Result<OwnTransaction> OwnTransaction::begin(SimBackend& backend, BootTime deadline) {
  if (auto there = backend.on_the_way_there("BEGIN IMMEDIATE"); !there) return std::move(there).error();
  if (auto in = backend.get_in(deadline); !in) return std::move(in).error();
  backend.stage().occupy(backend.process());
  sqlite3_exec(backend.stage().database().connection(), "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
  return OwnTransaction(backend);
}

OwnTransaction::~OwnTransaction() {
  if (backend_ == nullptr) return;
  sqlite3_exec(connection(), "ROLLBACK", nullptr, nullptr, nullptr);
  backend_->stage().vacate();
}

Result<void> OwnTransaction::go_on() { return backend_->on_the_way_there("the user's statement"); }

Result<void> OwnTransaction::commit() {
  if (auto there = go_on(); !there) return there;
  const int code = sqlite3_exec(connection(), "COMMIT", nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return Error{.code = Errc::in_doubt, .message = sqlite3_errmsg(connection())};
  auto& stage = backend_->stage();
  backend_ = nullptr;
  stage.vacate();
  return {};
}

}  // namespace leasehold::sim
