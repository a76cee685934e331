// The values of the :names in a file's fragments, among them those that the caller of a verdict gives.
#include <gmock/gmock.h>

#include "adopt_fixture.h"
#include "leasehold/row_worker.h"

namespace leasehold {
namespace {

using support::AdoptTest;
using testing::HasSubstr;

class RowValuesTest : public AdoptTest {
 protected:
  /// Chunks with a key of two parts; completing one sets how many rows it had.
  void adopt_chunks() {
    run("CREATE TABLE {s}.chunks (matrix text NOT NULL, hash text NOT NULL, rows integer, note text, done integer, "
        "PRIMARY KEY (matrix, hash)); INSERT INTO {s}.chunks (matrix, hash) VALUES ('m1', 'aa'), ('m1', 'bb')");
    adopt(R"~(
[{s}.chunks]
shape       = "work"
order       = "matrix, hash"
claimable   = "done IS NULL"
on_complete = "done = 1, rows = coalesce(:row_count, rows), note = :note"
on_fail     = "note = :error"
on_release  = "note = coalesce(:note, note)"
)~");
  }
  std::string chunk(const std::string& what) { return scalar("SELECT " + what + " FROM {s}.chunks WHERE hash = 'aa'"); }
};
LEASEHOLD_ON_BOTH_STORES(RowValuesTest);

TEST_P(RowValuesTest, AVerdictSetsWhatItsCallerGives) {
  adopt_chunks();
  const auto rows = open_rows("chunks");
  auto grant = claim_one(rows);
  const auto released = rows.release(grant.key, grant.token, {{"note", "it's half done"}});
  ASSERT_TRUE(released.ok()) << released.error().message;
  EXPECT_EQ(chunk("note"), "it's half done");
  grant = claim_one(rows);
  const RowValues values = {{"row_count", "41"}, {"note", std::nullopt}};
  const auto completed = rows.complete(grant.key, grant.token, values);
  ASSERT_TRUE(completed.ok()) << completed.error().message;
  EXPECT_EQ(chunk("rows + 1"), "42");
  EXPECT_EQ(chunk("note IS NULL"), on_postgres() ? "t" : "1");
  EXPECT_TRUE(rows.complete(grant.key, grant.token, values).ok()) << "the same verdict twice";
}

TEST_P(RowValuesTest, AValueThatIsNotGivenIsNull) {
  adopt_chunks();
  const auto rows = open_rows("chunks");
  run("UPDATE {s}.chunks SET rows = 7");
  const auto grant = claim_one(rows);
  ASSERT_TRUE(rows.complete(grant.key, grant.token).ok());
  EXPECT_EQ(chunk("rows"), "7");
}

TEST_P(RowValuesTest, AValueThatTheFileDoesNotNameIsRefusedAndChangesNothing) {
  adopt_chunks();
  const auto rows = open_rows("chunks");
  const auto grant = claim_one(rows);
  const auto wrong = rows.complete(grant.key, grant.token, {{"rows", "1"}});
  EXPECT_EQ(code_of(wrong), Errc::invalid_argument);
  EXPECT_THAT(wrong.error().message, HasSubstr("complete takes no value \"rows\": its file names row_count, note"));
  const auto none = rows.fail(grant.key, grant.token, "broken", {{"row_count", "1"}});
  EXPECT_THAT(none.error().message, HasSubstr("its file names none"));
  EXPECT_TRUE(rows.fail(grant.key, grant.token, "broken").ok());
  EXPECT_EQ(chunk("note"), "broken");
}

TEST_P(RowValuesTest, AHandlerGivesThemToItsWorker) {
  adopt_chunks();
  RowWorker worker(open_rows("chunks"), {.until = WorkUntil::empty});
  const auto done = worker.run([](const RowGrant& grant, RowContext& context) {
    context.set("row_count", grant.key.back() == "aa" ? "3" : "5");
    return Verdict::complete();
  });
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->completed, 2);
  EXPECT_EQ(scalar("SELECT sum(rows) FROM {s}.chunks"), "8");
}

TEST_P(RowValuesTest, EveryFragmentKnowsKeyHolderTokenAndReason) {
  run(support::jobs_table);
  run("INSERT INTO {s}.jobs (id) VALUES (1), (2)");
  adopt(R"~(
[{s}.jobs]
shape       = "work"
ttl         = "30s"
order       = "id"
claimable   = "status = 'PENDING'"
on_claim    = "worker = :holder, note = :reason, priority = :key"
on_complete = "status = 'DONE', worker = 'by ' || :holder, note = :reason, priority = :id + 10"
on_expire   = "worker = 'lost by ' || :holder, note = :reason"
)~");
  const auto rows = open_rows();
  const auto story = [&] {
    return scalar("SELECT worker || ', ' || note || ', ' || priority FROM {s}.jobs WHERE id = 1");
  };
  auto grant = claim_one(rows);
  EXPECT_EQ(story(), "ann, claimed, 1");
  expire(rows, grant);
  ASSERT_TRUE(rows.recover().ok());
  EXPECT_EQ(story(), "lost by ann, expired, 1");
  grant = claim_one(rows, "bob");
  ASSERT_TRUE(rows.complete(grant.key, grant.token).ok());
  EXPECT_EQ(story(), "by bob, completed, 11");
}

TEST_P(RowValuesTest, AClaimTakesNoValues) {
  run(support::jobs_table);
  for (const auto* key : {"on_claim", "on_expire"}) {
    const auto answer = adoption().apply(with_schema("[{s}.jobs]\nshape = \"work\"\nclaimable = \"true\"\n" +
                                                     std::string(key) + " = \"note = :colour\"\n"),
                                         "adopt.toml");
    ASSERT_FALSE(answer.ok()) << key;
    EXPECT_THAT(answer.error().message, HasSubstr("adopt.toml:4: " + std::string(key) + ": there is no :colour here"));
  }
}

TEST_P(RowValuesTest, AScheduleIsDueWhenTheVerdictSays) {
  run(on_postgres() ? "CREATE TABLE {s}.plan (name text PRIMARY KEY, next_at timestamptz, last_at timestamptz)"
                    : "CREATE TABLE plan (name text PRIMARY KEY, next_at integer, last_at integer)");
  run("INSERT INTO {s}.plan (name) VALUES ('refresh')");
  adopt("[{s}.plan]\nshape = \"schedule\"\nnext = \"next_at\"\nlast = \"last_at\"\nevery = \"10m\"\n");
  const auto rows = open_rows("plan");
  const auto grant = claim_one(rows);
  const auto* moment = on_postgres() ? "2100-01-01T00:00:00Z" : "4102444800";
  const auto done = rows.complete(grant.key, grant.token, {{"next", moment}});
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(
      scalar(on_postgres() ? "SELECT extract(epoch FROM next_at)::bigint FROM {s}.plan" : "SELECT next_at FROM plan"),
      "4102444800");
}

}  // namespace
}  // namespace leasehold
