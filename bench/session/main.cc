// Measures sessions and claims through leasehold beside raw SQL of the same durability, in one run. `bench/run
// sessions` starts it, and provides the folder and the PostgreSQL.
#include <CLI/CLI.hpp>
#include <deque>

#include "../comparison.h"
#include "../leasehold_calls.h"
#include "raw_sessions.h"
#include "session_calls.h"

namespace leasehold::bench {
namespace {

constexpr int many = Comparison::many;

/// All measurements on one store: leasehold's calls, and raw connections, one per caller.
template <typename Raw>
class Bench {
 public:
  Bench(const std::string& url, const std::string& raw_where, int sessions) : calls_(open_store(url), sessions, many) {
    for (int i = 0; i < many; ++i) raw_.emplace_back(raw_where, sessions, i, many);
  }

  void add_to(Comparison comparison) {
    comparison.add({"raw UPDATE", [this](int caller) { return raw(caller).heartbeat(); }},
                   {{"session heartbeat", [this](int caller) { return calls_.heartbeat(caller); }}});
    comparison.add({"raw INSERT + UPDATE", [this](int caller) { return raw(caller).take_and_release(); }},
                   {{"claim take + release", [this](int caller) { return calls_.take_and_release(caller); }}});
  }

 private:
  Raw& raw(int caller) { return raw_[static_cast<std::size_t>(caller)]; }

  SessionCalls calls_;
  std::deque<Raw> raw_;
};

int run(int argc, char** argv) {
  Options options;
  int sessions = 10'000;
  CLI::App app("Sessions and claims through leasehold beside raw SQL of the same durability");
  options.add_to(app);
  app.add_option("--sessions", sessions, "How many are open")->check(CLI::Range(many, 1'000'000));
  CLI11_PARSE(app, argc, argv);
  options.need_places();
  return measure_on_both<Bench<RawSqliteSessions>, Bench<RawPostgresSessions>>(options, sessions);
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) { return leasehold::bench::run(argc, argv); }
