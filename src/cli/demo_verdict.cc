#include "cli/demo_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/print.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

/// Empty: nothing is wrong.
std::string what_is_wrong(const DemoVerdict& verdict) {
  if (!verdict.seen.trouble.empty()) return "a worker ran into trouble: " + verdict.seen.trouble;
  if (verdict.seen.interrupted) return "interrupted before the end";
  if (verdict.lost > 0) return fmt::format("{} writes were lost", verdict.lost);
  if (verdict.ledger.doubled > 0) {
    return fmt::format("{} times two workers counted under one lock at once", verdict.ledger.doubled);
  }
  if (verdict.takeovers == 0) return "nobody took over from a dead or stopped worker, so nothing was put to the test";
  if (verdict.seen.refused == 0) return "no late write was refused, so the fence was not put to the test";
  return {};
}

std::string sentence_for(const DemoOptions& options, const DemoVerdict& verdict) {
  if (auto wrong = what_is_wrong(verdict); !wrong.empty()) return wrong;
  return fmt::format(
      "{} workers wrote {} times under {} locks. {} were killed and {} stopped; others took their locks over, {} late "
      "writes were refused, and nothing was lost or counted twice",
      options.workers, verdict.ledger.writes, options.locks, verdict.seen.killed, verdict.seen.paused,
      verdict.seen.refused);
}

void print_figure(const char* what, std::int64_t figure, const char* remark, Tone tone = Tone::plain) {
  print("  {:<20} {}   {}", what, coloured(tone, fmt::format("{:>7}", figure)), coloured(Tone::faint, remark));
}

Tone zero_is_good(std::int64_t figure) { return figure == 0 ? Tone::good : Tone::bad; }

}  // namespace

Result<DemoVerdict> judge(const DemoOptions& options, const DemoTally& seen, const Store& store, Ledger& ledger) {
  auto events = store.events({.limit = std::numeric_limits<int>::max()});
  if (!events) return events.error();
  auto totals = ledger.totals();
  if (!totals) return totals.error();
  DemoVerdict verdict{.seen = seen, .ledger = *totals};
  for (const auto& event : *events) {
    if (event.what == "acquired" || event.what == "reclaimed") ++verdict.grants;
    if (event.what == "reclaimed") ++verdict.takeovers;
  }
  verdict.lost = std::max<std::int64_t>({0, totals->lost, seen.told_written - totals->writes});
  verdict.passed = what_is_wrong(verdict).empty();
  verdict.sentence = sentence_for(options, verdict);
  return verdict;
}

void print_verdict(const DemoOptions& options, const DemoVerdict& verdict) {
  print("leasehold demo: {} workers, {} locks, {} s, seed {}", options.workers, options.locks, options.seconds,
        options.seed);
  print_figure("grants", verdict.grants, "locks acquired");
  print_figure("takeovers", verdict.takeovers, "of leases whose holder died or stood still");
  print_figure("workers killed", verdict.seen.killed, "with kill -9");
  print_figure("workers paused", verdict.seen.paused, "past the end of their lease, then resumed");
  print_figure("late writes refused", verdict.seen.refused, "by the fence, in the writer's own transaction");
  print_figure("writes", verdict.ledger.writes, "counted under a lock");
  print_figure("lost", verdict.lost, "overwritten, or told as written and not there", zero_is_good(verdict.lost));
  print_figure("doubled", verdict.ledger.doubled, "same number twice, or tokens out of order",
               zero_is_good(verdict.ledger.doubled));
  print("{}: {}", verdict.passed ? coloured(Tone::good, "PASS") : coloured(Tone::bad, "FAIL"), verdict.sentence);
}

std::string to_json(const DemoOptions& options, const DemoVerdict& verdict) {
  return wire::object({{"passed", verdict.passed},
                       {"verdict", verdict.sentence},
                       {"workers", std::int64_t{options.workers}},
                       {"locks", std::int64_t{options.locks}},
                       {"seconds", std::int64_t{options.seconds}},
                       {"seed", static_cast<std::int64_t>(options.seed)},
                       {"grants", verdict.grants},
                       {"takeovers", verdict.takeovers},
                       {"workers_killed", verdict.seen.killed},
                       {"workers_paused", verdict.seen.paused},
                       {"late_writes_refused", verdict.seen.refused},
                       {"writes", verdict.ledger.writes},
                       {"lost", verdict.lost},
                       {"doubled", verdict.ledger.doubled}});
}

}  // namespace leasehold::cli
