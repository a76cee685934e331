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

constexpr const char* demo_queue = "demo";

/// How fast the demo goes: by itself as fast as it can, and on a page slowly enough to follow each takeover.
struct DemoPace {
  /// By itself short, so that many leases end within a few seconds. Longer than the jobs of a claim take.
  Duration ttl = std::chrono::milliseconds(400);
  int jobs_per_claim = 8;
  /// How long a job takes on average, at most.
  Duration longest_think = std::chrono::milliseconds(20);
  /// How long the workers are busy with all jobs, if that allows it.
  Duration whole = std::chrono::seconds(3);
  /// Jobs arrive one by one, and workers wait for them: an idle worker notices that a process is gone.
  bool trickles = false;
  /// No incident takes longer, unless the machine is very busy: then the next one begins.
  Duration incident_patience = std::chrono::milliseconds(2500);
  int least_pause_ms = 100;
  int most_pause_ms = 400;
};

constexpr DemoPace pace_on_page{.ttl = std::chrono::seconds(2),
                                .jobs_per_claim = 1,
                                .longest_think = std::chrono::milliseconds(700),
                                .whole = std::chrono::seconds(36),
                                .trickles = true,
                                .incident_patience = std::chrono::seconds(6),
                                .least_pause_ms = 1000,
                                .most_pause_ms = 2500};

/// Without a sync for each commit: killed processes lose nothing by that, only a power failure would.
inline std::string demo_url(const std::string& path) { return "sqlite:" + path + "?synchronous=normal"; }

struct DemoOptions {
  int workers = 6;
  int jobs = 0;            ///< 0: as many as suit the pace
  std::uint64_t seed = 0;  ///< of all random choices
  bool fenced = true;
  bool keep = false;
  std::string serve{};  ///< the address of the page; empty: none

  [[nodiscard]] DemoPace pace() const { return serve.empty() ? DemoPace{} : pace_on_page; }
  /// How long a job takes on average.
  [[nodiscard]] Duration think() const;
};

struct DemoWorkerOptions {
  std::string path;
  std::string name;
  int think_ms = 1;      ///< how long a job takes on average
  bool on_page = false;  ///< at the pace of a page
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
