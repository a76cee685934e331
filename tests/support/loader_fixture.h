// For tests of the loader: chunks of the set "orders" in a SQLite store, and a way to it that breaks on demand.
#pragma once

#include <string>
#include <vector>

#include "support/chunk_helpers.h"
#include "support/running_loader.h"
#include "support/runtime_fixture.h"

namespace leasehold::support {

class LoaderRuntimeTest : public RuntimeTest {
 protected:
  using Keys = std::vector<std::string>;

  Chunks chunks() { return store().chunks(); }
  ChunkInfo chunk(const std::string& key) { return support::show(chunks(), "orders", key); }

  /// A failure is final: the store's clock stands still, so nothing comes back after a pause.
  void plan(const Keys& keys, Duration ttl = 10s) {
    std::vector<PlannedChunk> planned;
    for (const auto& key : keys) planned.push_back({key, "{}"});
    must(chunks().plan("orders", planned, {.settings = {.max_failures = 1, .default_ttl = ttl}}));
  }
  /// Another loader loads it, until give_back().
  void hold(const std::string& key) {
    held_ = must(chunks().claim("orders", {.key = key, .ttl = 1h}, {.holder = holder("somebody")})).chunks.at(0);
  }
  void give_back() { must(chunks().release("orders", held_.key, held_.token)); }
  /// A solo chunk: it was one of several when its holder died.
  void make_solo(const Keys& keys) {
    const auto ghost = Holder{.name = "ghost", .instance = "g"};
    const auto lease = must(chunks().open_lease(30s, {.holder = ghost}));
    for (const auto& key : keys) must(chunks().claim("orders", {.key = key}, {.holder = ghost, .lease = lease}));
    advance(31s);
    must(store().recover());
  }

  int waits() { return faults().calls("wait chunks:orders"); }
  int beats() { return faults().calls("loader_extend"); }

 private:
  Chunk held_;
};

}  // namespace leasehold::support
