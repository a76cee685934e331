// A store with one sync, "orders", and short functions for its loaders.
//
//   class ChunkClaimTest : public ChunkStoreTest {};
//   LEASEHOLD_ON_BOTH_STORES(ChunkClaimTest);
//
//   TEST_P(ChunkClaimTest, TheFirstOfThePlanComesFirst) {
//     plan(3);
//     EXPECT_EQ(claim("ann").key, "1");
//   }
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "support/chunk_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {

/// Up to so many chunks, for half a minute.
inline ChunkClaimOptions loading(int max = 1, Duration ttl = std::chrono::seconds(30)) {
  return {.max = max, .ttl = unless_zero(ttl)};
}

inline std::vector<std::string> keys_of(const ChunkGrant& grant) {
  std::vector<std::string> keys;
  for (const auto& chunk : grant.chunks) keys.push_back(chunk.key);
  return keys;
}

using Keys = std::vector<std::string>;

class ChunkStoreTest : public StoreTest {
 protected:
  Chunks chunks() { return store().chunks(); }

  /// Chunks "1" to "N" with their number as spec.
  void plan(int count, const ChunkSetSettings& settings = {}) {
    plan_numbers(chunks(), "orders", count, {.settings = settings});
  }
  PlanOutcome plan_as(const std::string& planner, const std::vector<PlannedChunk>& planned) {
    return must(chunks().plan("orders", planned, {.planner = planner}));
  }

  ChunkGrant claim_many(const std::string& who, int max, Duration ttl = std::chrono::seconds(30)) {
    return must(chunks().claim("orders", loading(max, ttl), by(who)));
  }
  /// The next one.
  Chunk claim(const std::string& who, Duration ttl = std::chrono::seconds(30)) {
    return claim_many(who, 1, ttl).chunks.at(0);
  }
  Result<ChunkGrant> try_claim(const std::string& who, const std::string& key = {}) {
    auto options = loading();
    options.key = key;
    return chunks().claim("orders", options, by(who));
  }
  Chunk claim_key(const std::string& who, const std::string& key) { return must(try_claim(who, key)).chunks.at(0); }

  Result<ChunkHeartbeat> save(const Chunk& chunk, const ChunkSave& save = {}) {
    return chunks().heartbeat(chunk.set, chunk.key, chunk.token, save);
  }
  Result<ChunkSettled> complete(const Chunk& chunk, const ChunkSave& save = {}) {
    return chunks().complete(chunk.set, chunk.key, chunk.token, save);
  }
  Result<ChunkSettled> fail(const Chunk& chunk, const Verdict& verdict = Verdict::fail()) {
    return chunks().settle({chunk.set, chunk.key, chunk.token, verdict});
  }
  Result<ChunkSettled> release(const Chunk& chunk, const ChunkSave& save = {}) {
    return chunks().release(chunk.set, chunk.key, chunk.token, save);
  }
  Result<ChunkSettled> skip(const Chunk& chunk, const std::string& reason) {
    return chunks().skip(chunk.set, chunk.key, chunk.token, reason);
  }
  void load(const std::string& key, std::int64_t rows = 0) {
    ASSERT_TRUE(ok(complete(claim_key("loader", key), {.rows = rows})));
  }
  /// Its holder dies with it, and it was claimed solo.
  void crash(const std::string& key) {
    claim_key("dying", key);
    advance(std::chrono::seconds(31));
    must(store().recover());
  }

  ChunkInfo chunk(const std::string& key) { return must(chunks().show("orders", key)); }
  ChunkState state(const std::string& key) { return chunk(key).state; }
  ChunkSetInfo progress() { return must(chunks().progress("orders")); }
  std::vector<std::string> story(const std::string& key) { return story_of(store(), "orders", key); }
};

}  // namespace leasehold::support
