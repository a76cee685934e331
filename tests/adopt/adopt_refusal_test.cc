// Tables that cannot be adopted, applies that are interrupted, and tables that change under an adoption.
#include <gmock/gmock.h>

#include "adopt_fixture.h"

namespace leasehold {
namespace {

using support::AdoptTest;
using testing::HasSubstr;

constexpr const char* any_file = "[{s}.victim]\nshape = \"work\"\nclaimable = \"true\"\n";

class AdoptRefusalTest : public AdoptTest {
 protected:
  std::string picture() {
    if (!on_postgres())
      return scalar("SELECT group_concat(coalesce(sql, name), ';') FROM (SELECT * FROM sqlite_schema ORDER BY name)");
    return scalar(
        "SELECT string_agg(line, E'\\n' ORDER BY line) FROM ("
        "SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type AS line FROM "
        "information_schema.columns WHERE table_schema = '{s}' "
        "UNION ALL SELECT 'function ' || pg_get_functiondef(p.oid) FROM pg_proc p WHERE pronamespace = "
        "'{s}'::regnamespace "
        "UNION ALL SELECT 'trigger ' || pg_get_triggerdef(t.oid) FROM pg_trigger t WHERE tgrelid IN (SELECT oid FROM "
        "pg_class WHERE relnamespace = '{s}'::regnamespace) "
        "UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = '{s}') AS all_lines");
  }
  /// One sentence, and nothing was changed.
  void expect_refused(const std::string& what, const std::string& file, const std::string& message) {
    const auto before = picture();
    const auto answer = adoption().apply(with_schema(file), "adopt.toml");
    ASSERT_FALSE(answer.ok()) << what;
    EXPECT_THAT(answer.error().message, HasSubstr(message)) << what;
    EXPECT_EQ(answer.error().message.find('\n'), std::string::npos) << what << ": " << answer.error().message;
    EXPECT_EQ(picture(), before) << what;
  }
  struct Interrupted {};
  /// Applies until just before the step of this number; false if there are not so many.
  bool apply_until(int step) {
    ApplyOptions options;
    options.on_step = [&](const AdoptStep&) {
      if (step-- == 0) throw Interrupted();
    };
    try {
      auto first = Adoption::open(url()).value();
      const auto done = first.apply(with_schema(support::jobs_file), "adopt.toml", options);
      EXPECT_TRUE(done.ok()) << done.error().message;
      return false;
    } catch (const Interrupted&) {
      return true;
    }
  }
};
LEASEHOLD_ON_BOTH_STORES(AdoptRefusalTest);

struct Victim {
  const char* what;
  const char* made;
  const char* message;
};

TEST_P(AdoptRefusalTest, TablesThatCannotBeAdoptedAreRefused) {
  const std::vector<Victim> on_both = {
      {"view", "CREATE VIEW {s}.victim AS SELECT 1 AS id; --", "view"},
      {"no key", "CREATE TABLE {s}.victim (id integer)", "key"},
  };
  const std::vector<Victim> on_sqlite = {
      {"temporary", "", "there is no table"},
      {"virtual", "CREATE VIRTUAL TABLE {s}.victim USING fts5(id)", "virtual"},
      {"blob key", "CREATE TABLE {s}.victim (id blob PRIMARY KEY)", "key"},
  };
  const std::vector<Victim> on_server = {
      {"materialized", "CREATE MATERIALIZED VIEW {s}.victim AS SELECT 1 AS id", "materialized view"},
      {"parent", "CREATE TABLE {s}.victim (id integer PRIMARY KEY); CREATE TABLE {s}.child () INHERITS ({s}.victim)",
       "inheritance"},
      {"child", "CREATE TABLE {s}.base (id integer); CREATE TABLE {s}.victim (PRIMARY KEY (id)) INHERITS ({s}.base)",
       "inheritance"},
      {"partition",
       "CREATE TABLE {s}.whole (id integer PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE {s}.victim PARTITION OF "
       "{s}.whole DEFAULT",
       "partition"},
      {"sequence", "CREATE SEQUENCE {s}.victim", "only tables"},
      {"foreign table",
       "CREATE EXTENSION IF NOT EXISTS file_fdw; DROP SERVER IF EXISTS s_files CASCADE; CREATE SERVER s_files FOREIGN "
       "DATA WRAPPER file_fdw; CREATE FOREIGN TABLE {s}.victim (id integer) SERVER s_files OPTIONS (filename "
       "'/dev/null')",
       "foreign table"},
      {"jsonb key", "CREATE TABLE {s}.victim (id jsonb PRIMARY KEY)", "jsonb"},
      {"time key", "CREATE TABLE {s}.victim (id timestamptz PRIMARY KEY)", "timestamp"},
      {"float key", "CREATE TABLE {s}.victim (id double precision PRIMARY KEY)", "double"},
      {"bytea key", "CREATE TABLE {s}.victim (id bytea PRIMARY KEY)", "bytea"},
      {"array key", "CREATE TABLE {s}.victim (id integer[] PRIMARY KEY)", "integer[]"},
  };
  auto victims = on_both;
  const auto& own = on_postgres() ? on_server : on_sqlite;
  victims.insert(victims.end(), own.begin(), own.end());
  for (const auto& victim : victims) {
    if (*victim.made != '\0') run(victim.made);
    expect_refused(victim.what, any_file, victim.message);
    if (on_postgres()) {
      run("DROP SCHEMA {s} CASCADE; CREATE SCHEMA {s}");
    } else if (*victim.made != '\0') {
      run(std::string(victim.what) == "view" ? "DROP VIEW victim" : "DROP TABLE victim");
    }
  }
}

TEST_P(AdoptRefusalTest, AKeyThatMayBeNullOrIsNotUniqueIsRefused) {
  run("CREATE TABLE {s}.victim (id integer PRIMARY KEY, maybe text UNIQUE, lower_name text NOT NULL, part text NOT "
      "NULL)");
  run(std::string("CREATE UNIQUE INDEX ") + (on_postgres() ? "" : "main.") + "by_lower ON " +
      (on_postgres() ? "{s}." : "") + "victim (lower(lower_name))");
  run(std::string("CREATE UNIQUE INDEX ") + (on_postgres() ? "" : "main.") + "by_part ON " +
      (on_postgres() ? "{s}." : "") + "victim (part) WHERE id > 0");
  const std::string file = any_file;
  expect_refused("nullable", file + "key = [\"maybe\"]\n", "NULL");
  expect_refused("expression", file + "key = [\"lower_name\"]\n", "unique");
  expect_refused("expression itself", file + "key = [\"lower(lower_name)\"]\n", "no column");
  expect_refused("partial", file + "key = [\"part\"]\n", "unique");
  expect_refused("missing", file + "key = [\"nothing\"]\n", "no column");
}

TEST_P(AdoptRefusalTest, ALookAtAFragmentRunsNothing) {
  run(support::jobs_table);
  run("CREATE TABLE {s}.bystander (id integer PRIMARY KEY)");
  const std::string file = "[{s}.jobs]\nshape = \"work\"\n";
  const std::string attack = "1 = 1); DROP TABLE {s}.bystander; SELECT (1 = 1";
  expect_refused("condition", file + "claimable = \"" + attack + "\"\n", "claimable: it is more than one statement");
  const auto work = file + "claimable = \"1 = 1\"\n";
  expect_refused("order", work + "order = \"id; DROP TABLE {s}.bystander\"\n", "order: it is more than one statement");
  expect_refused("assignment", work + "on_claim = \"status = " + attack + "\"\n", "on_claim: ");
  expect_refused("one side", work + "on_claim = \"status =\"\n", "is no assignment");
}

TEST_P(AdoptRefusalTest, LettersOfOtherAlphabetsNeedQuotes) {
  expect_refused("a name",
                 "\n[main.stra\xC3\x9F"
                 "e]\n",
                 "adopt.toml:2: ");
  expect_refused("a value", "[main.jobs] # \xC3\xA4\nshape = \xD0\xB6\n", "adopt.toml:2: ");
  expect_refused("a blank", "[\xE3\x80\x80main.jobs]\n", "adopt.toml:1: ");
  run(support::jobs_table);
  const auto quoted = adoption().plan(
      with_schema("\xEF\xBB\xBF# \xC3\xA4\n[{s}.jobs]\nshape = 'work'\nclaimable = \"note = '\xC3\x9F\\\"'\"\n"
                  "order = '''id -- \xC3\x9F\n'''\n"),
      "adopt.toml");
  EXPECT_TRUE(quoted.ok()) << quoted.error().message;
}

TEST_P(AdoptRefusalTest, ABrokenFileIsRefusedWithItsLine) {
  for (const std::string file :
       {"[\x01]\n", "[main.jobs", "[main.jobs]\nx = \"\x02\"", "[main.jobs]\nx = fa\n[y]", "a.\x03 = 1"}) {
    expect_refused(file, file, "adopt.toml:");
  }
}

TEST_P(AdoptRefusalTest, AnApplyInterruptedAtAnyStepContinues) {
  for (int step = 0;; ++step) {
    run(support::jobs_table);
    run("INSERT INTO {s}.jobs (id) VALUES (1)");
    const bool interrupted = apply_until(step);
    auto second = Adoption::open(url()).value();
    const auto applied = second.apply(with_schema(support::jobs_file), "adopt.toml");
    ASSERT_TRUE(applied.ok()) << "at step " << step << ": " << applied.error().message;
    EXPECT_TRUE(second.verify()->empty()) << "at step " << step;
    const auto grant = claim_one(open_rows());
    EXPECT_TRUE(open_rows().complete(grant.key, grant.token).ok()) << "at step " << step;
    const auto reverted = second.revert(with_schema("{s}.jobs"));
    ASSERT_TRUE(reverted.ok()) << "at step " << step << ": " << reverted.error().message;
    run("DROP TABLE {s}.jobs");
    if (!interrupted) {
      EXPECT_GT(step, 5);
      return;
    }
  }
}

TEST_P(AdoptRefusalTest, AnApplyInterruptedAtAnyStepCanBeReverted) {
  run(support::jobs_table);
  run("INSERT INTO {s}.jobs (id) VALUES (1)");
  const auto before = picture();
  for (int step = 0;; ++step) {
    const bool interrupted = apply_until(step);
    auto second = Adoption::open(url()).value();
    const auto reverted = second.revert(with_schema("{s}.jobs"));
    ASSERT_TRUE(reverted.ok()) << "at step " << step << ": " << reverted.error().message;
    EXPECT_EQ(picture(), before) << "at step " << step;
    if (!interrupted) {
      EXPECT_GT(step, 5);
      return;
    }
  }
}

TEST_P(AdoptRefusalTest, ARevertInterruptedAtAnyStepContinues) {
  run(support::jobs_table);
  const auto before = picture();
  for (int stop = 0;; ++stop) {
    adopt(support::jobs_file);
    int step = stop;
    ApplyOptions options;
    options.on_step = [&](const AdoptStep&) {
      if (step-- == 0) throw Interrupted();
    };
    bool interrupted = false;
    try {
      ASSERT_TRUE(Adoption::open(url()).value().revert(with_schema("{s}.jobs"), options).ok());
    } catch (const Interrupted&) {
      interrupted = true;
      const auto again = Adoption::open(url()).value().revert(with_schema("{s}.jobs"));
      ASSERT_TRUE(again.ok()) << "at step " << stop << ": " << again.error().message;
    }
    EXPECT_EQ(picture(), before) << "at step " << stop;
    if (!interrupted) {
      EXPECT_GT(stop, 5);
      return;
    }
  }
}

TEST_P(AdoptRefusalTest, ARenamedColumnStopsWhatNeedsItAndNothingElse) {
  adopt_jobs("(1), (2)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  run("ALTER TABLE {s}.jobs RENAME COLUMN status TO state");
  const auto refused = rows.claim();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("status"));
  EXPECT_THAT(rows.complete(grant.key, grant.token).error().message, HasSubstr("status"));
  EXPECT_EQ(refusal("UPDATE {s}.jobs SET note = 'passes'"), "");
  // The file still has the old name.
  const auto stale = adoption().apply(with_schema(support::jobs_file), "adopt.toml");
  ASSERT_FALSE(stale.ok());
  EXPECT_THAT(stale.error().message, HasSubstr("status"));
  auto file = std::string(support::jobs_file);
  for (auto at = file.find("status"); at != std::string::npos; at = file.find("status")) file.replace(at, 6, "state");
  adopt(file);
  EXPECT_TRUE(open_rows().complete(grant.key, grant.token).ok());
  EXPECT_EQ(claim_one(open_rows()).key, RowKey{"2"});
}

}  // namespace
}  // namespace leasehold
