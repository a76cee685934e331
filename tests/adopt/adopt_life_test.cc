// plan, apply, apply again, try, verify, revert.
#include <gmock/gmock.h>

#include "adopt_fixture.h"

namespace leasehold {
namespace {

using support::AdoptTest;
using testing::HasSubstr;

class AdoptLifeTest : public AdoptTest {
 protected:
  /// Objects and columns of the schema, as the database lists them.
  std::string picture() {
    if (!on_postgres())
      return scalar("SELECT group_concat(coalesce(sql, name), ';') FROM (SELECT * FROM sqlite_schema ORDER BY name)");
    return scalar(
        "SELECT string_agg(line, E'\\n' ORDER BY line) FROM ("
        "SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type AS line FROM "
        "information_schema.columns "
        "WHERE table_schema = '{s}' "
        "UNION ALL SELECT 'function ' || p.oid::regprocedure FROM pg_proc p WHERE pronamespace = '{s}'::regnamespace "
        "UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE tgrelid IN (SELECT oid FROM pg_class WHERE "
        "relnamespace = '{s}'::regnamespace) "
        "UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = '{s}') AS all_lines");
  }
};
LEASEHOLD_ON_BOTH_STORES(AdoptLifeTest);

TEST_P(AdoptLifeTest, APlanChangesNothing) {
  run(support::jobs_table);
  const auto before = picture();
  const auto plan = adoption().plan(with_schema(support::jobs_file), "adopt.toml");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_FALSE(plan->steps.empty());
  EXPECT_EQ(picture(), before);
}

TEST_P(AdoptLifeTest, RevertLeavesTheDatabaseAsItWas) {
  run(support::jobs_table);
  run("INSERT INTO {s}.jobs (id, status) VALUES (1, 'PENDING'), (2, 'COMPLETED')");
  const auto before = picture();
  adopt(support::jobs_file);
  EXPECT_NE(picture(), before);
  const auto grant = claim_one(open_rows());
  ASSERT_TRUE(open_rows().complete(grant.key, grant.token).ok());
  const auto reverted = adoption().revert(with_schema("{s}.jobs"));
  ASSERT_TRUE(reverted.ok()) << reverted.error().message;
  EXPECT_EQ(picture(), before);
  EXPECT_EQ(scalar("SELECT count(*) FROM {s}.jobs WHERE status = 'COMPLETED'"), "2");
  EXPECT_EQ(adoption().revert(with_schema("{s}.jobs")).error().code, Errc::not_found);
}

TEST_P(AdoptLifeTest, ApplyingTwiceDoesNothingTheSecondTime) {
  adopt_jobs("(1)");
  const auto grant = claim_one(open_rows());
  const auto again = adoption().apply(with_schema(support::jobs_file), "adopt.toml");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(again->steps.empty()) << again->steps.front().what;
  EXPECT_TRUE(open_rows().complete(grant.key, grant.token).ok());
}

TEST_P(AdoptLifeTest, AChangedFileChangesWhatItSays) {
  adopt_jobs("(1)");
  const auto held = claim_one(open_rows());
  std::string file = support::jobs_file;
  const std::string before = "on_release  = \"status = 'PENDING'\"";
  file.replace(file.find(before), before.size(), "on_release  = \"status = 'PENDING', note = 'back'\"");
  adopt(file);
  ASSERT_TRUE(open_rows().release(held.key, held.token).ok());
  EXPECT_EQ(scalar("SELECT note FROM {s}.jobs"), "back");
}

TEST_P(AdoptLifeTest, AnInterruptedApplyContinues) {
  run(support::jobs_table);
  run("INSERT INTO {s}.jobs (id) VALUES (1)");
  struct Interrupted {};
  int left = 3;
  ApplyOptions options;
  options.on_step = [&](const AdoptStep&) {
    if (left-- == 0) throw Interrupted();
  };
  EXPECT_THROW(static_cast<void>(adoption().apply(with_schema(support::jobs_file), "adopt.toml", options)),
               Interrupted);
  auto second = Adoption::open(url()).value();
  ASSERT_TRUE(second.apply(with_schema(support::jobs_file), "adopt.toml").ok());
  EXPECT_EQ(claim_one(open_rows()).key, RowKey{"1"});
  EXPECT_TRUE(second.verify()->empty());
}

TEST_P(AdoptLifeTest, AnInterruptedApplyCanBeTakenBack) {
  run(support::jobs_table);
  const auto before = picture();
  struct Interrupted {};
  int left = 4;
  ApplyOptions options;
  options.on_step = [&](const AdoptStep&) {
    if (left-- == 0) throw Interrupted();
  };
  EXPECT_THROW(static_cast<void>(adoption().apply(with_schema(support::jobs_file), "adopt.toml", options)),
               Interrupted);
  auto second = Adoption::open(url()).value();
  const auto reverted = second.revert(with_schema("{s}.jobs"));
  ASSERT_TRUE(reverted.ok()) << reverted.error().message;
  EXPECT_EQ(picture(), before);
}

TEST_P(AdoptLifeTest, TryShowsThePromisesAndLeavesNothingBehind) {
  adopt_jobs("(1)");
  const auto before = scalar("SELECT status || coalesce(locked_by, '-') || coalesce(lease_token, 0) FROM {s}.jobs");
  const auto steps = adoption().try_out(with_schema("{s}.jobs"));
  ASSERT_TRUE(steps.ok()) << steps.error().message;
  EXPECT_GE(steps->size(), 8U);
  for (const auto& step : *steps) EXPECT_TRUE(step.as_promised) << step.act << ": " << step.outcome;
  EXPECT_EQ(scalar("SELECT status || coalesce(locked_by, '-') || coalesce(lease_token, 0) FROM {s}.jobs"), before);
}

TEST_P(AdoptLifeTest, VerifyFindsMissingAndChangedObjects) {
  adopt_jobs("(1)");
  EXPECT_TRUE(adoption().verify()->empty());
  run(on_postgres() ? "DROP VIEW {s}.jobs_leases" : "DROP VIEW jobs_leases");
  const auto drifts = adoption().verify().value();
  ASSERT_EQ(drifts.size(), 1U);
  EXPECT_THAT(drifts[0].object, HasSubstr("jobs_leases"));
  EXPECT_THAT(drifts[0].problem, HasSubstr("missing"));
}

struct BadFile {
  const char* what;
  const char* file;
  const char* message;
};

TEST_P(AdoptLifeTest, BadInputGetsOneSentenceThatNamesTheLineAndChangesNothing) {
  run(support::jobs_table);
  run("CREATE TABLE {s}.bare (a integer, b integer)");
  const auto before = picture();
  constexpr BadFile cases[] = {
      {"TOML", "[{s}.jobs\nshape = 1", "adopt.toml:1"},
      {"key", "[{s}.jobs]\nshape = \"work\"\nclaimble = \"true\"\n",
       "adopt.toml:3: [{s}.jobs]: unknown key \"claimble\": did you mean claimable?"},
      {"shape", "[{s}.jobs]\nshape = \"wrok\"\nclaimable = \"true\"\n", "must be one of work, lock"},
      {"duration", "[{s}.jobs]\nshape = \"work\"\nclaimable = \"true\"\nttl = \"5 parsecs\"\n", "adopt.toml:4"},
      {"table", "[{s}.nothing]\nshape = \"work\"\nclaimable = \"true\"\n", "nothing"},
      {"column", "[{s}.jobs]\nshape = \"work\"\nclaimable = \"statsu = 1\"\n", "adopt.toml:3"},
      {"syntax", "[{s}.jobs]\nshape = \"work\"\nclaimable = \"status = (\"\n", "adopt.toml:3"},
      {"assignment", "[{s}.jobs]\nshape = \"work\"\nclaimable = \"true\"\non_claim = \"nothing = 1\"\n",
       "adopt.toml:4"},
      {"no key", "[{s}.bare]\nshape = \"work\"\nclaimable = \"true\"\n", "key"},
      {"key that is not unique", "[{s}.jobs]\nshape = \"work\"\nkey = [\"status\"]\nclaimable = \"true\"\n", "unique"},
  };
  for (const auto& bad : cases) {
    const auto answer = adoption().apply(with_schema(bad.file), "adopt.toml");
    ASSERT_FALSE(answer.ok()) << bad.what;
    EXPECT_THAT(answer.error().message, HasSubstr(with_schema(bad.message))) << bad.what;
    EXPECT_EQ(answer.error().message.find('\n'), std::string::npos) << bad.what;
    EXPECT_EQ(picture(), before) << bad.what;
  }
}

}  // namespace
}  // namespace leasehold
