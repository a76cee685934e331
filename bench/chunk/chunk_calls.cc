#include "chunk_calls.h"

#include <chrono>

#include "../leasehold_calls.h"

namespace leasehold::bench {
namespace {

using namespace std::chrono_literals;

/// More than most measurements claim.
constexpr int chunks_per_set = 5'000;
/// The largest burst of a rate.
constexpr int most_burst = 10'000;

}  // namespace

ChunkCalls::ChunkCalls(Store store) : store_(std::move(store)), chunks_(store_.chunks()), limits_(store_.rates()) {}

void ChunkCalls::plan_anew() {
  if (!set_.empty()) need(chunks_.remove(set_));
  set_ = "bench-" + std::to_string(++plans_);
  need(chunks_.plan(set_, need(plan_range(1, chunks_per_set * 100, 100))));
}

bool ChunkCalls::cycle() {
  // A set that runs out is loaded again, oldest first.
  const auto grant = chunks_.claim(set_, {.older_than = 0s});
  if (!grant && grant.error().code == Errc::busy) return false;
  if (!grant) die(grant.error().message);
  const auto& chunk = grant->chunks.front();
  need(chunks_.heartbeat(set_, chunk.key, chunk.token, {.cursor = R"({"page":1})", .rows = 50}));
  need(chunks_.complete(set_, chunk.key, chunk.token, {.rows = 100}));
  return true;
}

bool ChunkCalls::take_turn() {
  // When the burst of one rate is used up, the next rate follows.
  const auto name = "bench-" + std::to_string(turns_++ / most_burst);
  need(limits_.take(name, {.every = 1ms, .burst = most_burst}));
  return true;
}

}  // namespace leasehold::bench
