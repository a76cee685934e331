// Ten processes take the next item until none is left, and are killed while they do: no item is done twice, none is
// stranded. Promises 3 and 6.
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <memory>
#include <random>
#include <set>

#include "support/process.h"
#include "support/session_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

constexpr int agents = 10;
constexpr int item_count = 200;
constexpr int kills = 12;

/// Says each item that it gets, and again when it is done. Its session is its own process, as an agent's is.
LEASEHOLD_ROLE(agent_of_next) {
  const auto store = Store::open(env("STORE_URL"));
  if (!store) return 1;
  const auto session = store->sessions().hold({.ttl = 20s});
  if (!session) return 1;
  const auto& own = session->grant();
  for (;;) {
    const auto claim = store->claims().next(own.key, {.session_token = own.token, .wait = 20s});
    if (!claim && claim.error().code == Errc::empty) break;
    if (!claim) {
      printf("refused %s\n", describe(claim.error()).c_str());
      fflush(stdout);
      return 1;
    }
    printf("has %s %lld\n", claim->key.c_str(), static_cast<long long>(claim->token.value));
    fflush(stdout);
    const ItemDoneOptions by{.session = own.key, .session_token = own.token, .note = "done by " + own.key};
    if (!store->items().done(claim->key, by)) return 1;
  }
  printf("nothing left\n");
  return 0;
}

class ClaimNextCrash : public ::testing::TestWithParam<StoreKind> {
 protected:
  ClaimNextCrash() : test_store_(GetParam(), {.real_time = true}), store_(test_store_.open()) {}
  [[nodiscard]] std::unique_ptr<Process> agent() const {
    return std::make_unique<Process>(Process::self("agent_of_next", {{"STORE_URL", test_store_.url()}}));
  }

  TestStore test_store_;
  Store store_;
};
LEASEHOLD_ON_BOTH_STORES(ClaimNextCrash);

TEST_P(ClaimNextCrash, TenProcessesFinishTheBacklogAlthoughTheyAreKilled) {
  for (int i = 0; i < item_count; ++i) {
    ItemOptions options{.priority = i % 4};
    // Some wait for others.
    if (i % 10 == 9) options.depends_on = Words{"SD-" + std::to_string(i - 9)};
    must(store_.items().add("SD-" + std::to_string(i), options));
  }
  std::vector<std::unique_ptr<Process>> running;
  for (int i = 0; i < agents; ++i) running.push_back(agent());
  std::mt19937 random(20261119);
  for (int i = 0; i < kills; ++i) {
    const auto victim = random() % agents;
    // It is at work: between two items, or with one.
    for (auto lines = 1 + random() % 5; lines > 0; --lines) {
      if (!running[victim]->read_line(30s)) break;
    }
    running[victim]->signal(SIGKILL);
    running[victim] = agent();
  }
  for (int i = 0; i < agents; ++i) {
    const auto finished = running[static_cast<std::size_t>(i)]->finish(90s);
    EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
    EXPECT_EQ(finished.out.find("refused"), std::string::npos) << finished.out;
  }
  std::map<std::string, int> completed;
  std::map<std::string, Timestamp> held_since;
  for (const auto& event : must(store_.events({.max = 100'000}))) {
    if (event.kind != "item") continue;
    if (event.what == "completed") ++completed[event.key];
    if (event.what == "claimed" || event.what == "reclaimed") {
      EXPECT_FALSE(held_since.contains(event.key)) << event.key << " was given to a second session";
      held_since[event.key] = event.at;
    }
    if (event.what == "completed" || event.what == "expired" || event.what == "released") held_since.erase(event.key);
  }
  EXPECT_EQ(completed.size(), static_cast<std::size_t>(item_count)) << "an item is stranded";
  for (const auto& [key, times] : completed) EXPECT_EQ(times, 1) << key;
  for (const auto& item : must(store_.items().list({.max = item_count + 1}))) {
    EXPECT_EQ(item.state, ItemState::done) << item.key;
    EXPECT_EQ(item.note_count, 1) << item.key;
  }
}

}  // namespace
}  // namespace leasehold::support
