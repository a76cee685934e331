// The parts of `leasehold demo`: real processes work jobs off, while some are killed and stopped.
//
//   demo.cc            the command: folder, store, jobs, the run, the verdict
//   demo_conductor     lets the workers run and chooses who is killed or stopped, and when
//   demo_crew          the worker processes: start, hear, order, signal
//   demo_worker.cc     what a worker process does
//   demo_ledger        the table they write in, and what is wrong with it afterwards
//   demo_verdict       what a person is told
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.h"
#include "leasehold/time.h"

namespace leasehold::cli {

/// Short, so that a few seconds see many leases end.
constexpr Duration demo_ttl = std::chrono::milliseconds(400);
constexpr const char* demo_queue = "demo";

/// Without a sync for each commit: killed processes lose nothing by that, only a power failure would.
inline std::string demo_url(const std::string& path) { return "sqlite:" + path + "?synchronous=normal"; }

struct DemoOptions {
  int workers = 6;
  int jobs = 4000;
  std::uint64_t seed = 0;  ///< of everything that is chosen at random
  bool fenced = true;
  bool keep = false;
};

struct DemoWorkerOptions {
  std::string path;
  std::string name;
  int think_ms = 1;  ///< how long a job takes, on the average
  std::uint64_t seed = 0;
  bool fenced = true;
};

/// What the conductor saw.
struct DemoTally {
  std::int64_t told_written = 0;
  std::int64_t killed = 0;
  std::int64_t stopped = 0;
  std::int64_t refused = 0;
  /// Of jobs whose worker was killed or stopped: how long until another one had them.
  std::vector<Duration> takeover_times;
  Duration took{};
  bool interrupted = false;
  std::string trouble;  ///< what a worker could not cope with
};

void add_demo_worker(CLI::App& parent, Context& context);

}  // namespace leasehold::cli
