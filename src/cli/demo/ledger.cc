#include "cli/demo/ledger.h"

#include <fmt/format.h>
#include <algorithm>

#include "cli/print/print.h"
#include "leasehold/sqlite.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

constexpr int busy_timeout_ms = 10'000;

constexpr const char* ledger_table = R"(
CREATE TABLE demo_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, job INTEGER NOT NULL, token INTEGER NOT NULL,
                          worker TEXT NOT NULL);
)";

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

}  // namespace

Result<Ledger> Ledger::open(const std::string& path) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open(path.c_str(), &raw);
  std::unique_ptr<sqlite3, Close> db(raw);
  if (code != SQLITE_OK) {
    return Error{.code = Errc::unavailable, .message = fmt::format("cannot open {}: {}", path, sqlite3_errstr(code))};
  }
  sqlite3_busy_timeout(raw, busy_timeout_ms);
  sqlite3_exec(raw, "PRAGMA synchronous = normal", nullptr, nullptr, nullptr);
  return Ledger(std::move(db));
}

Result<void> Ledger::create() { return execute(ledger_table); }

Result<void> Ledger::write(const LedgerEntry& entry, bool fenced) {
  if (auto begun = execute("BEGIN IMMEDIATE"); !begun) return begun;
  auto written = write_in_transaction(entry, fenced);
  if (written) written = execute("COMMIT");
  if (!written) static_cast<void>(execute("ROLLBACK"));
  return written;
}

Result<void> Ledger::write_in_transaction(const LedgerEntry& entry, bool fenced) {
  if (fenced) {
    if (auto completed = complete(db_.get(), entry.job, entry.token); !completed) return completed.error();
  }
  return execute(fmt::format("INSERT INTO demo_ledger (job, token, worker) VALUES ({}, {}, '{}')", entry.job,
                             entry.token.value, entry.worker));
}

Result<LedgerTotals> Ledger::totals() {
  const auto writes = number("SELECT count(*) FROM demo_ledger");
  const auto jobs = number("SELECT count(DISTINCT job) FROM demo_ledger");
  for (const auto* each : {&writes, &jobs}) {
    if (!*each) return each->error();
  }
  return LedgerTotals{.writes = *writes, .jobs = *jobs};
}

Result<void> Ledger::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return {};
}

Result<std::int64_t> Ledger::number(const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) return error();
  const std::unique_ptr<sqlite3_stmt, Finalize> statement(raw);
  if (sqlite3_step(raw) != SQLITE_ROW) return error();
  return sqlite3_column_int64(raw, 0);
}

Error Ledger::error() const {
  return {.code = Errc::unavailable, .message = fmt::format("the demo's table: {}", sqlite3_errmsg(db_.get()))};
}

namespace {

using Seconds = std::chrono::duration<double>;

/// Empty if nothing is wrong.
std::string what_is_wrong(const DemoOptions& options, const DemoVerdict& verdict) {
  if (!verdict.seen.trouble.empty()) return "a worker failed: " + verdict.seen.trouble;
  if (verdict.seen.interrupted) return "interrupted before the end";
  if (verdict.missing(options) > 0) return fmt::format("{} jobs were not done", verdict.missing(options));
  if (verdict.doubled() > 0) return fmt::format("{} jobs were done twice", verdict.doubled());
  if (verdict.failed > 0) return fmt::format("{} jobs became dead letters", verdict.failed);
  if (verdict.taken_over == 0) return "no job of a dead or stopped worker was taken over: nothing was tested";
  if (verdict.seen.refused == 0) return "no late write was refused: the fence was not tested";
  return {};
}

std::string sentence_for(const DemoOptions& options, const DemoVerdict& verdict) {
  if (auto wrong = what_is_wrong(options, verdict); !wrong.empty()) return wrong;
  return fmt::format(
      "all {} jobs were done exactly once, though {} workers were killed and {} stopped: others took {} jobs "
      "over, half of them within {} ms, and {} late writes were refused",
      options.jobs, verdict.seen.killed, verdict.seen.stopped, verdict.taken_over,
      verdict.median_takeover / std::chrono::milliseconds(1), verdict.seen.refused);
}

Duration median(std::vector<Duration> times) {
  if (times.empty()) return {};
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void print_figure(const char* what, std::int64_t figure, const char* remark, Tone tone = Tone::normal) {
  print("  {:<20} {}   {}", what, coloured(tone, fmt::format("{:>7}", figure)), coloured(Tone::faint, remark));
}

Tone zero_is_good(std::int64_t figure) { return figure == 0 ? Tone::good : Tone::bad; }

}  // namespace

Result<DemoVerdict> judge(const DemoOptions& options, const DemoTally& seen, const Store& store, Ledger& ledger) {
  const auto recovery = store.recovery_stats();
  if (!recovery) return recovery.error();
  const auto queue = store.queues().show(demo_queue);
  if (!queue) return queue.error();
  const auto totals = ledger.totals();
  if (!totals) return totals.error();
  DemoVerdict verdict{.seen = seen, .ledger = *totals, .failed = queue->failed};
  for (const auto& total : recovery->totals) verdict.taken_over += total.jobs;
  verdict.median_takeover = median(seen.takeover_times);
  verdict.passed = what_is_wrong(options, verdict).empty();
  verdict.sentence = sentence_for(options, verdict);
  return verdict;
}

void print_verdict(const DemoOptions& options, const DemoVerdict& verdict) {
  print("leasehold demo: {} jobs, {} workers, {:.1f} s, seed {}", options.jobs, options.workers,
        Seconds(verdict.seen.took).count(), options.seed);
  print_figure("workers killed", verdict.seen.killed, "with kill -9");
  print_figure("workers stopped", verdict.seen.stopped, "past the end of their lease, then resumed");
  print_figure("jobs taken over", verdict.taken_over, "from workers that died or stopped");
  print_figure("median takeover", verdict.median_takeover / std::chrono::milliseconds(1),
               "ms from the kill or stop to the next worker's claim");
  print_figure("late writes refused", verdict.seen.refused, "in the writer's own transaction");
  print_figure("jobs done", verdict.ledger.jobs, "by the workers' own ledger");
  print_figure("not done", verdict.missing(options), "", zero_is_good(verdict.missing(options)));
  print_figure("done twice", verdict.doubled(), "", zero_is_good(verdict.doubled()));
  print("{}: {}", verdict.passed ? coloured(Tone::good, "PASS") : coloured(Tone::bad, "FAIL"), verdict.sentence);
}

std::string to_json(const DemoOptions& options, const DemoVerdict& verdict) {
  return model::json_object({{"passed", verdict.passed},
                             {"verdict", verdict.sentence},
                             {"jobs", std::int64_t{options.jobs}},
                             {"workers", std::int64_t{options.workers}},
                             {"seconds", Seconds(verdict.seen.took).count()},
                             {"seed", static_cast<std::int64_t>(options.seed)},
                             {"workers_killed", verdict.seen.killed},
                             {"workers_stopped", verdict.seen.stopped},
                             {"jobs_taken_over", verdict.taken_over},
                             {"median_takeover_seconds", Seconds(verdict.median_takeover).count()},
                             {"late_writes_refused", verdict.seen.refused},
                             {"done", verdict.ledger.jobs},
                             {"missing", verdict.missing(options)},
                             {"doubled", verdict.doubled()}});
}

}  // namespace leasehold::cli
