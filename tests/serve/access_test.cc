// Who may do what over HTTP: scopes, patterns, cookies, origins, repeated requests.
#include <boost/json/serialize.hpp>

#include "act/act.h"
#include "serve/api.h"
#include "serve/server_fixture.h"

namespace leasehold::support {
namespace {

class HttpAccessTest : public ServerTest {
 protected:
  /// The cookie that a response sets, as a browser sends it back.
  static std::string cookie_of(const HttpAnswer& answer) {
    const std::string set(answer.headers.get("Set-Cookie"));
    return set.substr(0, set.find(';'));
  }
  std::string logged_in(const std::string& secret) {
    const auto answer = client().ask("POST", "/login", "token=" + secret);
    EXPECT_EQ(answer.status, 204) << answer.body;
    const auto set = answer.headers.get("Set-Cookie");
    EXPECT_NE(set.find("HttpOnly"), std::string::npos);
    EXPECT_NE(set.find("SameSite=Strict"), std::string::npos);
    return cookie_of(answer);
  }
};
LEASEHOLD_ON_BOTH_STORES(HttpAccessTest);

TEST_P(HttpAccessTest, EachActNeedsItsScope) {
  start();
  for (const auto scope : {Scope::read, Scope::produce, Scope::work, Scope::admin}) {
    const auto secret = token(scope);
    auto one = client();
    for (const auto& act : act::all()) {
      if (act.local) continue;
      // A key that no act knows: an act that may be called refuses its arguments and changes nothing.
      const auto answer = one.ask("POST", serve::path_of(act), R"({"no_such_key":1})", with(secret));
      EXPECT_EQ(answer.status, act.scope > scope ? 403 : 400) << act.name << " with " << act::word_of(scope);
    }
  }
}

TEST_P(HttpAccessTest, WithoutAValidTokenNothingIsAnswered) {
  start();
  for (const auto* secret : {"", "lht_wrong", "x"}) {
    const auto answer = post("job/list", "{}", secret);
    EXPECT_EQ(answer.status, 401) << secret;
    EXPECT_EQ(answer.code(), "unauthorized");
    EXPECT_EQ(answer.headers.get("WWW-Authenticate"), "Bearer realm=\"leasehold\"");
  }
  EXPECT_EQ(post("job/list", "{}", "", {{"Authorization", "Basic " + token(Scope::read)}}).status, 401);
  EXPECT_EQ(post("job/list", "{}", "", {{"Authorization", "bearer " + token(Scope::read)}}).status, 200);
}

TEST_P(HttpAccessTest, WithoutATokenNoLargeBodyIsRead) {
  start({}, {.body = 2s});
  const auto half = [](const std::string& lines) {
    return "POST /api/v1/job/enqueue_all HTTP/1.1\r\nHost: localhost\r\n" + lines + "Content-Length: 16777216\r\n\r\n";
  };
  auto stranger = client();
  stranger.send(half(""));
  EXPECT_EQ(stranger.read().status, 401) << "before its body";
  const auto secret = token(Scope::produce);
  auto slow = client();
  slow.send(half("Authorization: Bearer " + secret + "\r\n"));
  const std::string padding(100'000, ' ');
  EXPECT_EQ(post("job/enqueue_all", R"({"queue":"mail","jobs":[{"payload":1}]})" + padding, secret).status, 200);
  EXPECT_EQ(slow.read().status, 408);
}

TEST_P(HttpAccessTest, ATokenThatIsRevokedEnds) {
  start();
  const auto secret = token(Scope::read);
  ASSERT_EQ(post("job/list", "{}", secret).status, 200);
  const auto all = store().access().tokens();
  ASSERT_TRUE(ok(all));
  ASSERT_TRUE(ok(store().access().revoke_token(all->items.front().id)));
  // A server remembers a token for a second.
  EXPECT_TRUE(eventually([&] { return post("job/list", "{}", secret).status == 401; }, 30s));
}

TEST_P(HttpAccessTest, ATokenTouchesOnlyWhatItsPatternsName) {
  start();
  const auto mail = token(Scope::admin, {"queue:mail*", "lock:deploy"});
  EXPECT_EQ(post("job/enqueue", R"({"queue":"mail-eu"})", mail).status, 200);
  EXPECT_EQ(post("job/enqueue", R"({"queue":"billing"})", mail).status, 403);
  EXPECT_EQ(post("job/list", "{}", mail).status, 403);
  EXPECT_EQ(post("job/list", R"({"queue":"mail-eu"})", mail).status, 200);
  EXPECT_EQ(post("lock/acquire", R"({"name":"deploy"})", mail).status, 200);
  EXPECT_EQ(post("lock/acquire_all", R"({"names":["deploy","other"]})", mail).status, 403);
  EXPECT_EQ(post("schedule/set", R"({"name":"nightly","every_min_seconds":60,"queue":"mail-eu"})", mail).status, 403);
  EXPECT_EQ(post("store/status", "{}", mail).status, 403);
  EXPECT_EQ(get("/api/v1/stream", mail).status, 403);
  EXPECT_EQ(get("/metrics", mail).status, 403);
}

TEST_P(HttpAccessTest, AJobBelongsToItsQueue) {
  start();
  const auto id = jobs().enqueue("billing", NewJob{});
  ASSERT_TRUE(ok(id));
  const auto body = fmt::format(R"({{"id":{}}})", id->id);
  EXPECT_EQ(post("job/show", body, token(Scope::read, {"queue:mail"})).status, 403);
  EXPECT_EQ(get(fmt::format("/api/v1/job/show?id={}", id->id), token(Scope::read, {"queue:mail"})).status, 403);
  EXPECT_EQ(post("job/show", body, token(Scope::read, {"queue:billing"})).status, 200);
  EXPECT_EQ(post("job/cancel", body, token(Scope::work, {"queue:mail"})).status, 403);
}

TEST_P(HttpAccessTest, ABrowserLogsInWithAToken) {
  start();
  EXPECT_EQ(client().ask("POST", "/login", "token=lht_wrong").status, 401);
  const auto cookie = logged_in(token(Scope::work));
  EXPECT_EQ(get("/api/v1/job/list", "", {{"Cookie", "other=1; " + cookie}}).status, 200);
  const auto out = client().ask("POST", "/logout", "", {{"Cookie", cookie}});
  EXPECT_NE(out.headers.get("Set-Cookie").find("Max-Age=0"), std::string::npos);
}

TEST_P(HttpAccessTest, ACookieWritesOnlyFromItsOwnPage) {
  start();
  const auto cookie = logged_in(token(Scope::work));
  const auto host = server().addresses().front().text();
  const auto status_with = [&](serve::Headers headers) {
    headers.add("Cookie", cookie);
    return post("job/enqueue", R"({"queue":"mail"})", "", headers).status;
  };
  EXPECT_EQ(status_with({{"Host", host}, {"Origin", "http://" + host}}), 200);
  EXPECT_EQ(status_with({{"Sec-Fetch-Site", "same-origin"}}), 200);
  EXPECT_EQ(status_with({}), 403) << "nothing says where it comes from";
  EXPECT_EQ(status_with({{"Sec-Fetch-Site", "none"}}), 403);
  EXPECT_EQ(status_with({{"Sec-Fetch-Site", "same-site"}}), 403);
  EXPECT_EQ(status_with({{"Host", host}, {"Origin", "http://evil.example"}}), 403);
  EXPECT_EQ(status_with({{"Host", host}, {"Origin", "null"}}), 403);
}

TEST_P(HttpAccessTest, AStoreWithoutTokensIsEnteredOnceByLink) {
  start();
  const auto link = server().new_login_link();
  ASSERT_TRUE(ok(link));
  ASSERT_TRUE(link->has_value());
  EXPECT_EQ(get("/login?once=wrong").status, 401);
  const auto answer = get(**link);
  ASSERT_EQ(answer.status, 303) << answer.body;
  EXPECT_EQ(answer.headers.get("Location"), "/");
  EXPECT_EQ(get("/api/v1/whoami", "", {{"Cookie", cookie_of(answer)}}).json().at("scope"), "admin");
  EXPECT_EQ(get(**link).status, 401) << "only once";
  const auto next = server().new_login_link();
  ASSERT_TRUE(ok(next));
  EXPECT_FALSE(next->has_value()) << "the store has a token now";
}

TEST_P(HttpAccessTest, ARepeatedRequestGetsItsFirstAnswer) {
  start();
  const auto work = token(Scope::work);
  const serve::Headers key = {{"Idempotency-Key", "k-1"}};
  const auto first = post("job/enqueue", R"({"queue":"mail"})", work, key);
  ASSERT_EQ(first.status, 200) << first.body;
  const auto again = post("job/enqueue", R"({"queue":"mail"})", work, key);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.headers.get("Idempotency-Replayed"), "true");
  EXPECT_EQ(post("job/enqueue", R"({"queue":"other"})", work, key).status, 422);
  EXPECT_EQ(post("job/claim", R"({"queue":"mail"})", work, key).status, 422);
  EXPECT_NE(post("job/enqueue", R"({"queue":"mail"})", token(Scope::work), key).body, first.body) << "another caller";
  const auto listed = jobs().list({.queue = "mail"});
  ASSERT_TRUE(ok(listed));
  EXPECT_EQ(listed->items.size(), 2U);
}

TEST_P(HttpAccessTest, AKeyIsOneAndShort) {
  start();
  const auto work = token(Scope::work);
  const auto with_key = [&](const std::string& key) {
    return post("job/enqueue", R"({"queue":"mail"})", work, {{"Idempotency-Key", key}});
  };
  EXPECT_EQ(with_key(std::string(200, 'k')).status, 200);
  EXPECT_EQ(with_key(std::string(201, 'k')).code(), "invalid_argument");
  EXPECT_EQ(with_key("").code(), "invalid_argument");
  const serve::Headers two = {{"Idempotency-Key", "a"}, {"Idempotency-Key", "b"}};
  EXPECT_EQ(post("job/enqueue", R"({"queue":"mail"})", work, two).code(), "invalid_argument");
}

TEST_P(HttpAccessTest, ASecretIsNotKeptForRepeats) {
  start();
  const auto admin = token(Scope::admin);
  const serve::Headers key = {{"Idempotency-Key", "k-1"}};
  const std::string mailer = R"({"name":"mailer"})";
  const auto first = post("token/create", mailer, admin, key);
  ASSERT_EQ(first.status, 200) << first.body;
  for (const auto* secret : {"lht_", "6C68745F", "6c68745f"}) {
    EXPECT_EQ(under_test().dump().find(secret), std::string::npos) << "the store has digests only";
  }
  const auto again = post("token/create", mailer, admin, key);
  EXPECT_EQ(again.code(), "invalid_argument") << "the name is taken";
  EXPECT_EQ(again.body.find("lht_"), std::string::npos);
  const auto all = store().access().tokens();
  ASSERT_TRUE(ok(all));
  EXPECT_EQ(all->items.size(), 2U);
}

TEST_P(HttpAccessTest, ARequestUnderWayIsNotBegunAgain) {
  start();
  const auto work = token(Scope::work);
  const serve::Headers key = {{"Idempotency-Key", "k-2"}};
  const std::string body = R"({"queue":"mail","wait_seconds":30})";
  auto one = client();
  auto two = client();
  for (auto* each : {&one, &two}) each->send(each->written("POST", "/api/v1/job/claim", body, with(work, key)));
  // One of them waits for a job; the other is answered at once.
  const bool one_waits = is_answered_first(two, one);
  const auto refused = (one_waits ? two : one).read();
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.code(), "running");
  ASSERT_EQ(post("job/enqueue", R"({"queue":"mail"})", work).status, 200);
  const auto granted = (one_waits ? one : two).read();
  EXPECT_TRUE(granted.json().at("granted").as_bool());
  EXPECT_EQ(post("job/claim", body, work, key).body, granted.body);
}

TEST_P(HttpAccessTest, ARefusalIsNotKept) {
  start();
  const auto work = token(Scope::work);
  const serve::Headers key = {{"Idempotency-Key", "k-3"}};
  EXPECT_FALSE(post("job/claim", R"({"queue":"mail"})", work, key).json().at("granted").as_bool());
  post("job/enqueue", R"({"queue":"mail"})", work);
  EXPECT_TRUE(post("job/claim", R"({"queue":"mail"})", work, key).json().at("granted").as_bool());
}

}  // namespace
}  // namespace leasehold::support
