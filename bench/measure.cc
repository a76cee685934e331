#include "measure.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace leasehold::bench {

void die(std::string_view what) {
  std::fprintf(stderr, "bench: %.*s\n", static_cast<int>(what.size()), what.data());
  std::_Exit(1);
}

double rate(int callers, Duration span, const Act& act) {
  std::atomic<bool> stop = false;
  std::atomic<long> done = 0;
  // Recorded where the barrier opens: among busy callers this thread may be woken late.
  std::chrono::steady_clock::time_point began;
  std::barrier start(callers + 1, [&began]() noexcept { began = std::chrono::steady_clock::now(); });
  std::vector<std::jthread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      long mine = 0;
      start.arrive_and_wait();
      while (!stop) mine += act(caller) ? 1 : 0;
      done += mine;
    });
  }
  start.arrive_and_wait();
  std::this_thread::sleep_for(span);
  stop = true;
  threads.clear();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  return static_cast<double>(done) / took.count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double ratio_of(const std::vector<Series>& all, const Ratio& ratio) {
  const auto find = [&](const std::string& name) -> const Series& {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Series& one) { return one.name == name; });
    if (found == all.end()) die("no series is called " + name);
    return *found;
  };
  const auto& over = find(ratio.over).rounds;
  const auto& under = find(ratio.under).rounds;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < over.size(); ++i) ratios.push_back(under[i] > 0 ? over[i] / under[i] : 0);
  return median(ratios);
}

void run_rounds(std::vector<Series>& all, int rounds, Duration span, const std::function<void(int)>& progress) {
  int done = 0;
  const auto measure = [&](Series& one) {
    one.rounds.push_back(one.measure(span));
    progress(++done);
  };
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) {
      std::for_each(all.begin(), all.end(), measure);
    } else {
      std::for_each(all.rbegin(), all.rend(), measure);
    }
  }
}

}  // namespace leasehold::bench
