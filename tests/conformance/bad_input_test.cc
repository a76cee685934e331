// Bad arguments are refused before they reach the store, on both stores alike.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "support/lock_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

using namespace std::string_literals;

class BadInputTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    take(locks(), "deploy", {}, by("alice"));
    before_ = dump();
  }
  void TearDown() override { EXPECT_EQ(dump(), before_) << "a refused call changed the store"; }

 private:
  std::string before_;
};
LEASEHOLD_ON_BOTH_STORES(BadInputTest);

const std::vector<std::string>& bad_names() {
  static const std::vector<std::string> names = {"",
                                                 std::string(513, 'x'),
                                                 std::string(1'000'000, 'x'),
                                                 "de\0ploy"s,
                                                 "\0"s,
                                                 "line\nbreak",
                                                 "tab\t",
                                                 "\x7F",
                                                 "\x01",
                                                 "\xFF",
                                                 "\xC3",
                                                 "\xC0\xAF",
                                                 "\xED\xA0\x80",
                                                 "\xF5\x80\x80\x80"};
  return names;
}

TEST_P(BadInputTest, LockNamesThatAreNoNames) {
  for (const auto& name : bad_names()) {
    SCOPED_TRACE("name of " + std::to_string(name.size()) + " bytes");
    EXPECT_TRUE(fails(locks().acquire(name, {}, by("bob")), Errc::invalid_argument));
    EXPECT_TRUE(fails(locks().heartbeat(name, Token{1}), Errc::invalid_argument));
    EXPECT_TRUE(fails(locks().release(name, Token{1}), Errc::invalid_argument));
    EXPECT_TRUE(fails(locks().revoke(name, "why"), Errc::invalid_argument));
    EXPECT_TRUE(fails(locks().show(name), Errc::invalid_argument));
    EXPECT_TRUE(fails(locks().hold(name, {}, by("bob")), Errc::invalid_argument));
  }
}

TEST_P(BadInputTest, TheMessageOfARefusedNameIsShortAndPrintable) {
  for (const auto& name : bad_names()) {
    const auto refused = locks().acquire(name, {}, by("bob"));
    ASSERT_FALSE(refused.ok());
    EXPECT_LT(refused.error().message.size(), 300U);
    for (const char c : refused.error().message) EXPECT_TRUE(c >= 0x20 && c < 0x7F) << int{c};
  }
}

TEST_P(BadInputTest, TtlsOutOfBounds) {
  const Duration huge = Duration::max();
  for (const Duration ttl : {Duration(0), Duration(-1s), Duration(1us), Duration(49999us), Duration(30 * 24h + 1us),
                             huge, Duration::min(), Duration::min() + 1us}) {
    EXPECT_TRUE(fails(locks().acquire("new", {.ttl = ttl}, by("bob")), Errc::invalid_argument)) << ttl.count();
    const auto token = locks().show("deploy")->token;
    if (ttl == Duration(0)) continue;  // a heartbeat's zero keeps the lease's own
    EXPECT_TRUE(fails(locks().heartbeat("deploy", token, ttl), Errc::invalid_argument)) << ttl.count();
  }
}

TEST_P(BadInputTest, AWaitThatIsNoDuration) {
  AcquireOptions options{};
  options.wait = -1s;
  EXPECT_TRUE(fails(locks().acquire("new", options, by("bob")), Errc::invalid_argument));
  options.wait = Duration::min();
  EXPECT_TRUE(fails(locks().acquire("new", options, by("bob")), Errc::invalid_argument));
}

TEST_P(BadInputTest, HoldersThatCannotBeWrittenDown) {
  const auto refused = [this](const std::function<void(Holder&)>& spoil) {
    auto call = by("bob");
    spoil(*call.holder);
    return fails(locks().acquire("new", {}, call), Errc::invalid_argument);
  };
  EXPECT_TRUE(refused([](Holder& h) { h.name = "bo\0b"s; }));
  EXPECT_TRUE(refused([](Holder& h) { h.name = "\xFF"; }));
  EXPECT_TRUE(refused([](Holder& h) { h.name = std::string(1'000'000, 'x'); }));
  EXPECT_TRUE(refused([](Holder& h) { h.host = "ho\0st"s; }));
  EXPECT_TRUE(refused([](Holder& h) { h.boot_id = "\xC3"; }));
  EXPECT_TRUE(refused([](Holder& h) { h.tty = "\0"s; }));
  EXPECT_TRUE(refused([](Holder& h) { h.instance = std::string(1'000'000, 'x'); }));
}

TEST_P(BadInputTest, RequestIdsThatAreNoIds) {
  for (const auto& id : bad_names()) {
    if (id.empty()) continue;  // drawn at random then
    AcquireOptions options{};
    options.request_id = id;
    EXPECT_TRUE(fails(locks().acquire("new", options, by("bob")), Errc::invalid_argument)) << id.size();
  }
}

TEST_P(BadInputTest, ReasonsThatCannotBeWrittenDown) {
  EXPECT_TRUE(fails(locks().revoke("deploy", "wh\0y"s), Errc::invalid_argument));
  EXPECT_TRUE(fails(locks().revoke("deploy", "\xFF"), Errc::invalid_argument));
  EXPECT_TRUE(fails(locks().revoke("deploy", std::string(1'000'000, 'x')), Errc::invalid_argument));
}

TEST_P(BadInputTest, FiltersThatMakeNoSense) {
  EXPECT_TRUE(fails(locks().list({.max = 0}), Errc::invalid_argument));
  EXPECT_TRUE(fails(locks().list({.max = -1}), Errc::invalid_argument));
  EXPECT_TRUE(fails(locks().list({.prefix = "\0"s}), Errc::invalid_argument));
  EXPECT_TRUE(fails(locks().list({.prefix = "\xFF"}), Errc::invalid_argument));
  EXPECT_TRUE(fails(store().events({.max = 0}), Errc::invalid_argument));
  EXPECT_TRUE(fails(store().events({.key = "\0"s}), Errc::invalid_argument));
}

class AwkwardInputTest : public StoreTest {};
LEASEHOLD_ON_BOTH_STORES(AwkwardInputTest);

TEST_P(AwkwardInputTest, NamesThatLookDangerousButAreFine) {
  for (const std::string name : {"'; DROP TABLE lock; --", "\"quoted\"", "a b", "\\", "%", "_", "$1", ":name", "{tell}",
                                 "leasehold_internal.lock", "\xF0\x9F\x94\x92", "NULL", " "}) {
    const auto grant = locks().acquire(name, {}, by("bob"));
    ASSERT_TRUE(ok(grant)) << name;
    EXPECT_EQ(grant->key, name);
    EXPECT_EQ(locks().show(name)->key, name);
    EXPECT_TRUE(ok(locks().release(name, grant->token)));
  }
}

TEST_P(AwkwardInputTest, WaitingForEverIsFine) {
  AcquireOptions options{};
  options.wait = Duration::max();
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  std::optional<Result<Grant>> answer;
  std::jthread waiter([&] { answer = locks().acquire("deploy", options, by("bob")); });
  ASSERT_TRUE(eventually([&] { return status_of(store()).waiters == 1; }));
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  waiter.join();
  EXPECT_TRUE(ok(*answer));
}

TEST_P(AwkwardInputTest, TheLongestNameAndTheBoundsOfTheTtlAreFine) {
  const std::string name(512, 'x');
  EXPECT_EQ(take(locks(), name, {.ttl = 30 * 24h}, by("bob")).expires_at, now() + 30 * 24h);
  EXPECT_EQ(take(locks(), "short", {.ttl = 50ms}, by("bob")).expires_at, now() + 50ms);
}

}  // namespace
}  // namespace leasehold::support
