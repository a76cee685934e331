// Streams and waits end with the API token that let them in.
#include "serve/token_watch.h"

#include "observe/metrics.h"
#include "serve/server_fixture.h"
#include "serve/stream_client.h"
#include "store/store.h"
#include "support/fault_backend.h"

namespace leasehold::support {
namespace {

class TokenWatchTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    faults_ = std::make_shared<FaultBackend>(under_test().open_backend());
    tokens_.emplace(store_over(faults_, {}));
  }
  std::int64_t new_token(const std::string& name, std::optional<Duration> expires_in = {}) {
    const auto made = store().access().create_token({.name = name, .expires_in = expires_in});
    EXPECT_TRUE(ok(made));
    return made ? made->info.id : 0;
  }
  void revoke(std::int64_t id) { EXPECT_TRUE(ok(store().access().revoke_token(id))); }

  std::shared_ptr<FaultBackend> faults_;
  std::optional<serve::TokenWatch> tokens_;
};
LEASEHOLD_ON_BOTH_STORES(TokenWatchTest);

TEST_P(TokenWatchTest, ATokenThatIsRevokedOrExpiresEndsWhatItLetIn) {
  const auto ann = new_token("ann");
  const auto bob = new_token("bob", 1h);
  const auto stays = tokens_->watch(new_token("cid"));
  const auto by_ann = tokens_->watch(ann);
  const auto by_bob = tokens_->watch(bob);
  ASSERT_TRUE(ok(tokens_->check()));
  EXPECT_FALSE(by_ann->stop_requested() || by_bob->stop_requested());
  revoke(ann);
  ASSERT_TRUE(ok(tokens_->check()));
  EXPECT_TRUE(by_ann->stop_requested());
  EXPECT_FALSE(by_bob->stop_requested());
  advance(61min);
  ASSERT_TRUE(ok(tokens_->check()));
  EXPECT_TRUE(by_bob->stop_requested());
  EXPECT_FALSE(stays->stop_requested());
}

TEST_P(TokenWatchTest, OneLookIsForAllStreamsAndNoneIsForNone) {
  const auto ann = new_token("ann");
  const auto without = tokens_->watch(0);
  ASSERT_TRUE(ok(tokens_->check()));
  EXPECT_TRUE(tokens_->idle());
  EXPECT_EQ(faults_->calls("token_list"), 0);
  auto first = tokens_->watch(ann);
  auto second = tokens_->watch(ann);
  const auto third = tokens_->watch(new_token("bob"));
  ASSERT_TRUE(ok(tokens_->check()));
  EXPECT_EQ(faults_->calls("token_list"), 1);
  first.reset();
  second.reset();
  EXPECT_FALSE(tokens_->idle()) << "the third one is still there";
}

TEST_P(TokenWatchTest, AStoreThatDoesNotAnswerEndsNothing) {
  const auto ann = new_token("ann");
  const auto watched = tokens_->watch(ann);
  revoke(ann);
  faults_->fail_next(Fault::fail_before_send);
  EXPECT_TRUE(fails(tokens_->check(), Errc::unavailable));
  EXPECT_FALSE(watched->stop_requested());
  ASSERT_TRUE(ok(tokens_->check()));
  EXPECT_TRUE(watched->stop_requested());
}

TEST_P(TokenWatchTest, MoreTokensThanAPageAreAllSeen) {
  const auto first = tokens_->watch(new_token("first"));
  for (int i = 0; i < defaults::list_max; ++i) new_token("token-" + std::to_string(i));
  const auto last = tokens_->watch(new_token("last"));
  ASSERT_TRUE(ok(tokens_->check()));
  EXPECT_FALSE(first->stop_requested() || last->stop_requested());
}

class LostTokenTest : public LiveTest {};
LEASEHOLD_ON_BOTH_STORES(LostTokenTest);

TEST_P(LostTokenTest, AStreamSaysByeAndTheOthersGoOn) {
  auto ann = connect("leases");
  StreamClient bob;
  const auto token = std::make_shared<std::stop_source>();
  live().add({.stream = bob.stream(), .topics = *serve::parse_topics("leases"), .token = token});
  turn();
  EXPECT_EQ(bob.names(), "hello leases ");
  EXPECT_EQ(ann.names(), "hello leases ");
  token->request_stop();
  take(locks(), "deploy", {}, by("alice"));
  turn();
  const auto frames = bob.take();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].name, "bye");
  EXPECT_EQ(frames[0].data, R"({"reason":"the API token was revoked or has expired"})");
  EXPECT_TRUE(bob.stream()->finished());
  EXPECT_EQ(ann.names(), "leases ");
}

class TokenEndTest : public ServerTest {
 protected:
  void revoke_all() {
    const auto all = store().access().tokens();
    ASSERT_TRUE(ok(all));
    for (const auto& token : all->items) ASSERT_TRUE(ok(store().access().revoke_token(token.id)));
  }
};
LEASEHOLD_ON_BOTH_STORES(TokenEndTest);

TEST_P(TokenEndTest, AStreamEndsWhenItsTokenIsRevoked) {
  start();
  auto one = client();
  one.send(one.written("GET", "/api/v1/stream", "", with(token(Scope::read))));
  ASSERT_EQ(one.read_head().status, 200);
  ASSERT_TRUE(one.read_chunk().has_value());
  revoke_all();
  std::string rest;
  for (auto chunk = one.read_chunk(); chunk && !chunk->empty(); chunk = one.read_chunk()) rest += *chunk;
  EXPECT_NE(rest.find("event: bye\ndata: {\"reason\":\"the API token was revoked"), std::string::npos) << rest;
}

TEST_P(TokenEndTest, WaitsEndWhenTheirTokenExpires) {
  start();
  const auto made = store().access().create_token({.name = "short", .scope = Scope::work, .expires_in = 1h});
  ASSERT_TRUE(ok(made));
  auto act = client();
  act.send(act.written("POST", "/api/v1/job/claim", R"({"queue":"mail","wait_seconds":55})", with(made->secret)));
  auto tool = client();
  ASSERT_EQ(post("lock/acquire", R"({"name":"deploy","ttl_seconds":86400})", made->secret).status, 200);
  tool.send(tool.written("POST", "/mcp",
                         R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lock_acquire",)"
                         R"("arguments":{"name":"deploy","wait_seconds":55}}})",
                         with(made->secret)));
  // Both wait: they are answered only because their token ends.
  ASSERT_TRUE(eventually([&] { return observe::process().waiting_acts == 2; }, 30s));
  advance(61min);
  EXPECT_FALSE(act.read().json().at("granted").as_bool());
  EXPECT_EQ(post("job/list", "{}", made->secret).status, 401);
  EXPECT_NE(tool.read().body.find(R"("granted":false)"), std::string::npos);
}

}  // namespace
}  // namespace leasehold::support
