// Bad arguments about chunks and rates are refused before they reach the store, on both stores alike.
#include <gtest/gtest.h>

#include "support/chunk_fixture.h"

namespace leasehold::support {
namespace {

using namespace std::string_literals;

class ChunkBadInputTest : public ChunkStoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    plan(2);
    held_ = claim("ann");
    before_ = dump();
  }
  void TearDown() override { EXPECT_EQ(dump(), before_) << "a refused call changed the store"; }

  template <typename T>
  static void refused(const Result<T>& result) {
    EXPECT_TRUE(fails(result, Errc::invalid_argument));
  }
  void plan_refused(const std::vector<PlannedChunk>& planned, const PlanOptions& options = {}) {
    refused(chunks().plan("orders", planned, options));
  }

  Chunk held_;

 private:
  std::string before_;
};
LEASEHOLD_ON_BOTH_STORES(ChunkBadInputTest);

TEST_P(ChunkBadInputTest, NamesThatAreNoNames) {
  for (const auto& name : {""s, std::string(513, 'x'), "a\0b"s, "line\nbreak"s, "\x7f"s, "\xFF"s}) {
    refused(chunks().plan(name, {}));
    refused(chunks().claim(name));
    refused(chunks().heartbeat(name, "1", held_.token));
    refused(chunks().complete(name, "1", held_.token));
    refused(chunks().reset(name, {}));
    refused(chunks().remove(name));
    refused(chunks().progress(name));
    refused(chunks().list(name));
    refused(chunks().tie_job(name, 1));
    refused(chunks().set(name, {}));
    plan_refused({{name, "1"}});
    refused(chunks().heartbeat("orders", name, held_.token));
    refused(chunks().release("orders", name, held_.token));
    refused(chunks().skip("orders", name, "why"));
    refused(chunks().show("orders", name));
    refused(chunks().reset("orders", {.which = ChunkReset::Which::keys, .keys = {name}}));
    plan_refused({{"a", "1"}}, {.planner = name});
    refused(store().rates().take(name, {.every = 1s}));
    refused(store().rates().set(name, 1s));
  }
}

TEST_P(ChunkBadInputTest, SpecsAndCursorsThatAreNotJson) {
  const std::string too_long = "\"" + std::string(64 * 1024, 'x') + "\"";
  for (const auto& text : {""s, "page 3"s, "{"s, "{'a':1}"s, "01"s, "1 2"s, "[1,]"s, "nul"s, "\"\xFF\""s, too_long}) {
    plan_refused({{"a", text}});
    refused(save(held_, {.cursor = text}));
    refused(complete(held_, {.cursor = text}));
    refused(fail(held_, {.kind = Verdict::Kind::fail, .cursor = text}));
    refused(release(held_, {.cursor = text}));
  }
  const auto reported = save(held_, {.cursor = "page 3"});
  EXPECT_NE(reported.error().message.find("the cursor must be JSON"), std::string::npos) << reported.error().message;
}

TEST_P(ChunkBadInputTest, CountsThatAreNoCounts) {
  refused(save(held_, {.rows = -1}));
  refused(complete(held_, {.rows = -1}));
  refused(fail(held_, Verdict::fail().with_rows(-1)));
  refused(release(held_, {.rows = -1}));
  refused(complete(held_, {.rows = std::numeric_limits<std::int64_t>::max()}));
  refused(chunks().list("orders", {.max = 0}));
}

TEST_P(ChunkBadInputTest, PlansThatCannotBe) {
  plan_refused({{"a", "1"}, {"b", "1"}, {"a", "2"}});
  plan_refused({{"a", "1"}}, {.settings = {.max_failures = 0}});
  plan_refused({{"a", "1"}}, {.settings = {.max_crashes = 1001}});
  plan_refused({{"a", "1"}}, {.settings = {.backoff_base = -1s}});
  plan_refused({{"a", "1"}}, {.settings = {.backoff_max = -1s}});
  plan_refused({{"a", "1"}}, {.settings = {.default_ttl = 1ms}});
  refused(chunks().set("orders", {.max_failures = 1001}));
  refused(plan_range(2, 1, 1));
  refused(plan_range(1, 2, 0));
}

TEST_P(ChunkBadInputTest, ClaimsThatCannotBe) {
  refused(chunks().claim("orders", {.max = 0}));
  refused(chunks().claim("orders", {.max = 1001}));
  refused(chunks().claim("orders", {.ttl = 1ms}));
  refused(chunks().claim("orders", {.ttl = -1s}));
  refused(chunks().claim("orders", {.wait = -1s}));
  refused(chunks().claim("orders", {.older_than = -1s}));
  refused(chunks().claim("orders", {.request_id = std::string(513, 'x')}));
  refused(chunks().heartbeat("orders", "1", held_.token, {}, -1s));
  refused(fail(held_, Verdict::retry_in(-1s)));
  refused(chunks().reset("orders", {.which = ChunkReset::Which::keys}));
  refused(chunks().reset("orders", {.which = ChunkReset::Which::older, .older_than = -1s}));
  refused(chunks().open_lease(1ms, by("ann")));
}

TEST_P(ChunkBadInputTest, LimitsThatCannotBe) {
  const auto limits = store().rates();
  refused(limits.take("api", {.every = 0s}));
  refused(limits.take("api", {.every = -1s}));
  refused(limits.take("api", {.every = 24h * 365}));
  refused(limits.take("api", {.every = 1s, .burst = 0}));
  refused(limits.take("api", {.every = 1s, .wait = -1s}));
  refused(limits.set("api", 0s));
  refused(limits.set("api", 1s, 0));
}

/// Odd, but what JSON allows.
class ChunkOddInputTest : public ChunkStoreTest {};
LEASEHOLD_ON_BOTH_STORES(ChunkOddInputTest);

TEST_P(ChunkOddInputTest, AnyJsonValueIsACursorAndKeptByteForByte) {
  plan(1);
  const auto held = claim("ann");
  const std::string longest = "\"" + std::string(64 * 1024 - 2, 'x') + "\"";
  for (const auto& json : {"null"s, "true"s, "-1.5e-7"s, "\"\""s, "[]"s, " {\"a\" :\t[1, {}]} "s, "\"\\ud83d\\ude00\""s,
                           "12345678901234567890123"s, longest}) {
    ASSERT_TRUE(ok(save(held, {.cursor = json}))) << json.substr(0, 40);
    EXPECT_EQ(chunk("1").cursor, json);
  }
}

TEST_P(ChunkOddInputTest, NamesMayBeAnythingElse) {
  const std::string name = "a'b\"c;d/e ä %s \\ \xF0\x9F\x98\x80";
  const std::vector<PlannedChunk> planned = {{name, "1"}, {std::string(512, 'k'), "2"}};
  must(chunks().plan(name, planned));
  for (const auto& each : must(chunks().claim(name, loading(2), by(name))).chunks) {
    EXPECT_TRUE(ok(chunks().complete(name, each.key, each.token)));
  }
  EXPECT_EQ(must(chunks().progress(name)).state, ChunkSetState::complete);
}

}  // namespace
}  // namespace leasehold::support
