// Sessions and the things that they have: what the recipe `directives` does not show.
#include <gmock/gmock.h>

#include "adopt/fragments.h"
#include "adopt_fixture.h"

namespace leasehold {
namespace {

using adopt::assignments_of;
using adopt::placeholders_of;
using adopt::with_placeholders;
using support::AdoptTest;
using support::StoreKind;
using testing::ElementsAre;
using testing::HasSubstr;

/// No view, no flag, moments in Unix milliseconds, things that are named by their key.
constexpr const char* sessions_tables =
    "CREATE TABLE {s}.agents (id bigserial PRIMARY KEY, name uuid UNIQUE NOT NULL, item integer, beat bigint, "
    "open boolean NOT NULL DEFAULT true, note text);"
    "CREATE TABLE {s}.items (nr integer PRIMARY KEY, title text UNIQUE, busy boolean);"
    "INSERT INTO {s}.items (nr, title) VALUES (1, 'one'), (2, 'two');"
    "INSERT INTO {s}.agents (name, item, beat) SELECT ('00000000-0000-0000-0000-00000000000' || n)::uuid, NULL, "
    "extract(epoch FROM now()) * 1000 FROM generate_series(1, 3) AS n";

constexpr const char* sessions_file = R"~(
[{s}.agents]
shape            = "sessions"
key              = "name"
ttl              = "90s"
time             = "unix_ms"
heartbeat_column = "beat"
active           = "open"
holds            = { column = "item", table = "items", flag = "busy" }
on_claim         = "note = :note"
on_duplicate     = "latest heartbeat"
)~";

class SessionsTest : public AdoptTest {
 protected:
  void SetUp() override {
    AdoptTest::SetUp();
    run(sessions_tables);
  }
  static std::string agent(int n) { return "'00000000-0000-0000-0000-00000000000" + std::to_string(n) + "'"; }
  std::string claim(int n, int item, const std::string& column = "outcome") {
    return scalar("SELECT " + column + " FROM {s}.agents_claim(" + agent(n) + ", " + std::to_string(item) + ", 'x')");
  }
  /// The message with which the file is refused after one of its lines was replaced.
  std::string refused(const std::string& line, const std::string& by) {
    std::string file = sessions_file;
    file.replace(file.find(line), line.size(), by);
    const auto plan = adoption().plan(with_schema(file), "adopt.toml");
    return plan ? std::string("accepted") : plan.error().message;
  }
};
INSTANTIATE_TEST_SUITE_P(Postgres, SessionsTest, testing::Values(StoreKind::postgres));

TEST_P(SessionsTest, Promise03_04_AnExpiredClaimIsTakenOverWithAGreaterToken) {
  adopt(sessions_file);
  EXPECT_EQ(claim(1, 1), "granted");
  const auto token = scalar("SELECT lease_token FROM {s}.items WHERE nr = 1");
  EXPECT_EQ(claim(2, 1), "held");
  run("UPDATE {s}.agents SET beat = beat - 91000 WHERE name = " + agent(1));
  EXPECT_EQ(claim(2, 1), "granted");
  EXPECT_EQ(scalar("SELECT lease_token > " + token + " FROM {s}.items WHERE nr = 1"), "t");
  EXPECT_EQ(scalar("SELECT outcome || ' ' || why FROM {s}.agents_heartbeat(1, " + token + ")"), "lost superseded");
  EXPECT_EQ(scalar("SELECT item IS NULL FROM {s}.agents WHERE name = " + agent(1)), "t");
}

TEST_P(SessionsTest, Promise05_AHeartbeatOfAnExpiredClaimDoesNotReviveIt) {
  adopt(sessions_file);
  const auto token = claim(1, 1, "token");
  EXPECT_EQ(scalar("SELECT outcome FROM {s}.agents_heartbeat(1, " + token + ")"), "extended");
  run("UPDATE {s}.agents SET beat = beat - 91000 WHERE name = " + agent(1));
  EXPECT_EQ(scalar("SELECT outcome || ' ' || why FROM {s}.agents_heartbeat(1, " + token + ")"), "lost expired");
}

TEST_P(SessionsTest, AHeartbeatInTheFutureIsNow) {
  adopt(sessions_file);
  run("UPDATE {s}.agents SET beat = beat + 3600000 WHERE name = " + agent(1));
  EXPECT_EQ(
      scalar("SELECT beat <= extract(epoch FROM clock_timestamp()) * 1000 FROM {s}.agents WHERE name = " + agent(1)),
      "t");
}

TEST_P(SessionsTest, RowsClaimThingsForSessions) {
  adopt(sessions_file);
  auto rows = open_rows("agents");
  const auto grant = rows.claim_key({"2"}, {}, by("00000000-0000-0000-0000-000000000001")).value();
  const auto refusal = rows.claim_key({"2"}, {}, by("00000000-0000-0000-0000-000000000002"));
  ASSERT_FALSE(refusal.ok());
  EXPECT_EQ(refusal.error().code, Errc::held);
  EXPECT_TRUE(rows.heartbeat({{grant.key, grant.token}}, std::nullopt).front().ok());
  EXPECT_EQ(rows.show({"2"}).value().state, "running");
  EXPECT_TRUE(rows.release({"2"}, grant.token).ok());
  EXPECT_TRUE(rows.release({"2"}, grant.token).ok()) << "the same again";
  EXPECT_EQ(rows.show({"2"}).value().state, "available");
}

TEST_P(SessionsTest, ApplyShowsWhatItClearsAndRevertRestoresIt) {
  run("UPDATE {s}.agents SET item = CASE WHEN id < 3 THEN 1 ELSE 77 END, beat = beat + id");
  run("UPDATE {s}.items SET busy = true WHERE nr = 2");
  const auto before = scalar("SELECT string_agg(a::text, ' ' ORDER BY id) FROM {s}.agents AS a");
  const auto plan = adoption().plan(with_schema(sessions_file), "adopt.toml").value();
  std::string notes;
  for (const auto& note : plan.notes) notes += note.what + "\n";
  EXPECT_THAT(notes, HasSubstr("1 (00000000-0000-0000-0000-000000000001)"));
  EXPECT_THAT(notes, HasSubstr("77 (00000000-0000-0000-0000-000000000003)"));
  EXPECT_THAT(notes, HasSubstr("flags without a session: 2"));
  adopt(sessions_file);
  EXPECT_EQ(scalar("SELECT count(*) FROM {s}.agents WHERE item IS NOT NULL"), "1");
  ASSERT_TRUE(adoption().revert("agents").ok());
  EXPECT_EQ(scalar("SELECT string_agg(a::text, ' ' ORDER BY id) FROM {s}.agents AS a"), before);
  EXPECT_EQ(scalar("SELECT busy FROM {s}.items WHERE nr = 2"), "t");
}

TEST_P(SessionsTest, ApplyStopsIfTheFileDoesNotSayWhatToDoWithDuplicates) {
  run("UPDATE {s}.agents SET item = 1");
  std::string file = sessions_file;
  file.erase(file.find("on_duplicate"));
  const auto applied = adoption().apply(with_schema(file), "adopt.toml", {});
  ASSERT_FALSE(applied.ok());
  EXPECT_THAT(applied.error().message, HasSubstr("nothing was changed"));
  EXPECT_EQ(scalar("SELECT count(*) FROM {s}.agents WHERE item = 1"), "3");
}

TEST_P(SessionsTest, AFileThatDoesNotFitIsRefusedInOneSentence) {
  EXPECT_THAT(refused(R"("beat")", R"("beats")"), HasSubstr("heartbeat_column: "));
  EXPECT_THAT(refused(R"("beat")", R"("beats")"), HasSubstr("did you mean beat?"));
  EXPECT_THAT(refused(R"(= "unix_ms")", R"(= "timestamptz")"), HasSubstr("say what the number counts"));
  EXPECT_THAT(refused(R"("items", )", R"("itmes", )"), HasSubstr("holds: there is no table"));
  EXPECT_THAT(refused(R"("items", )", R"("items", aliases = ["title"], )"), HasSubstr("cannot be compared"));
  EXPECT_THAT(refused("note = :note", "nope = :note"), HasSubstr("on_claim: "));
  EXPECT_THAT(refused("note = :note", "note"), HasSubstr("is no assignment"));
  EXPECT_THAT(refused("latest heartbeat", "first"), HasSubstr("on_duplicate: "));
  EXPECT_THAT(refused(R"(on_claim         = "note = :note")", R"(also.release = "SELECT :nothing")"),
              HasSubstr("there is no :nothing here"));
}

TEST(SessionFragmentsTest, PlaceholdersAreFoundOutsideOfQuotesAndCasts) {
  EXPECT_THAT(placeholders_of("a = :b::text || ':c' || :b /* :d */, e = :f"), ElementsAre("b", "f"));
  EXPECT_EQ(with_placeholders("x = :b::int + :c", {{"b", "p_b"}}), "x = p_b::int + :c");
}

TEST(SessionFragmentsTest, AssignmentsAreSplitAtCommasOfTheirOwn) {
  const auto read = assignments_of(R"(a = f(1, 2), "B c" = '1,2', d = ARRAY[1, 2])").value();
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[1].first, "B c");
  EXPECT_EQ(read[2].second, "ARRAY[1, 2]");
  EXPECT_FALSE(assignments_of("a = 1, b").ok());
}

}  // namespace
}  // namespace leasehold
