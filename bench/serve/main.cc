// Measures the server beside the library: the same acts, by 64 connections over HTTP and by 64 threads in C++, on the
// same store in one run. `bench/run serve` starts it, and provides the folder and the PostgreSQL. The server runs in
// this process, so both sides have the same cores. What a caller always says is made before the measurement on both
// sides; what depends on an answer, such as the verdicts on the jobs of a claim, is made within it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <deque>
#include <iterator>
#include <memory>
#include <thread>

#include "../comparison.h"
#include "../leasehold_calls.h"
#include "http_caller.h"
#include "serve/server.h"

namespace leasehold::bench {
namespace {

constexpr int callers = 64;
constexpr int batch = 100;
/// More than any side works off in one measurement, one by one and in batches.
constexpr int jobs_per_second = 40'000;
constexpr int batched_jobs_per_second = 150'000;

/// A server on a free port, and a connection per caller.
class Served {
 public:
  explicit Served(const Store& store) {
    auto opened =
        serve::Server::open(store, {.listen = {{.host = "127.0.0.1"}}, .site = {.callers = {.no_auth = true}}});
    if (!opened) die(opened.error().message);
    server_ = std::move(*opened);
    thread_ = std::thread([this] { server_->run(); });
    for (int i = 0; i < callers; ++i) connections_.emplace_back(server_->addresses().front().port);
  }
  ~Served() {
    connections_.clear();
    server_->drain();
    thread_.join();
  }

  HttpCaller& caller(int number) { return connections_[static_cast<std::size_t>(number)]; }

 private:
  std::unique_ptr<serve::Server> server_;
  std::thread thread_;
  std::deque<HttpCaller> connections_;
};

class Bench {
 public:
  Bench(const std::string& url, std::string name) : name_(std::move(name)), store_(open_store(url)), served_(store_) {}

  void add_to(Report& report) {
    add(
        report, "claim + complete", 0.5, jobs_per_second, [this](int) { return claim_and_complete(); },
        [this](int caller) { return claim_and_complete(served_.caller(caller)); });
    add(
        report, fmt::format("enqueue {}", batch), 0.8, 0, [this](int) { return enqueue_batch(); },
        [this](int caller) { return enqueue_batch(served_.caller(caller)); });
    add(
        report, fmt::format("claim + settle {}", batch), 0.8, batched_jobs_per_second,
        [this](int) { return settle_batch(); }, [this](int caller) { return settle_batch(served_.caller(caller)); });
  }

 private:
  void add(Report& report, const std::string& what, double wanted, int jobs_each_second, Act in_library,
           Act over_http) {
    const auto library = fmt::format("{}, {}, {} threads", name_, what, callers);
    const auto http = fmt::format("{}, {}, {} connections", name_, what, callers);
    const auto measured = [this, jobs_each_second](Act act) {
      return [this, jobs_each_second, act = std::move(act)](Duration span) {
        begin_queue(std::chrono::ceil<std::chrono::seconds>(span).count() * jobs_each_second);
        return rate(callers, span, act);
      };
    };
    report.series.push_back({library, measured(std::move(in_library))});
    report.series.push_back({http, measured(std::move(over_http))});
    report.ratios.push_back({fmt::format("{}, {} over HTTP", name_, what), http, library, wanted});
  }

  /// Each measurement has a queue of its own, so that none works off what another left.
  void begin_queue(std::int64_t jobs) {
    queue_ = fmt::format("bench-{}", ++queues_);
    claim_ = fmt::format(R"({{"queue":"{}"}})", queue_);
    claim_batch_ = fmt::format(R"({{"queue":"{}","max":{}}})", queue_, batch);
    const std::vector<std::string_view> payloads(batch, R"({"payload":"x"})");
    enqueue_batch_ = fmt::format(R"({{"queue":"{}","jobs":[{}]}})", queue_, fmt::join(payloads, ","));
    const std::vector<NewJob> fresh(1000, NewJob{.payload = "\"x\""});
    for (std::int64_t done = 0; done < jobs; done += 1000) {
      if (auto enqueued = store_.jobs().enqueue(queue_, fresh); !enqueued) die(enqueued.error().message);
    }
  }

  bool claim_and_complete() {
    const auto grant = store_.jobs().claim(queue_);
    if (!grant) return false;
    return store_.jobs().complete(grant->jobs.front().id, grant->jobs.front().token).ok();
  }
  bool claim_and_complete(HttpCaller& caller) const {
    const auto grant = caller.post("job/claim", claim_);
    const auto id = number_of(grant, "id");
    if (id == 0) return false;
    caller.post("job/complete", fmt::format(R"({{"id":{},"token":{}}})", id, number_of(grant, "token")));
    return true;
  }

  bool enqueue_batch() { return store_.jobs().enqueue(queue_, hundred_).ok(); }
  bool enqueue_batch(HttpCaller& caller) const {
    caller.post("job/enqueue_all", enqueue_batch_);
    return true;
  }

  bool settle_batch() {
    const auto grant = store_.jobs().claim(queue_, {.max = batch});
    if (!grant) return false;
    std::vector<Settlement> settlements;
    settlements.reserve(grant->jobs.size());
    for (const auto& job : grant->jobs) settlements.push_back({job.id, job.token, Verdict::complete()});
    return store_.jobs().settle(settlements).ok();
  }
  bool settle_batch(HttpCaller& caller) const {
    auto grant = caller.post("job/claim", claim_batch_);
    std::string body = R"({"settlements":[)";
    const auto nothing = body.size();
    constexpr std::string_view job = R"({"id":)";
    for (auto at = grant.find(job); at != std::string_view::npos; at = grant.find(job)) {
      grant.remove_prefix(at);
      fmt::format_to(std::back_inserter(body), R"({}{{"id":{},"token":{},"verdict":"complete"}})",
                     body.size() > nothing ? "," : "", number_of(grant, "id"), number_of(grant, "token"));
      grant.remove_prefix(job.size());
    }
    if (body.size() == nothing) return false;
    body += "]}";
    caller.post("job/settle", body);
    return true;
  }

  const std::string name_;
  Store store_;
  Served served_;
  const std::vector<NewJob> hundred_ = std::vector<NewJob>(batch, NewJob{.payload = "\"x\""});
  int queues_ = 0;
  std::string queue_;
  std::string claim_;
  std::string claim_batch_;
  std::string enqueue_batch_;
};

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Acts over HTTP beside the same acts in the library");
  options.add_to(app);
  CLI11_PARSE(app, argc, argv);
  options.need_places();
  Report report;
  std::deque<Bench> benches;
  if (options.wants("sqlite")) benches.emplace_back("sqlite:" + options.folder + "/leasehold.db", "sqlite");
  if (options.wants("postgresql")) benches.emplace_back(options.postgres_url, "postgresql");
  for (auto& bench : benches) bench.add_to(report);
  return measure(report, options);
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) { return leasehold::bench::run(argc, argv); }
