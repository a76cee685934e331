// API tokens: found by their secret alone, and only while they are active.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <set>
#include <thread>

#include "support/broken_store.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class TokenAccessTest : public StoreTest {
 protected:
  Access access() { return store().access(); }
  CreatedToken created(const NewToken& token) { return must(access().create_token(token)); }
  std::string unauthorized(std::string_view secret) {
    const auto found = access().find_token(secret);
    EXPECT_TRUE(fails(found, Errc::unauthorized));
    return found ? "" : found.error().message;
  }
};
LEASEHOLD_ON_BOTH_STORES(TokenAccessTest);

TEST_P(TokenAccessTest, AnActiveTokenIsFoundByItsSecret) {
  EXPECT_FALSE(must(access().has_tokens()));
  const auto made =
      created({.name = "mailer", .scope = Scope::work, .only = {"queue:mail*", "lock:deploy"}, .expires_in = 24h});
  EXPECT_TRUE(made.secret.starts_with("lht_"));
  EXPECT_EQ(made.secret.size(), 47U);
  EXPECT_TRUE(must(access().has_tokens()));
  const auto found = must(access().find_token(made.secret));
  EXPECT_EQ(found.id, made.info.id);
  EXPECT_EQ(found.name, "mailer");
  EXPECT_EQ(found.scope, Scope::work);
  EXPECT_EQ(found.only, (std::vector<std::string>{"queue:mail*", "lock:deploy"}));
  EXPECT_EQ(found.created_at, now());
  EXPECT_EQ(found.expires_at, now() + 24h);
  EXPECT_EQ(found.state, TokenState::active);
}

TEST_P(TokenAccessTest, TheStoreKeepsOnlyADigestOfTheSecret) {
  const auto made = created({.name = "mailer"});
  EXPECT_EQ(dump().find(made.secret), std::string::npos);
  EXPECT_EQ(dump().find(made.secret.substr(4)), std::string::npos);
}

TEST_P(TokenAccessTest, UnknownExpiredAndRevokedTokensHaveOneAnswer) {
  const auto expiring = created({.name = "brief", .expires_in = 1h});
  const auto revoked = created({.name = "revoked"});
  must(access().revoke_token(revoked.info.id));
  advance(1h);
  auto unknown = expiring.secret;
  unknown.back() = unknown.back() == 'a' ? 'b' : 'a';
  const auto answer = unauthorized(unknown);
  EXPECT_EQ(unauthorized(expiring.secret), answer);
  EXPECT_EQ(unauthorized(revoked.secret), answer);
  EXPECT_EQ(unauthorized(""), answer);
  EXPECT_EQ(unauthorized("lht_"), answer);
  EXPECT_EQ(unauthorized(revoked.secret + "x"), answer);
  EXPECT_EQ(unauthorized("lht_'; DROP TABLE leasehold_api_token; --aaaaaa"), answer);
  EXPECT_FALSE(must(access().has_tokens())) << "none of them is active";
}

TEST_P(TokenAccessTest, ATokenExpiresWhenTheStoresClockSaysSo) {
  const auto made = created({.name = "brief", .expires_in = 1h});
  advance(1h - 1us);
  EXPECT_TRUE(ok(access().find_token(made.secret)));
  advance(1us);
  EXPECT_TRUE(fails(access().find_token(made.secret), Errc::unauthorized));
  EXPECT_EQ(must(access().tokens()).at(0).state, TokenState::expired);
}

TEST_P(TokenAccessTest, ANameIsUniqueAmongTheActiveTokens) {
  const auto first = created({.name = "mailer", .expires_in = 1h});
  EXPECT_TRUE(fails(access().create_token({.name = "mailer"}), Errc::invalid_argument));
  advance(1h);
  const auto second = created({.name = "mailer"});
  EXPECT_TRUE(fails(access().create_token({.name = "mailer"}), Errc::invalid_argument));
  must(access().revoke_token(second.info.id));
  const auto third = created({.name = "mailer", .scope = Scope::admin});
  EXPECT_EQ(must(access().find_token(third.secret)).id, third.info.id);
  unauthorized(first.secret);
  unauthorized(second.secret);
  EXPECT_EQ(must(access().tokens({.name = "mailer"})).size(), 3U) << "those that ended stay listed";
}

TEST_P(TokenAccessTest, OfManyThatCreateANameAtOnceOneSucceeds) {
  std::vector<Store> stores;
  for (int i = 0; i < 4; ++i) stores.push_back(open());
  std::atomic<int> made = 0;
  std::atomic<int> refused = 0;
  std::barrier start(8);
  {
    std::vector<std::jthread> racers;
    for (std::size_t i = 0; i < 8; ++i) {
      racers.emplace_back([&, i] {
        start.arrive_and_wait();
        const auto token = stores[i % 4].access().create_token({.name = "mailer"});
        if (token) ++made;
        if (!token && token.error().code == Errc::invalid_argument) ++refused;
      });
    }
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(refused, 7);
  EXPECT_EQ(must(access().tokens()).size(), 1U);
}

TEST_P(TokenAccessTest, TheLastUseIsNotedOnceAMinute) {
  const auto made = created({.name = "mailer"});
  EXPECT_FALSE(must(access().tokens()).at(0).last_used_at);
  must(access().find_token(made.secret));
  const auto first = now();
  EXPECT_EQ(must(access().tokens()).at(0).last_used_at, first);
  advance(59s);
  const auto before = dump();
  must(access().find_token(made.secret));
  EXPECT_EQ(dump(), before) << "nothing was written";
  advance(1s);
  must(access().find_token(made.secret));
  EXPECT_EQ(must(access().tokens()).at(0).last_used_at, first + 60s);
  must(access().revoke_token(made.info.id));
  advance(1h);
  unauthorized(made.secret);
  EXPECT_EQ(must(access().tokens()).at(0).last_used_at, first + 60s) << "a refusal is no use";
}

TEST_P(TokenAccessTest, RevokingAgainChangesNothing) {
  const auto made = created({.name = "mailer"});
  const auto revoked = must(access().revoke_token(made.info.id));
  EXPECT_EQ(revoked.state, TokenState::revoked);
  EXPECT_EQ(revoked.revoked_at, now());
  advance(1h);
  EXPECT_EQ(must(access().revoke_token(made.info.id)).revoked_at, revoked.revoked_at);
  EXPECT_TRUE(fails(access().revoke_token(made.info.id + 1), Errc::not_found));
}

TEST_P(TokenAccessTest, TokensAreListedInPagesAndByState) {
  for (int i = 0; i < 5; ++i) created({.name = "t" + std::to_string(i), .expires_in = (i + 1) * 1h});
  must(access().revoke_token(must(access().tokens({.name = "t4"})).at(0).id));
  advance(2h);
  const auto names = [&](const TokenFilter& filter) {
    std::string all;
    for (const auto& token : must(access().tokens(filter))) all += token.name + " ";
    return all;
  };
  EXPECT_EQ(names({}), "t0 t1 t2 t3 t4 ");
  EXPECT_EQ(names({.state = TokenState::active}), "t2 t3 ");
  EXPECT_EQ(names({.state = TokenState::expired}), "t0 t1 ");
  EXPECT_EQ(names({.state = TokenState::revoked}), "t4 ");
  const auto first = must(access().tokens({.max = 2}));
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(names({.max = 2, .page = first.next.value_or("")}), "t2 t3 ");
  EXPECT_TRUE(fails(access().tokens({.page = "x"}), Errc::invalid_argument));
}

TEST_P(TokenAccessTest, BadTokensAreRefusedBeforeAnythingIsSent) {
  const auto before = dump();
  EXPECT_TRUE(fails(access().create_token({}), Errc::invalid_argument));
  EXPECT_TRUE(fails(access().create_token({.name = "a\nb"}), Errc::invalid_argument));
  for (const auto* pattern : {"", "mail", "queue", "queue:", "jobs:mail", ":mail", "queue:a\tb"}) {
    EXPECT_TRUE(fails(access().create_token({.name = "a", .only = {pattern}}), Errc::invalid_argument)) << pattern;
  }
  EXPECT_TRUE(
      fails(access().create_token({.name = "a", .only = std::vector<std::string>(101, "*")}), Errc::invalid_argument));
  EXPECT_TRUE(fails(access().create_token({.name = "a", .expires_in = 0s}), Errc::invalid_argument));
  EXPECT_EQ(dump(), before);
}

class TokenDoubtTest : public WithBrokenStore<StoreTest> {};
LEASEHOLD_ON_BOTH_STORES(TokenDoubtTest);

TEST_P(TokenDoubtTest, ATokenWhoseReplyWasLostIsCreatedOnce) {
  faults_->fail_next(Fault::lose_reply, 1, "token_create");
  const auto made = must(broken_->access().create_token({.name = "mailer"}));
  EXPECT_EQ(must(store().access().find_token(made.secret)).id, made.info.id);
  EXPECT_EQ(must(store().access().tokens()).size(), 1U);
}

TEST_P(TokenDoubtTest, ARequestWhoseReplyWasLostIsBegunOnce) {
  faults_->fail_next(Fault::lose_reply, 1, "http_request_begin");
  const NewRequest request{.key = "k", .who = "mailer", .act = "job.claim", .digest = "d"};
  const auto begun = must(broken_->access().begin_request(request));
  EXPECT_EQ(begun.state, RequestState::fresh);
  EXPECT_EQ(must(store().access().begin_request(request)).state, RequestState::running);
}

TEST_P(TokenAccessTest, SecretsDiffer) {
  std::set<std::string> secrets;
  for (int i = 0; i < 20; ++i) secrets.insert(created({.name = "t" + std::to_string(i)}).secret);
  EXPECT_EQ(secrets.size(), 20U);
}

}  // namespace
}  // namespace leasehold::support
