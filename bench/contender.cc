#include "contender.h"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "leasehold_calls.h"
#include "measure.h"
#include "raw_lock.h"

namespace leasehold::bench {
namespace {

using Pipe = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Pipe start_copy(const std::string& kind, const std::string& path, int number, BootTime start, Duration span) {
  const auto command = fmt::format("exec /proc/{}/exe --contender {} --number {} --start {} --span {} --sqlite '{}'",
                                   getpid(), kind, number, start.time_since_epoch().count(), span.count(), path);
  Pipe pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) die("cannot start a copy of this program");
  return pipe;
}

/// A call of either kind: one acquire+release, or the pair of UPDATEs.
std::function<bool()> cycle_of(const std::string& kind, const std::string& path, int number) {
  if (kind == "raw") {
    auto raw = std::make_shared<RawSqlite>(path, fmt::format("bench-{}", number));
    return [raw] { return raw->pair(); };
  }
  auto calls = std::make_shared<LeaseholdCalls>(open_store("sqlite:" + path), number + 1);
  return [calls, number] { return calls->cycle(number); };
}

}  // namespace

Fairness contend(const std::string& kind, const std::string& sqlite_path, int processes, Duration span) {
  // Creates the file and its tables, so that the copies start with the work itself.
  cycle_of(kind, sqlite_path, 0)();
  const auto start = BootClock::now() + std::chrono::milliseconds(500);
  std::vector<Pipe> copies;
  for (int i = 0; i < processes; ++i) copies.push_back(start_copy(kind, sqlite_path, i, start, span));
  double min = 0;
  double sum = 0;
  Fairness seen;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    std::int64_t cycles = 0;
    std::int64_t longest = 0;
    if (std::fscanf(copies[i].get(), "%" SCNd64 " %" SCNd64, &cycles, &longest) != 2) die("a contender gave no answer");
    const auto mine = static_cast<double>(cycles);
    min = i == 0 ? mine : std::min(min, mine);
    sum += mine;
    seen.longest_call = std::max(seen.longest_call, Duration(longest));
  }
  seen.unluckiest_share = sum > 0 ? min * processes / sum : 0;
  seen.cycles_per_second = sum / std::chrono::duration<double>(span).count();
  return seen;
}

int be_contender(const std::string& kind, const std::string& sqlite_path, int number, BootTime start, Duration span) {
  const auto cycle = cycle_of(kind, sqlite_path, number);
  std::this_thread::sleep_for(start - BootClock::now());
  std::int64_t cycles = 0;
  Duration longest{};
  for (auto began = BootClock::now(); began < start + span;) {
    const bool done = cycle();
    const auto now = BootClock::now();
    longest = std::max(longest, now - began);
    // A call that ends after the span does not count for the share, but its wait counts.
    if (done && now < start + span) ++cycles;
    began = now;
  }
  fmt::print("{} {}\n", cycles, longest.count());
  return 0;
}

}  // namespace leasehold::bench
