// A server whose threads are all taken, and one whose store is away: who must still get an answer, and which.
#include "observe/metrics.h"
#include "serve/server_fixture.h"
#include "serve/site.h"
#include "store/store.h"
#include "support/fault_backend.h"

namespace leasehold::support {
namespace {

constexpr int act_threads = serve::Site::act_threads;

class BusyServerTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    faults_ = std::make_shared<FaultBackend>(under_test().open_backend());
  }
  void TearDown() override {
    faults_->let_go();
    faults_->heal();
    clients_.clear();
    ServerTest::TearDown();
  }
  FaultBackend& faults() { return *faults_; }
  void start_over_faults(const serve::SiteOptions& site = {.callers = {.no_auth = true}}) {
    start_over(store_over(faults_, {.call_timeout = 5s}), site);
  }

  /// Sends the request on so many connections, which stay open.
  void send_many(int count, const std::string& target, const std::string& body) {
    for (int i = 0; i < count; ++i) {
      clients_.push_back(client());
      clients_.back().send(clients_.back().written("POST", target, body));
    }
  }
  static bool all_under_way(int count) { return observe::process().requests_now == count; }
  /// While as many requests wait as there are threads for acts, others must be answered at once.
  void expect_others_are_answered() {
    ASSERT_TRUE(eventually([&] { return all_under_way(act_threads); }, 30s));
    EXPECT_EQ(post("job/list", "{}").status, 200);
    EXPECT_TRUE(eventually([&] { return all_under_way(act_threads); }, 1s)) << "one of them had to end first";
  }
  /// Every thread for acts is in the store, until let_go().
  void take_all_act_threads() {
    faults().hold("job_list");
    send_many(act_threads, "/api/v1/job/list", "{}");
    ASSERT_TRUE(eventually([&] { return faults().calls("job_list") == act_threads; }, 30s));
  }
  void hear_all() {
    for (auto& each : clients_) EXPECT_EQ(each.read().status, 200);
    clients_.clear();
  }
  static Error away() { return {.code = Errc::unavailable, .message = "no connection to db.internal:5432/app"}; }

 private:
  std::shared_ptr<FaultBackend> faults_;
  std::vector<HttpClient> clients_;
};
LEASEHOLD_ON_BOTH_STORES(BusyServerTest);

TEST_P(BusyServerTest, WaitsTakeNoThreadOfOtherActsHoweverTheyAreWritten) {
  start_over_faults();
  send_many(act_threads, "/api/v1/job/claim", R"({"queue":"none","w\u0061it_seconds":6})");
  expect_others_are_answered();
}

TEST_P(BusyServerTest, ARateWaitsByItselfAndTakesNoThreadOfOtherActs) {
  start_over_faults();
  const std::string turn = R"({"name":"orders-api","every_seconds":5)";
  ASSERT_EQ(post("rate/take", turn + "}").status, 200);
  send_many(act_threads, "/api/v1/rate/take", turn + "}");
  expect_others_are_answered();
}

TEST_P(BusyServerTest, ToolsThatWaitTakeNoThreadOfActs) {
  start_over_faults();
  ASSERT_EQ(post("lock/acquire", R"({"name":"deploy"})").status, 200);
  send_many(act_threads, "/mcp",
            R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lock_acquire",)"
            R"("arguments":{"name":"deploy","w\u0061it_seconds":5}}})");
  expect_others_are_answered();
}

TEST_P(BusyServerTest, AClaimOfAClientThatIsGoneIsNotPerformed) {
  start_over_faults();
  const auto job = post("job/enqueue", R"({"queue":"mail"})").json().at("id").as_int64();
  take_all_act_threads();
  {
    auto gone = client();
    gone.send(gone.written("POST", "/api/v1/job/claim", R"({"queue":"mail"})"));
    ASSERT_TRUE(eventually([&] { return all_under_way(act_threads + 1); }, 30s));
  }
  // Answered on the thread that sees the connection end.
  ASSERT_EQ(get("/healthz").status, 200);
  faults().let_go();
  hear_all();
  ASSERT_TRUE(eventually([&] { return all_under_way(0); }, 30s));
  const auto shown = store().jobs().show(job);
  ASSERT_TRUE(ok(shown));
  EXPECT_EQ(shown->state, JobState::available);
}

TEST_P(BusyServerTest, ItIsReadyWhileItsThreadsAreBusy) {
  start_over_faults();
  take_all_act_threads();
  EXPECT_EQ(get("/readyz").status, 200);
  EXPECT_EQ(get("/metrics").status, 200);
  EXPECT_TRUE(eventually([&] { return all_under_way(act_threads); }, 1s)) << "one of them had to end first";
  faults().let_go();
  hear_all();
}

TEST_P(BusyServerTest, ReadyzAsksTheStoreForASecondAndOnceForAll) {
  start_over_faults();
  ASSERT_EQ(get("/readyz").status, 200);
  EXPECT_LE(faults().patience("retention_show"), 1s);
  faults().hold("retention_show");
  std::vector<HttpClient> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(client());
    all.back().send(all.back().written("GET", "/readyz"));
  }
  ASSERT_TRUE(eventually([&] { return all_under_way(50); }, 30s));
  faults().let_go();
  for (auto& each : all) EXPECT_EQ(each.read().status, 200);
  EXPECT_EQ(faults().calls("retention_show"), 2);
}

TEST_P(BusyServerTest, StrangersDoNotLearnWhereTheStoreIs) {
  start_over_faults({});
  const std::string unknown = "lht_" + std::string(43, 'a');
  faults().refuse_next(away(), 1, "retention_show");
  faults().refuse_next(away(), 1, "token_find");
  for (const auto& answer : {get("/readyz"), post("job/list", "{}", unknown)}) {
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.code(), "unavailable");
    EXPECT_EQ(answer.body.find("db.internal"), std::string::npos) << answer.body;
  }
  const auto known = token(Scope::read);
  ASSERT_EQ(post("job/list", "{}", known).status, 200);
  faults().refuse_next(away(), 1, "job_list");
  EXPECT_NE(post("job/list", "{}", known).body.find("db.internal"), std::string::npos) << "it may know";
}

TEST_P(BusyServerTest, AKnownTokenStillReadsTheProcessMetricsWhileTheStoreIsAway) {
  start_over_faults({});
  const auto known = token(Scope::read);
  const auto revoked = token(Scope::read);
  const auto unseen = token(Scope::read);
  ASSERT_EQ(get("/metrics", known).status, 200);
  ASSERT_EQ(get("/metrics", revoked).status, 200);
  ASSERT_TRUE(ok(store().access().revoke_token(2)));
  ASSERT_TRUE(eventually([&] { return get("/metrics", revoked).status == 401; }, 30s));
  faults().fail_always(Fault::fail_before_send);
  // A server remembers a token for a second.
  ASSERT_TRUE(eventually([&] { return post("job/list", "{}", known).status == 503; }, 30s));
  EXPECT_EQ(get("/metrics", known).status, 200);
  EXPECT_EQ(get("/metrics/store", known).status, 503);
  EXPECT_EQ(get("/metrics", revoked).status, 503);
  EXPECT_EQ(get("/metrics", unseen).status, 503);
  faults().heal();
  EXPECT_EQ(get("/metrics", unseen).status, 200);
}

}  // namespace
}  // namespace leasehold::support
