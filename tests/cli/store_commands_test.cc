// events, status, doctor, migrate, prune, grant; and where the store is.
#include <csignal>
#include <filesystem>

#include "cli/tool.h"
#include "support/copied_database.h"
#include "support/pg.h"
#include "support/sqlite.h"

namespace leasehold::support {
namespace {

using StoreCommands = ToolTest;
using namespace std::chrono_literals;

TEST_F(StoreCommands, EventsAreInOrder) {
  const auto token = acquired("deploy", {"--holder", "ana"});
  acquired("other");
  tool({"lock", "release", "deploy", "--token", token});
  const auto reported = json({"events", "--key", "deploy"}).at("items").as_array();
  ASSERT_EQ(reported.size(), 2U);
  EXPECT_EQ(reported[0].at("what"), "acquired");
  EXPECT_EQ(reported[1].at("what"), "released");
  EXPECT_EQ(json({"events", "--max", "1"}).at("items").as_array().size(), 1U);
  EXPECT_TRUE(contains(tool({"events"}).out, "lock deploy  acquired  by ana"));
}

TEST_F(StoreCommands, AnEmptyListOfEventsIsReportedOnStderr) {
  make_store();
  const auto finished = tool({"events"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "no events\n");
}

TEST_F(StoreCommands, FollowShowsOldAndNewEventsOnceEach) {
  acquired("first");
  auto follower =
      Process::start({LEASEHOLD_TOOL, "events", "--follow", "--json"}, {{"LEASEHOLD_DB", "sqlite:" + file()}});
  const auto next_key = [&] {
    const auto line = follower.read_line(10s);
    return line ? std::string(boost::json::parse(*line).at("key").as_string()) : "nothing came";
  };
  EXPECT_EQ(next_key(), "first");
  acquired("second");
  EXPECT_EQ(next_key(), "second");
  acquired("third");
  EXPECT_EQ(next_key(), "third");
  follower.signal(SIGTERM);
  const auto finished = follower.finish(10s);
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.out, "");
}

TEST_F(StoreCommands, StatusCounts) {
  acquired("deploy");
  const auto status = json({"status"});
  EXPECT_EQ(status.at("backend"), "sqlite");
  EXPECT_EQ(status.at("locks"), 1);
  EXPECT_EQ(status.at("held_leases"), 1);
  EXPECT_EQ(status.at("expired_leases"), 0);
  EXPECT_TRUE(contains(tool({"status"}).out, "held leases    1\nexpired leases 0\n"));
}

TEST_F(StoreCommands, DoctorFindsAHealthyFileHealthy) {
  make_store();
  const auto finished = tool({"doctor"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  const auto findings = json({"doctor"});
  for (const auto& finding : findings.at("items").as_array()) EXPECT_NE(finding.at("level"), "danger");
}

TEST_F(StoreCommands, AMistypedAddressIsNotRepeatedWithItsPassword) {
  for (const std::string address :
       {"host=db user=app password=secret", "host=db password=secret dbname=a/b", "//app:secret@db/a",
        "postgresql//app:secret@db/a", "postgresql://app:se/secret@db/a", "postgresql://app:x@secret@127.0.0.1:1/a",
        "sqlite://app:secret@db/a", "postgresql://app:%zzsecret@db/a", "postgresql://app@127.0.0.1:1/a?pasword=secret",
        "mysql://app:secret@db/a"}) {
    for (const auto& words : {Arguments{"lock", "ls"}, {"lock", "acquire", "x"}, {"doctor"}, {"migrate", "up"}}) {
      const auto finished = tool(words, {{"LEASEHOLD_DB", address}});
      EXPECT_EQ(finished.exit_code, 2) << address << ": " << finished.err;
      EXPECT_EQ((finished.out + finished.err).find("secret"), std::string::npos) << address << ": " << finished.err;
    }
    const auto as_json = tool({"status", "--json", "--db", address});
    EXPECT_EQ((as_json.out + as_json.err).find("secret"), std::string::npos) << address;
  }
  EXPECT_EQ(tool({"lock", "ls", "postgresql://app:secret@db/a"}).err.find("secret"), std::string::npos);
  EXPECT_EQ(tool({"postgresql://app:secret@db/a"}).err.find("secret"), std::string::npos);
}

TEST_F(StoreCommands, RehomeWantsAYes) {
  acquired("deploy");
  EXPECT_EQ(tool({"doctor", "--rehome"}).exit_code, 2);
  EXPECT_EQ(tool({"doctor", "--yes"}).exit_code, 2);
  EXPECT_EQ(tool({"doctor", "--rehome", "--yes"}).exit_code, 3) << "it is this machine's already";
}

TEST_F(StoreCommands, MigrationsGoUpAndDown) {
  EXPECT_TRUE(contains(tool({"migrate", "plan"}).out, "CREATE TABLE"));
  EXPECT_TRUE(contains(tool({"migrate", "status"}).out, "not yet"));
  EXPECT_EQ(tool({"migrate", "down", "--yes"}).exit_code, 3);
  EXPECT_TRUE(std::filesystem::is_empty(folder().path())) << "they only look";
  EXPECT_TRUE(contains(tool({"migrate", "up"}).out, "applied 0001 lease\n"));
  EXPECT_EQ(tool({"migrate", "verify"}).exit_code, 0);
  EXPECT_EQ(tool({"migrate", "down"}).exit_code, 2);
  EXPECT_TRUE(contains(tool({"migrate", "down", "--to", "0", "--dry-run"}).out, "would undo 0000"));
  EXPECT_EQ(tool({"migrate", "verify"}).exit_code, 0);
  EXPECT_EQ(tool({"migrate", "down", "--to", "0", "--yes"}).exit_code, 0);
  EXPECT_TRUE(json({"migrate", "down", "--yes"}, 3).at("items").as_array().empty());
}

TEST_F(StoreCommands, VerifyNamesTheDriftAndFails) {
  acquired("deploy");
  SqliteFile(file()).run("ALTER TABLE leasehold_lock ADD COLUMN stranger TEXT");
  const auto finished = tool({"migrate", "verify"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_TRUE(contains(finished.out, "stranger"));
}

TEST_F(StoreCommands, PruneWantsAYesAndTokensGoOnGrowing) {
  std::string token;
  for (int round = 0; round < 2; ++round) {
    token = acquired("deploy");
    tool({"lock", "release", "deploy", "--token", token});
  }
  EXPECT_EQ(tool({"prune"}).exit_code, 2);
  EXPECT_TRUE(contains(tool({"prune"}).err, "sessions"));
  // The newest lease and the newest event of a file stay: ids go on from them.
  const std::string what = "1 free lock, 1 ended lease and 3 events older than 0s\n";
  EXPECT_EQ(tool({"prune", "--older-than", "0", "--dry-run"}).out, "would prune " + what);
  EXPECT_EQ(json({"prune", "--older-than", "0", "--dry-run"}).at("locks"), 1);
  EXPECT_EQ(json({"status"}).at("ended_leases"), 2);
  EXPECT_EQ(tool({"prune", "--older-than", "0", "--yes"}).out, "pruned " + what);
  EXPECT_TRUE(json({"lock", "ls"}).at("items").as_array().empty());
  EXPECT_EQ(tool({"prune", "--older-than", "0", "--yes"}).out, "nothing to prune that is older than 0s\n");
  EXPECT_GT(std::stoll(acquired("deploy")), std::stoll(token));
}

TEST_F(StoreCommands, RetentionIsShownAndSet) {
  make_store();
  EXPECT_EQ(tool({"retention", "show"}).out, "jobs     7d\nfailed   30d\nhistory  7d\n");
  const auto set = json({"retention", "set", "--jobs", "3d", "--history", "0"});
  EXPECT_EQ(set.at("keep_jobs_seconds"), 3 * 86400);
  EXPECT_TRUE(set.at("keep_history_seconds").is_null());
  EXPECT_EQ(tool({"retention", "show"}).out, "jobs     3d\nfailed   30d\nhistory  forever\n");
  EXPECT_EQ(json({"status"}).at("retention").at("keep_failed_seconds"), 30 * 86400);
  EXPECT_TRUE(contains(tool({"status"}).out, "3d jobs, 30d failed jobs, forever other history"));
  EXPECT_TRUE(contains(tool({"doctor"}).out, "other history forever"));
  EXPECT_EQ(tool({"retention", "set"}).exit_code, 2);
  EXPECT_EQ(tool({"retention", "set", "--jobs", "1s"}).exit_code, 2);
}

TEST_F(StoreCommands, GrantIsForPostgreSQL) {
  make_store();
  const auto finished = tool({"grant", "app", "--scope", "work"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_TRUE(contains(finished.err, "PostgreSQL"));
  EXPECT_EQ(tool({"grant", "app", "--scope", "everything"}).exit_code, 2);
}

TEST_F(StoreCommands, GrantNamesAScopeOrRevokes) {
  make_store();
  EXPECT_TRUE(contains(tool({"grant", "app"}).err, "name a scope with --scope, or use --revoke"));
  EXPECT_EQ(tool({"grant", "app", "--revoke", "--scope", "read"}).exit_code, 2);
  EXPECT_TRUE(contains(tool({"grant", "app", "--revoke"}).err, "PostgreSQL"));
}

TEST_F(StoreCommands, SqlPrintsTheSchemaWithoutAConnection) {
  const Environment nowhere = {{"LEASEHOLD_DB", "postgresql://127.0.0.1:1/none"}};
  const auto schema = tool({"sql", "--schema", "acme"}, nowhere);
  EXPECT_EQ(schema.exit_code, 0) << schema.err;
  EXPECT_TRUE(contains(schema.out, "CREATE TABLE acme_internal.lease"));
  EXPECT_FALSE(contains(schema.out, "leasehold."));
  EXPECT_EQ(tool({"sql", "--schema", "Acme"}).exit_code, 2);
  const auto made = run({"/bin/sh", "-c", std::string(LEASEHOLD_TOOL) + " sql --sqlite | sqlite3 -bail " + file()});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(tool({"migrate", "verify"}).out, "the schema is correct\n");
}

TEST_F(StoreCommands, TheDefaultStoreIsInTheStateFolder) {
  const Environment no_db = {{"LEASEHOLD_DB", ""}, {"XDG_STATE_HOME", folder().file("state")}};
  EXPECT_EQ(tool({"lock", "acquire", "x"}, no_db).exit_code, 0);
  const auto made = folder().path() / "state" / "leasehold";
  EXPECT_TRUE(std::filesystem::exists(made / "leasehold.db"));
  EXPECT_EQ(std::filesystem::status(made).permissions(), std::filesystem::perms::owner_all) << "payloads are private";
}

TEST_F(StoreCommands, ALookMakesNoStore) {
  const std::vector<Arguments> looks = {{"status"},
                                        {"events"},
                                        {"lock", "ls"},
                                        {"job", "show", "1"},
                                        {"job", "complete", "1", "--token", "1"},
                                        {"lock", "release", "x", "--token", "1"},
                                        {"schedule", "acquire", "x"},
                                        {"recover"},
                                        {"prune", "--yes"},
                                        {"doctor"},
                                        {"doctor", "--rehome", "--yes"}};
  for (const auto& look : looks) {
    const auto finished = tool(look);
    EXPECT_EQ(finished.exit_code, 1) << look.front();
    EXPECT_TRUE(contains(finished.err, "there is no store at " + file() + " yet")) << look.front();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder().path()));
}

TEST_F(StoreCommands, ALookMakesNoStateFolder) {
  const auto finished = tool({"lock", "ls"}, {{"LEASEHOLD_DB", ""}, {"XDG_STATE_HOME", folder().file("state")}});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_TRUE(contains(finished.err, folder().file("state/leasehold/leasehold.db")));
  EXPECT_TRUE(std::filesystem::is_empty(folder().path()));
}

TEST_F(StoreCommands, ALookIntoAnotherDatabaseMakesNoTablesThere) {
  const SqliteFile theirs(file());
  theirs.run("CREATE TABLE orders (id)");
  const auto finished = tool({"lock", "ls"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_TRUE(contains(finished.err, "no leasehold schema: run `leasehold migrate up`"));
  EXPECT_EQ(theirs.rows("SELECT name FROM sqlite_master").size(), 1U);
}

TEST_F(StoreCommands, AServerThatIsTooOldIsNamedBeforeTheMissingSchema) {
  const EmptyDatabase database(test_postgres_url());
  const Environment there = {{"LEASEHOLD_DB", database.url()}};
  EXPECT_TRUE(contains(tool({"doctor"}, there).err, "no leasehold schema: run `leasehold migrate up`"));
  PgConnection(database.url())
      .run(
          "SET allow_system_table_mods = on;"
          "ALTER FUNCTION pg_catalog.current_setting(text) RENAME TO true_setting;"
          "CREATE FUNCTION pg_catalog.current_setting(name text) RETURNS text LANGUAGE sql STABLE AS $$"
          "  SELECT CASE name WHEN 'server_version' THEN '14.11' WHEN 'server_version_num' THEN '140011'"
          "              ELSE pg_catalog.true_setting(name) END $$");
  for (const auto& words : {Arguments{"doctor"}, {"migrate", "up"}, {"lock", "ls"}}) {
    const auto refused = tool(words, there);
    EXPECT_EQ(refused.exit_code, 1) << words.front();
    EXPECT_TRUE(contains(refused.err, "the server is PostgreSQL 14.11 and leasehold needs 15 to 18: update the server"))
        << words.front() << ": " << refused.err;
  }
}

TEST_F(StoreCommands, WithoutAPlaceForTheDefaultStoreTheToolReportsIt) {
  const auto finished = tool({"status"}, {{"LEASEHOLD_DB", ""}, {"XDG_STATE_HOME", ""}, {"HOME", ""}});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_TRUE(contains(finished.err, "--db"));
}

TEST_F(StoreCommands, AStateFolderThatCannotBeMadeIsUnreachable) {
  const auto finished = tool({"lock", "acquire", "x"}, {{"LEASEHOLD_DB", ""}, {"XDG_STATE_HOME", "/proc"}});
  EXPECT_EQ(finished.exit_code, 69);
  EXPECT_TRUE(contains(finished.err, "/proc/leasehold"));
}

TEST_F(StoreCommands, DbMayBeAPathAndMayStandAnywhere) {
  const auto path = folder().file("other.db");
  EXPECT_EQ(tool({"--db", path, "lock", "acquire", "x"}).exit_code, 0);
  EXPECT_EQ(tool({"lock", "--db", path, "show", "x"}).exit_code, 0);
  EXPECT_EQ(tool({"lock", "show", "x", "--db", path}).exit_code, 0);
  EXPECT_EQ(tool({"lock", "show", "x"}).exit_code, 1) << "this one was never made";
}

TEST_F(StoreCommands, AnUnreachableStoreIs69) {
  const auto finished = tool({"status", "--db", "postgresql://nobody@127.0.0.1:1/nothing"});
  EXPECT_EQ(finished.exit_code, 69) << finished.err;
  EXPECT_EQ(tool({"lock", "acquire", "x", "--db", folder().file("no/such/folder/x.db")}).exit_code, 69);
}

TEST_F(StoreCommands, AFullOutputIsAFailure) {
  make_store();
  auto finished = run({"/bin/sh", "-c", "\"$0\" status > /dev/full", LEASEHOLD_TOOL}, {{"LEASEHOLD_DB", file()}});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_TRUE(contains(finished.err, "cannot write"));
}

}  // namespace
}  // namespace leasehold::support
