// Bad arguments about sessions, items and claims are refused before they reach the store, on both stores alike.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

using namespace std::string_literals;

class ClaimBadInputTest : public SessionStoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    backlog({"SD-1", "SD-2"});
    ann_ = join("ann");
    mine_ = take("ann", "SD-1");
    before_ = dump();
  }
  void TearDown() override { EXPECT_EQ(dump(), before_) << "a refused call changed the store"; }

  template <typename T>
  static void refused(const Result<T>& result) {
    EXPECT_TRUE(fails(result, Errc::invalid_argument));
  }
  /// Opening with one thing wrong.
  void open_refused(const std::function<void(SessionOptions&)>& spoil) {
    auto options = session_of("bob");
    spoil(options);
    refused(sessions().open(options, by("bob")));
  }

  Grant ann_;
  Claim mine_;

 private:
  std::string before_;
};
LEASEHOLD_ON_BOTH_STORES(ClaimBadInputTest);

TEST_P(ClaimBadInputTest, NamesThatAreNoNames) {
  for (const auto& name : {""s, std::string(513, 'x'), "a\0b"s, "line\nbreak"s, "\x7f"s, "\xFF"s}) {
    SCOPED_TRACE("name of " + std::to_string(name.size()) + " bytes");
    refused(sessions().heartbeat(name, ann_.token));
    refused(sessions().park(name, ann_.token, 1s));
    refused(sessions().close(name, ann_.token));
    refused(sessions().revoke(name, "why"));
    refused(sessions().show(name));
    refused(items().add(name));
    refused(items().show(name));
    refused(items().done(name));
    refused(items().reopen(name));
    refused(items().remove(name));
    refused(items().add("SD-9", {.conflicts = Words{name}}));
    refused(claims().take(name, "ann"));
    refused(claims().take("SD-2", name));
    refused(claims().release(name, "ann", mine_.token));
    refused(claims().release("SD-1", name, mine_.token));
    refused(claims().switch_to(name, mine_.token, "SD-2"));
    refused(claims().switch_to("SD-1", mine_.token, name));
    refused(claims().transfer(name, "ann"));
    refused(claims().transfer("SD-1", name));
    refused(claims().revoke(name, "why"));
    refused(claims().show(name));
    if (name.empty()) continue;  // of a session: one is drawn; of a parent: none
    open_refused([&](auto& options) { options.id = name; });
    open_refused([&](auto& options) { options.request_id = name; });
    refused(items().add("SD-9", {.parent = name}));
  }
}

TEST_P(ClaimBadInputTest, TextsThatAreTooLongOrNoText) {
  for (const auto& text : {std::string(4097, 'x'), "a\0b"s, "\xFF"s}) {
    SCOPED_TRACE("text of " + std::to_string(text.size()) + " bytes");
    open_refused([&](auto& options) { options.label = text; });
    open_refused([&](auto& options) { options.codebase = text; });
    open_refused([&](auto& options) { options.track = text; });
    auto call = by("bob");
    call.holder->host = text;
    refused(sessions().open(session_of("bob"), call));
    refused(sessions().heartbeat("ann", ann_.token, {.progress = text}));
    refused(sessions().close("ann", ann_.token, text));
    refused(sessions().revoke("ann", text));
    refused(claims().release("SD-1", "ann", mine_.token, text));
    refused(claims().transfer("SD-1", "ann", {}, text));
    refused(claims().revoke("SD-1", text));
  }
  refused(items().add("SD-9", {.title = std::string(256 * 1024 + 1, 'x')}));
  refused(items().add("SD-9", {.title = "a\0b"s}));
  refused(items().add("SD-9", {.title = "\xFF"}));
}

TEST_P(ClaimBadInputTest, MetadataThatIsNotJson) {
  const std::string too_long = "\"" + std::string(1024 * 1024, 'x') + "\"";
  for (const auto& text : {""s, "page 3"s, "{"s, "{'a':1}"s, "01"s, "1 2"s, "[1,]"s, "nul"s, "\"\xFF\""s, too_long}) {
    open_refused([&](auto& options) { options.metadata = text; });
    refused(items().add("SD-9", {.metadata = text}));
  }
}

TEST_P(ClaimBadInputTest, TimesAndCountsThatCannotBe) {
  open_refused([](auto& options) { options.ttl = 1ms; });
  open_refused([](auto& options) { options.ttl = 24h * 31; });
  open_refused([](auto& options) { options.max_age = 0s; });
  open_refused([](auto& options) { options.max_age = -1s; });
  refused(sessions().heartbeat("ann", ann_.token, {.ttl = 1ms}));
  refused(sessions().heartbeat("ann", ann_.token, {.ttl = -1s}));
  refused(sessions().park("ann", ann_.token, -1us));
  refused(sessions().park("ann", ann_.token, bounds::max_park + 1us));
  refused(claims().take("SD-2", "ann", {.wait = -1s}));
  refused(claims().switch_to("SD-1", mine_.token, "SD-2", {.wait = -1s}));
  refused(claims().switch_to("SD-1", mine_.token, "SD-1"));
  refused(sessions().list({.max = 0}));
  refused(items().list({.max = 0}));
  refused(claims().list({.max = -1}));
}

TEST_P(ClaimBadInputTest, TokensThatNeverWere) {
  for (const auto token : {Token{0}, Token{-1}, Token{std::numeric_limits<std::int64_t>::max()}}) {
    EXPECT_TRUE(lost(sessions().heartbeat("ann", token), LostReason::superseded));
    EXPECT_TRUE(lost(sessions().close("ann", token), LostReason::superseded));
    EXPECT_TRUE(lost(claims().release("SD-1", "ann", token), LostReason::superseded));
    EXPECT_TRUE(lost(items().done("SD-1", token), LostReason::superseded));
    EXPECT_TRUE(lost(claims().switch_to("SD-1", token, "SD-2"), LostReason::superseded));
    EXPECT_TRUE(fails(claims().take("SD-2", "ann", {.session_token = token}), Errc::unregistered));
  }
}

}  // namespace
}  // namespace leasehold::support
