// Measures chunks and rates through leasehold beside raw SQL of the same durability, in one run. `bench/run chunks`
// starts it, and provides the folder and the PostgreSQL.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <deque>

#include "../comparison.h"
#include "../leasehold_calls.h"
#include "../raw_lock.h"
#include "chunk_calls.h"

namespace leasehold::bench {
namespace {

/// All measurements on one store: leasehold's calls, and raw connections, one per caller.
template <typename Raw>
class Bench {
 public:
  Bench(const std::string& url, const std::string& raw_where) : calls_(open_store(url)) {
    for (int i = 0; i < Comparison::many; ++i) raw_.emplace_back(raw_where, fmt::format("bench-{}", i));
  }

  void add_to(Comparison comparison) {
    comparison.add(
        {"three raw UPDATEs", [this](int caller) { return raw(caller).pair() && raw(caller).single(); }},
        {{"chunk claim + save + complete", [this](int) { return calls_.cycle(); }, [this] { calls_.plan_anew(); }}});
    comparison.add({"raw UPDATE", [this](int caller) { return raw(caller).single(); }},
                   {{"rate take", [this](int) { return calls_.take_turn(); }}});
  }

 private:
  Raw& raw(int caller) { return raw_[static_cast<std::size_t>(caller)]; }

  ChunkCalls calls_;
  std::deque<Raw> raw_;
};

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Chunks and rate limits through leasehold beside raw SQL of the same durability");
  options.add_to(app);
  CLI11_PARSE(app, argc, argv);
  options.need_places();
  return measure_on_both<Bench<RawSqlite>, Bench<RawPostgres>>(options);
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) { return leasehold::bench::run(argc, argv); }
