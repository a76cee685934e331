// The live stream shows the rows of a store as they are, and then what changes.
#include <gtest/gtest.h>

#include "serve/stream_client.h"
#include "store/store.h"
#include "support/fault_backend.h"
#include "support/job_helpers.h"
#include "support/schedule_helpers.h"
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class StreamRowsTest : public LiveTest {
 protected:
  Grant take_lock(const std::string& name, const std::string& who = "alice", const AcquireOptions& options = {}) {
    return take(locks(), name, options, by(who));
  }
};
LEASEHOLD_ON_BOTH_STORES(StreamRowsTest);

TEST_P(StreamRowsTest, AClientFirstGetsHelloAndASnapshotOfEachTopic) {
  take_lock("deploy");
  auto ann = connect("leases,queues");
  turn();
  const auto frames = ann.take();
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_EQ(frames[0].name, "hello");
  EXPECT_NE(frames[0].data.find(R"("topics":["leases","queues"])"), std::string::npos) << frames[0].data;
  EXPECT_NE(frames[0].data.find(R"("store_now":"2026-03-01T)"), std::string::npos) << frames[0].data;
  EXPECT_EQ(frames[0].id, "") << "it asked for no events";
  EXPECT_EQ(frames[1].name, "stats");
  EXPECT_NE(frames[1].data.find(R"("held_leases":1)"), std::string::npos) << frames[1].data;
  EXPECT_EQ(frames[2].name, "leases");
  EXPECT_TRUE(frames[2].data.starts_with(
      R"({"full":true,"truncated":false,"put":[{"row":"lock/deploy","kind":"lock","key":"deploy","state":"running",)"))
      << frames[2].data;
  EXPECT_EQ(frames[3].data, R"({"full":true,"truncated":false,"put":[],"gone":[]})");
}

TEST_P(StreamRowsTest, AChangeIsPutAndAnEndIsGone) {
  auto ann = connect("leases");
  turn();
  ann.take();
  const auto grant = take_lock("deploy");
  turn();
  auto data = ann.data("leases");
  EXPECT_TRUE(data.starts_with(R"({"full":false,"truncated":false,"put":[{"row":"lock/deploy")")) << data;
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  turn();
  EXPECT_EQ(ann.data("leases"), "{\"full\":false,\"truncated\":false,\"put\":[],\"gone\":[\"lock/deploy\"]}\n");
}

TEST_P(StreamRowsTest, TimeThatPassesChangesNoRowUntilALeaseExpires) {
  take_lock("deploy", "alice", {.ttl = 30s});
  auto ann = connect("leases,sessions,schedules,workers,chunks,queues");
  must(store().sessions().open(session_of("ann"), by("ann")));
  must(store().schedules().set("nightly", every_ten_minutes()));
  turn();
  ann.take();
  advance(29s);
  turn();
  EXPECT_EQ(ann.names(), "") << "ages and remaining times follow from the clock";
  advance(2s);
  turn();
  EXPECT_NE(ann.data("leases").find(R"("state":"expired")"), std::string::npos);
}

TEST_P(StreamRowsTest, RowsComeAtMostTwiceASecond) {
  auto ann = connect("leases");
  turn();
  ann.take();
  take_lock("a");
  const auto next = turn(100ms);
  EXPECT_EQ(next.at, boot() + 400ms);
  EXPECT_TRUE(next.soon);
  EXPECT_EQ(ann.names(), "");
  take_lock("b");
  turn(400ms);
  EXPECT_EQ(ann.names(), "leases ") << "both changes in one frame";
}

TEST_P(StreamRowsTest, NoFrameShowsAProof) {
  const auto lock = take_lock("deploy");
  const auto session = must(store().sessions().open(session_of("ann"), by("ann")));
  must(store().schedules().set("nightly", due_now(every_ten_minutes())));
  const auto run = must(store().schedules().acquire("nightly", {}, by("carol")));
  auto client = connect("", EventMark{});
  turn();
  turn();
  std::string text;
  for (const auto& frame : client.take()) text += frame.data;
  for (const auto& who : {"alice", "ann", "carol"}) EXPECT_NE(text.find(who), std::string::npos) << who;
  EXPECT_EQ(text.find("instance-of-"), std::string::npos) << text;
  for (const auto& token : {lock.token, session.token, run.grant.token}) {
    EXPECT_EQ(text.find(std::to_string(token.value)), std::string::npos) << text;
  }
}

TEST_P(StreamRowsTest, TwoClientsGetTheirOwnTopics) {
  auto ann = connect("leases");
  auto bob = connect("queues,events");
  turn();
  ann.take();
  bob.take();
  take_lock("deploy");
  must(store().queues().pause("mail"));
  turn();
  EXPECT_EQ(ann.names(), "leases ");
  EXPECT_EQ(bob.names(), "event event queues ");
}

TEST_P(StreamRowsTest, AClientThatComesLaterGetsItsOwnSnapshot) {
  auto ann = connect("leases");
  take_lock("deploy");
  turn();
  ann.take();
  auto bob = connect("leases");
  turn();
  EXPECT_NE(bob.data("leases").find(R"({"full":true,"truncated":false,"put":[{"row":"lock/deploy")"),
            std::string::npos);
  EXPECT_EQ(ann.names(), "") << "nothing has changed for the first client";
}

TEST_P(StreamRowsTest, SharesOfOneLockAreRowsOfTheirOwn) {
  const auto one = take_lock("gpu", "alice", {.share = Share{.permits = 1, .capacity = 2}});
  take_lock("gpu", "bob", {.share = Share{.permits = 1, .capacity = 2}});
  auto ann = connect("leases");
  turn();
  EXPECT_EQ(count_of(ann.data("leases"), R"("row":"lock/gpu#)"), 2U);
  ASSERT_TRUE(ok(locks().release("gpu", one.token)));
  turn();
  const auto data = ann.data("leases");
  EXPECT_EQ(count_of(data, R"("row":"lock/gpu")"), 1U) << data;
  EXPECT_EQ(count_of(data, "lock/gpu#"), 2U) << data;
}

TEST_P(StreamRowsTest, AWideStoreIsShownInPart) {
  add_many(jobs(), "mail", 2'100);
  for (int i = 0; i < 3; ++i) claim(jobs(), "mail", claiming(1000), by("alice"));
  auto ann = connect("leases");
  turn();
  const auto data = ann.data("leases");
  EXPECT_EQ(count_of(data, R"("row":)"), 2'000U);
  EXPECT_EQ(count_of(data, R"("truncated":true)"), 8U) << "in every frame";
  EXPECT_EQ(count_of(data, R"("full":true)"), 1U) << "the others add to the first";
  turn();
  EXPECT_EQ(ann.names(), "") << "the same rows again are no change";
}

TEST_P(StreamRowsTest, ASlowClientGetsAResetAndASnapshotInsteadOfTheLostFrames) {
  const std::string long_text(4'000, 'x');
  std::vector<Grant> grants;
  for (int i = 0; i < 20; ++i) {
    grants.push_back(must(store().sessions().open({.label = long_text}, by("ann"))));
  }
  const auto change_all = [&](const std::string& note) {
    for (const auto& grant : grants) {
      must(store().sessions().heartbeat(grant.key, grant.token, {.progress = note + long_text}));
    }
    turn();
  };
  auto slow = connect("sessions");
  auto quick = connect("sessions");
  turn();
  for (int i = 0; slow.stream()->waiting() <= serve::Listener::max_waiting; ++i) change_all(std::to_string(i));
  const auto waiting = slow.stream()->waiting();
  quick.take();
  change_all("lost");
  EXPECT_EQ(quick.names(), "sessions ");
  EXPECT_EQ(slow.stream()->waiting(), waiting) << "it gets nothing more";
  EXPECT_EQ(slow.data("sessions").find("lostx"), std::string::npos);
  turn();
  const auto frames = slow.take();
  ASSERT_GE(frames.size(), 2U);
  EXPECT_EQ(frames[0].name, "reset");
  std::string data;
  for (const auto& frame : frames) data += frame.data;
  EXPECT_EQ(count_of(data, R"("full":true)"), 1U);
  EXPECT_EQ(count_of(data, "lostx"), 20U) << "all rows, as they are now";
}

TEST_P(StreamRowsTest, ALargeSnapshotIsNoReasonForAReset) {
  for (int i = 0; i < 150; ++i) {
    const auto grant = must(store().sessions().open({.label = std::string(4'000, 'x')}, by("ann")));
    must(store().sessions().heartbeat(grant.key, grant.token, {.progress = std::string(4'000, 'x')}));
  }
  auto ann = connect("sessions");
  turn();
  EXPECT_GT(ann.stream()->waiting(), serve::Listener::max_waiting);
  must(store().sessions().open({.label = "one more"}, by("bob")));
  turn();
  const auto names = ann.names();
  EXPECT_GE(count_of(names, "sessions "), 3U) << "in frames of a moderate size";
  EXPECT_EQ(names.find("reset"), std::string::npos) << names;
}

TEST_P(StreamRowsTest, LargeMetadataIsLeftOut) {
  const auto metadata = R"({"text":")" + std::string(5'000, 'x') + "\"}";
  must(store().sessions().open({.id = "large", .metadata = metadata}, by("ann")));
  must(store().sessions().open({.id = "small", .metadata = R"({"pr":12})"}, by("ann")));
  auto ann = connect("sessions");
  turn();
  const auto data = ann.data("sessions");
  EXPECT_EQ(count_of(data, R"("metadata":null)"), 1U);
  EXPECT_EQ(count_of(data, R"("metadata":{"pr":12})"), 1U);
}

TEST_P(StreamRowsTest, StatisticsComeEveryFiveSeconds) {
  auto ann = connect("sessions");
  for (int i = 0; i < 11; ++i) turn_unchanged(1s);
  EXPECT_EQ(count_of(ann.data("stats"), R"("listeners":1)"), 3U);
}

TEST_P(StreamRowsTest, AClientThatIsGoneIsForgotten) {
  auto ann = connect("leases");
  turn();
  EXPECT_FALSE(live().idle());
  ann.stream()->client_gone();
  EXPECT_EQ(turn().at, BootTime::max());
  EXPECT_TRUE(live().idle());
}

TEST_P(StreamRowsTest, TheEndIsABye) {
  auto ann = connect("leases");
  turn();
  ann.take();
  live().close("the server is being restarted");
  EXPECT_EQ(ann.data("bye"), "{\"reason\":\"the server is being restarted\"}\n");
  EXPECT_TRUE(ann.stream()->finished());
}

/// A store that stops answering.
class StreamTroubleTest : public LiveTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    faults_ = std::make_shared<FaultBackend>(under_test().open_backend());
    live_.emplace(store_over(faults_, {}), [this] { return boot_; });
  }
  void turn(Duration later = 1s) {
    boot_ += later;
    live_->turn(true);
  }

  std::shared_ptr<FaultBackend> faults_;
  std::optional<serve::Live> live_;
  BootTime boot_{1h};
  StreamClient ann_;
};
LEASEHOLD_ON_BOTH_STORES(StreamTroubleTest);

TEST_P(StreamTroubleTest, TroubleWithTheStoreIsReportedOnceAndItsEndToo) {
  live_->add({.stream = ann_.stream(), .topics = *serve::parse_topics("leases,events")});
  turn();
  ann_.take();
  faults_->fail_always(Fault::fail_before_send);
  turn();
  turn();
  const auto frames = ann_.take();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].name, "trouble");
  EXPECT_TRUE(frames[0].data.starts_with(R"({"code":"unavailable","message":")")) << frames[0].data;
  take(locks(), "deploy", {}, by("alice"));
  faults_->heal();
  turn();
  EXPECT_EQ(ann_.names(), "event trouble leases ") << "nothing that happened meanwhile is lost";
}

TEST_P(StreamTroubleTest, AClientThatComesDuringTroubleLearnsOfItAndIsGreetedAfterwards) {
  faults_->fail_always(Fault::fail_before_send);
  StreamClient first;
  live_->add({.stream = first.stream(), .topics = *serve::parse_topics("leases")});
  turn();
  EXPECT_EQ(first.names(), "trouble ");
  live_->add({.stream = ann_.stream(), .topics = *serve::parse_topics("leases")});
  EXPECT_EQ(ann_.names(), "trouble ");
  faults_->heal();
  turn();
  EXPECT_EQ(ann_.names(), "trouble hello leases ");
}

TEST_P(StreamTroubleTest, AClientThatHearsNothingGetsAHeartbeatLine) {
  live_->add({.stream = ann_.stream(), .topics = *serve::parse_topics("sessions")});
  turn();
  ann_.take();
  faults_->fail_always(Fault::fail_before_send);
  turn();
  EXPECT_EQ(ann_.names(), "trouble ");
  for (int i = 0; i < 14; ++i) turn();
  EXPECT_EQ(ann_.names(), "");
  turn();
  EXPECT_EQ(ann_.names(), ": ") << "after 15 seconds";
}

TEST_P(StreamTroubleTest, ATopicThatFailsForItselfDoesNotStopTheOthers) {
  live_->add({.stream = ann_.stream(), .topics = *serve::parse_topics("leases,queues")});
  faults_->refuse_next({.code = Errc::denied, .message = "no"}, 1, "lease_list");
  turn();
  EXPECT_EQ(ann_.names(), "hello trouble queues ");
  turn(5s);
  EXPECT_EQ(ann_.names(), "leases trouble ");
}

}  // namespace
}  // namespace leasehold::support
