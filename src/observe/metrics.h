// What this process does, counted for Prometheus: acts, HTTP requests, streams, calls of coding agents, and the process
// itself. Any thread may call everything here.
//
//   observe::process().act("job.claim", "ok", took);            // or the word of the refusal: "lost"
//   observe::process().request(200, took);
//   const observe::Present client(observe::process().sse_clients);
//   answer(observe::process_metrics(), observe::Exposition::content_type);
//
// No label has an id, a holder or a text from a caller. There are few names of acts and tools; if a bug makes them
// many, those beyond the first 200 count as `other`.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "leasehold/metrics.h"
#include "leasehold/result.h"
#include "leasehold/store.h"
#include "leasehold/time.h"
#include "observe/exposition.h"

namespace leasehold::observe {

/// Values of a label beyond this many count as `other`.
constexpr std::size_t max_label_values = bounds::metric_names;

constexpr std::array<Duration, 8> latency_bounds = {std::chrono::milliseconds(1),     std::chrono::milliseconds(5),
                                                    std::chrono::milliseconds(25),    std::chrono::milliseconds(100),
                                                    std::chrono::milliseconds(500),   std::chrono::milliseconds(2500),
                                                    std::chrono::milliseconds(10000), std::chrono::milliseconds(60000)};

/// How long something took, in buckets.
class Latency {
 public:
  void add(Duration took);
  void write(Exposition& text, std::span<const Label> labels) const;

 private:
  std::array<std::atomic<std::int64_t>, latency_bounds.size() + 1> counts_{};
  std::atomic<std::int64_t> sum_us_{0};
};

/// Counts named things: how often each ended with each outcome, and how long it took.
class Calls {
 public:
  void add(std::string_view name, std::string_view outcome, Duration took);
  /// Writes NAME_total by `label` and outcome, and NAME_duration_seconds by `label`.
  void write(Exposition& text, std::string_view name, std::string_view label, std::string_view help) const;

 private:
  struct Named {
    std::map<std::string, std::atomic<std::int64_t>, std::less<>> outcomes;
    Latency latency;
  };

  mutable std::shared_mutex mutex_;  ///< of the maps; the numbers in them are atomic
  std::map<std::string, std::unique_ptr<Named>, std::less<>> named_;
};

class ProcessMetrics {
 public:
  /// An act ended: "ok", or the word of its refusal.
  void act(std::string_view name, std::string_view outcome, Duration took) { acts_.add(name, outcome, took); }
  /// An HTTP request was answered with this status; a stream, when it began.
  void request(int status, Duration took);
  /// A tool of MCP ended: "ok", or the word of its refusal.
  void mcp(std::string_view tool, std::string_view outcome, Duration took) { mcp_.add(tool, outcome, took); }

  [[nodiscard]] std::string text() const;

  std::atomic<std::int64_t> connections{0};     ///< open HTTP connections
  std::atomic<std::int64_t> requests_now{0};    ///< requests that are not answered yet
  std::atomic<std::int64_t> waiting_acts{0};    ///< acts in the pool of those that wait
  std::atomic<std::int64_t> sse_clients{0};     ///< open streams
  std::atomic<std::int64_t> sse_messages{0};    ///< messages sent to streams; never lowered
  std::atomic<std::int64_t> sse_resets{0};      ///< clients that fell too far behind; never lowered
  std::atomic<std::int64_t> refused_logins{0};  ///< wrong or expired tokens; never lowered

 private:
  void write_gauges(Exposition& text) const;
  void write_totals(Exposition& text) const;

  Calls acts_;
  Calls mcp_;
  std::array<std::atomic<std::int64_t>, 5> by_class_{};  ///< 1xx to 5xx
  Latency requests_;
};

/// Counts something for as long as it exists.
class Present {
 public:
  explicit Present(std::atomic<std::int64_t>& gauge) : gauge_(gauge) { ++gauge_; }
  ~Present() { --gauge_; }
  Present(const Present&) = delete;
  Present& operator=(const Present&) = delete;

 private:
  std::atomic<std::int64_t>& gauge_;
};

/// The counts of this process.
ProcessMetrics& process();

/// For /metrics: this process.
std::string process_metrics();

/// For /metrics/store, and `leasehold metrics`: the store, without this process. Scrape it from one server: all servers
/// of a store answer the same.
Result<std::string> store_metrics_text(const Store& store);
std::string text_of(const StoreMetrics& metrics);

/// The lines about the process that the kernel knows: CPU, memory, descriptors, start time.
void write_kernel_metrics(Exposition& text);

}  // namespace leasehold::observe
