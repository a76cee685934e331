// Measures the live stream: how long after its verdict the event of a job reaches each of many clients, and whether one
// is missing. `bench/run stream` starts it, and provides the folder and the PostgreSQL.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <ctime>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../comparison.h"
#include "../leasehold_calls.h"
#include "server_process.h"
#include "stream_clients.h"

namespace leasehold::bench {
namespace {

using namespace std::chrono_literals;
using Clock = StreamClients::Clock;

constexpr auto longest_wait_for_the_rest = 20s;
constexpr double wanted_p99_ms = 250;
constexpr double wanted_idle_mib = 24;

struct StreamOptions {
  Options common{.seconds = 15, .rounds = 1};
  int clients = 1000;
  int per_second = 20;
  std::string topics = "events";
};

struct Figures {
  std::string store;
  std::size_t events = 0;
  std::int64_t lost = 0;
  std::int64_t repeated = 0;
  std::size_t resets = 0;
  double p50_ms = 0, p99_ms = 0, longest_ms = 0;
  double idle_mib = 0, busy_mib = 0;
  double server_share = 0, client_share = 0;  ///< of one processor
  double mib_per_second = 0;
};

double own_processor_seconds() {
  timespec spent{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) / 1e9;
}

/// Jobs that fail at a steady pace: the event of each has its id as key.
class Failures {
 public:
  Failures(const std::string& url, std::size_t count) : store_(open_store(url)), asked_(count) {
    for (std::size_t done = 0; done < count; ++done) {
      const auto job = need(store_.jobs().enqueue(queue, {.payload = "x", .max_failures = 1}));
      numbers_.emplace(fmt::to_string(job.id), done);
    }
  }

  void run(Duration between) {
    auto due = Clock::now();
    for (std::size_t done = 0; done < asked_.size(); ++done) {
      const auto grant = need(store_.jobs().claim(queue));
      const auto& job = grant.jobs.front();
      std::this_thread::sleep_until(due);
      due += between;
      // Before the act, so that the figures contain it.
      asked_[numbers_.at(fmt::to_string(job.id))] = Clock::now().time_since_epoch().count();
      need(store_.jobs().fail(job.id, job.token, "on purpose"));
    }
  }

  [[nodiscard]] std::size_t count() const { return asked_.size(); }
  /// Of the event with this key.
  [[nodiscard]] std::optional<std::size_t> number_of(std::string_view key) const {
    const auto found = numbers_.find(std::string(key));
    return found != numbers_.end() ? std::optional(found->second) : std::nullopt;
  }
  [[nodiscard]] Clock::time_point asked(std::size_t number) const {
    return Clock::time_point(Clock::duration(asked_[number].load()));
  }

 private:
  static constexpr std::string_view queue = "bench-stream";
  Store store_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::atomic<Clock::rep>> asked_;
};

/// How long each event took to each client.
class Arrivals {
 public:
  Arrivals(const Failures& failures, int clients)
      : failures_(failures), clients_(clients), seen_(failures.count() * static_cast<std::size_t>(clients)) {}

  void add(std::size_t client, std::string_view key, Clock::time_point at) {
    const auto number = failures_.number_of(key);
    if (!number) return;
    auto& seen = seen_[client * failures_.count() + *number];
    if (std::exchange(seen, 1) != 0) {
      ++repeated_;
      return;
    }
    took_.push_back(std::chrono::duration<double, std::milli>(at - failures_.asked(*number)).count());
  }

  [[nodiscard]] std::int64_t missing() const {
    return static_cast<std::int64_t>(failures_.count()) * clients_ - static_cast<std::int64_t>(took_.size());
  }
  [[nodiscard]] std::int64_t repeated() const { return repeated_; }
  /// 0.5: the median.
  double quantile(double share) {
    if (took_.empty()) return 0;
    const auto at = took_.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(took_.size() - 1));
    std::nth_element(took_.begin(), at, took_.end());
    return *at;
  }

 private:
  const Failures& failures_;
  const int clients_;
  std::vector<char> seen_;
  std::vector<double> took_{};
  std::int64_t repeated_ = 0;
};

Figures measure_stream(const StreamOptions& options, const std::string& store, const std::string& url) {
  Failures failures(url, static_cast<std::size_t>(options.common.seconds * options.per_second));
  const ServerProcess server(url, options.common.folder + "/serve.log");
  Figures figures{.store = store, .events = failures.count(), .idle_mib = server.resident_mib()};
  Arrivals arrivals(failures, options.clients);
  StreamClients clients(
      server.port(), options.clients, options.topics,
      [&](std::size_t client, std::string_view key, Clock::time_point at) { arrivals.add(client, key, at); });
  const auto server_before = server.processor_seconds();
  const auto own_before = own_processor_seconds();
  const auto began = Clock::now();
  std::atomic<bool> over = false;
  std::jthread work([&] {
    failures.run(Duration(1s) / options.per_second);
    over = true;
  });
  while (!over) clients.read(10ms);
  const std::chrono::duration<double> took = Clock::now() - began;
  figures.server_share = (server.processor_seconds() - server_before) / took.count();
  figures.client_share = (own_processor_seconds() - own_before) / took.count();
  figures.mib_per_second = static_cast<double>(clients.bytes()) / (1 << 20) / took.count();
  figures.busy_mib = server.resident_mib();
  const auto patience = Clock::now() + longest_wait_for_the_rest;
  while (arrivals.missing() > 0 && Clock::now() < patience) clients.read(10ms);
  figures.lost = arrivals.missing();
  figures.repeated = arrivals.repeated();
  figures.resets = clients.resets();
  figures.p50_ms = arrivals.quantile(0.5);
  figures.p99_ms = arrivals.quantile(0.99);
  figures.longest_ms = arrivals.quantile(1);
  return figures;
}

void print(const Figures& all, const StreamOptions& options) {
  constexpr std::string_view for_people =
      "{:<10} {} clients, {} a second, {} events: {} lost, {} repeated, {} resets; p50 {:.0f} ms, p99 {:.0f} ms, "
      "longest {:.0f} ms; server {:.0f} % of a processor, {:.1f} MiB idle, {:.1f} MiB with all; clients {:.0f} %; "
      "{:.1f} MiB/s\n";
  constexpr std::string_view as_json =
      R"({{"store":"{}","clients":{},"per_second":{},"events":{},"lost":{},"repeated":{},"resets":{},"p50_ms":{:.1f},)"
      R"("p99_ms":{:.1f},"longest_ms":{:.1f},"server_percent":{:.0f},"idle_mib":{:.1f},"busy_mib":{:.1f},)"
      R"("client_percent":{:.0f},"mib_per_second":{:.2f}}})"
      "\n";
  fmt::print(fmt::runtime(options.common.json ? as_json : for_people), all.store, options.clients, options.per_second,
             all.events, all.lost, all.repeated, all.resets, all.p50_ms, all.p99_ms, all.longest_ms,
             all.server_share * 100, all.idle_mib, all.busy_mib, all.client_share * 100, all.mib_per_second);
  std::fflush(stdout);
}

bool is_reached(const Figures& all) {
  return all.lost == 0 && all.resets == 0 && all.p99_ms <= wanted_p99_ms && all.idle_mib <= wanted_idle_mib;
}

int run(int argc, char** argv) {
  StreamOptions options;
  CLI::App app("Events to many clients of the live stream");
  options.common.add_to(app);
  app.add_option("--clients", options.clients, "How many clients listen")->check(CLI::Range(1, 4000));
  app.add_option("--per-second", options.per_second, "How many events are made a second")->check(CLI::Range(1, 1000));
  app.add_option("--topics", options.topics, "What the clients listen to");
  CLI11_PARSE(app, argc, argv);
  options.common.need_places();
  bool reached = true;
  for (int round = 0; round < options.common.rounds; ++round) {
    for (const std::string store : {"sqlite", "postgresql"}) {
      if (!options.common.wants(store)) continue;
      const auto file = fmt::format("sqlite:{}/stream-{}.db", options.common.folder, round);
      const auto figures = measure_stream(options, store, store == "sqlite" ? file : options.common.postgres_url);
      print(figures, options);
      reached = reached && is_reached(figures);
    }
  }
  return options.common.check && !reached ? 1 : 0;
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) { return leasehold::bench::run(argc, argv); }
