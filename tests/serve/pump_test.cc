// The thread of the live stream: it wakes up for changes and for clients, and rests without them.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "serve/pump.h"
#include "serve/stream_client.h"
#include "store/store.h"
#include "support/fault_backend.h"
#include "support/process.h"

namespace leasehold::support {
namespace {

class PumpTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    faults_ = std::make_shared<FaultBackend>(under_test().open_backend());
    pump_.emplace(store_over(faults_, {}));
  }
  serve::Pump& pump() { return *pump_; }

  static serve::Request request(const std::string& query, const std::string& last_id = {}) {
    serve::Request made{.method = "GET", .path = "/api/v1/stream", .query = query};
    if (!last_id.empty()) made.headers.set("Last-Event-ID", last_id);
    return made;
  }
  StreamClient connect(const std::string& topics) {
    StreamClient client;
    EXPECT_TRUE(ok(pump().add({.stream = client.stream(), .topics = *serve::parse_topics(topics)})));
    return client;
  }
  /// Waits for a frame; the names of all frames until then.
  static std::string until(StreamClient& client, const std::string& name) {
    std::string names;
    EXPECT_TRUE(eventually([&] {
      names += client.names();
      return names.find(name + " ") != std::string::npos;
    })) << "no "
        << name << " after " << names;
    return names;
  }

  std::shared_ptr<FaultBackend> faults_;
  std::optional<serve::Pump> pump_;
};
LEASEHOLD_ON_BOTH_STORES(PumpTest);

TEST_P(PumpTest, AChangeReachesAClient) {
  auto ann = connect("leases,events");
  until(ann, "leases");
  take(locks(), "deploy", {}, by("alice"));
  std::string names;
  EXPECT_TRUE(eventually([&] {
    names += ann.names();
    return names.find("event ") != std::string::npos && names.find("leases ") != std::string::npos;
  })) << names;
}

TEST_P(PumpTest, DrainSaysByeToEveryClientAndOpensNoOtherStream) {
  auto ann = connect("leases");
  auto bob = connect("events");
  until(ann, "leases");
  pump().drain("the server is being restarted");
  until(ann, "bye");
  until(bob, "bye");
  EXPECT_TRUE(eventually([&] { return ann.stream()->finished() && bob.stream()->finished(); }));
  EXPECT_TRUE(fails(pump().answer(request("")), Errc::unavailable));
}

TEST_P(PumpTest, WithoutClientsTheStoreIsLeftAlone) {
  auto ann = connect("leases");
  until(ann, "leases");
  EXPECT_FALSE(pump().rests());
  ann.stream()->client_gone();
  // The thread learns it in its next turn, within a second. Then it has no watch on the store, and only a client wakes
  // it.
  EXPECT_TRUE(eventually([&] { return pump().rests(); }));
  const auto asked = faults_->asked().size();
  take(locks(), "deploy", {}, by("alice"));
  EXPECT_TRUE(pump().rests());
  EXPECT_EQ(faults_->asked().size(), asked);
  auto bob = connect("leases");
  until(bob, "leases");
  EXPECT_FALSE(pump().rests());
}

TEST_P(PumpTest, AWatchTellsAChangeFromTheEndOfItsTime) {
  const auto watch = faults_->watch("");
  EXPECT_TRUE(eventually([&] { return !watch->wait(BootClock::now() + 200ms); })) << "it may wake by itself at first";
  watch->wake();
  EXPECT_TRUE(watch->wait(BootClock::now() + 30s));
  // PostgreSQL announces only what a process waits for.
  if (GetParam() == StoreKind::postgres) return;
  take(locks(), "deploy", {}, by("alice"));
  EXPECT_TRUE(watch->wait(BootClock::now() + 30s));
}

TEST_P(PumpTest, ARequestChoosesItsTopicsAndWhereToResume) {
  auto made = pump().answer(request("topics=events%2Cleases"));
  ASSERT_TRUE(ok(made));
  EXPECT_EQ(made->headers.get("content-type"), "text/event-stream");
  EXPECT_EQ(made->headers.get("cache-control"), "no-store");
  EXPECT_NE(made->stream, nullptr);
  EXPECT_TRUE(ok(pump().answer(request("after=0-0"))));
  EXPECT_TRUE(ok(pump().answer(request("after=broken", "0-0")))) << "a browser repeats its query when it reconnects";
  for (const auto* query : {"topics=jobs", "topics=leases,", "after=7", "max=1", "topics=%zz"}) {
    EXPECT_TRUE(fails(pump().answer(request(query)), Errc::invalid_argument)) << query;
  }
  EXPECT_TRUE(fails(pump().answer(request("", "x")), Errc::invalid_argument));
}

TEST_P(PumpTest, ManyClientsGetEveryEvent) {
  constexpr std::size_t clients = 100;
  constexpr std::size_t events = 50;
  std::deque<StreamClient> all;
  for (std::size_t i = 0; i < clients; ++i) all.push_back(connect("events"));
  for (auto& client : all) until(client, "hello");
  for (std::size_t i = 0; i < events; ++i) take(locks(), "lock " + std::to_string(i), {}, by("alice"));
  EXPECT_TRUE(eventually([&] {
    for (auto& client : all) client.take();
    return std::all_of(all.begin(), all.end(), [](const StreamClient& client) { return client.events() == events; });
  })) << all.front().events();
}

}  // namespace
}  // namespace leasehold::support
