// The parts of `leasehold demo`: real processes work off jobs, while some are killed and stopped.
//
//   demo.cc            the command: folder, store, jobs, the run, the verdict
//   conductor          lets the workers run and chooses which one is killed or stopped, and when
//   crew               the worker processes: start, listen, order, signal
//   worker.cc          a worker process
//   page               the server whose page shows it, if it is asked for
//   ledger             the table they write to, the check of it afterwards, and the verdict
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.h"
#include "leasehold/time.h"

namespace leasehold::cli {

/// Short, so that many leases end within a few seconds.
constexpr Duration demo_ttl = std::chrono::milliseconds(400);
constexpr const char* demo_queue = "demo";

/// Without a sync for each commit: killed processes lose nothing by that, only a power failure would.
inline std::string demo_url(const std::string& path) { return "sqlite:" + path + "?synchronous=normal"; }

struct DemoOptions {
  int workers = 6;
  int jobs = 4000;
  std::uint64_t seed = 0;  ///< of all random choices
  bool fenced = true;
  bool keep = false;
  std::string serve{};  ///< the address of the page; empty: none
};

struct DemoWorkerOptions {
  std::string path;
  std::string name;
  int think_ms = 1;  ///< how long a job takes on average
  std::uint64_t seed = 0;
  bool fenced = true;
};

/// What the conductor observed.
struct DemoTally {
  std::int64_t reported_written = 0;
  std::int64_t killed = 0;
  std::int64_t stopped = 0;
  std::int64_t refused = 0;
  /// For jobs whose worker was killed or stopped: the time until another one had them.
  std::vector<Duration> takeover_times;
  Duration took{};
  bool interrupted = false;
  std::string trouble;  ///< a problem that a worker reported
};

void add_demo_worker(CLI::App& parent, Context& context);

}  // namespace leasehold::cli
