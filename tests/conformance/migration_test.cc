// Migrations: applied once however many start at once, undone without a trace, verified by name.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "core/store_url.h"
#include "storage/migrations.h"
#include "storage/postgres/backend.h"
#include "storage/sqlite/backend.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

using storage::Migrator;

class MigrationTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  TestStore& place() { return place_; }
  bool postgres() const { return GetParam() == StoreKind::postgres; }

  storage::Backend& backend() {
    if (!backend_) backend_ = place_.open_backend();
    return *backend_;
  }
  Migrator migrator() { return {backend(), 10s}; }
  /// Every version this binary knows, 0 first.
  std::vector<int> known() {
    std::vector<int> all;
    for (const auto& migration : backend().dialect().migrations) all.push_back(migration.version);
    return all;
  }
  int newest() { return known().back(); }
  void migrate_up() { ASSERT_TRUE(ok(migrator().up())); }

  /// "index lease_request: missing", one per line.
  std::string drifts() {
    const auto found = migrator().verify();
    if (!found) return describe(found.error());
    std::string text;
    for (const auto& drift : *found) text += drift.object + ": " + drift.problem + "\n";
    return text;
  }
  /// How this store calls an object: "lock" or "leasehold_lock".
  [[nodiscard]] std::string name(const std::string& table) const { return postgres() ? table : "leasehold_" + table; }
  /// Everything of ours that the store's own catalog still knows.
  std::string leftovers() {
    if (!postgres())
      return place_.scalar("SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'");
    return place_.scalar("SELECT count(*) FROM pg_namespace WHERE nspname IN ('" + place_.schema() + "', '" +
                         place_.schema() + "_internal')");
  }
  void note_version(int version, const std::string& what, const std::string& checksum) {
    const std::string moment = postgres() ? "clock_timestamp()" : "1";
    place_.run("INSERT INTO " + place_.table("migration") + " (version, name, checksum, applied_at) VALUES (" +
               std::to_string(version) + ", '" + what + "', '" + checksum + "', " + moment + ")");
  }

 private:
  TestStore place_{GetParam(), {.migrate = false, .real_time = true}};
  std::shared_ptr<storage::Backend> backend_;
};

LEASEHOLD_ON_BOTH_STORES(MigrationTest);

std::vector<int> versions(const std::vector<MigrationInfo>& infos) {
  std::vector<int> all;
  for (const auto& info : infos) all.push_back(info.version);
  return all;
}

TEST_P(MigrationTest, AnEmptyStoreIsVersionZeroAndSaysWhatToDo) {
  EXPECT_EQ(*migrator().version(), 0);
  const auto current = migrator().require_current();
  ASSERT_TRUE(fails(current, Errc::schema_missing));
  EXPECT_NE(current.error().message.find("leasehold migrate up"), std::string::npos);
  EXPECT_TRUE(fails(migrator().verify(), Errc::schema_missing));
  const auto status = migrator().status();
  ASSERT_TRUE(ok(status));
  for (const auto& info : *status) EXPECT_FALSE(info.applied_at) << info.name;
  EXPECT_EQ(leftovers(), "0") << "looking must not make anything";
}

TEST_P(MigrationTest, UpAppliesEverythingOnce) {
  const auto first = migrator().up();
  ASSERT_TRUE(ok(first));
  EXPECT_EQ(versions(*first), known());
  for (const auto& info : *first) EXPECT_TRUE(info.applied_at) << info.name;
  const auto second = migrator().up();
  ASSERT_TRUE(ok(second));
  EXPECT_TRUE(second->empty());
  EXPECT_TRUE(ok(migrator().require_current()));
  EXPECT_EQ(*migrator().version(), newest());
  EXPECT_EQ(drifts(), "");
}

TEST_P(MigrationTest, StatusShowsWhenEachWasApplied) {
  migrate_up();
  const auto status = migrator().status();
  ASSERT_TRUE(ok(status));
  EXPECT_EQ(versions(*status), known());
  for (const auto& info : *status) {
    ASSERT_TRUE(info.applied_at) << info.name;
    EXPECT_LT(std::chrono::abs(std::chrono::system_clock::now() - *info.applied_at), 1min) << info.name;
    EXPECT_FALSE(info.changed) << info.name;
    EXPECT_EQ(info.checksum.size(), 16U);
  }
}

// Prints how many migrations this process applied.
LEASEHOLD_ROLE(migrate_up) {
  const auto url = parse_store_url(env("STORE_URL"));
  if (!url) return 1;
  char line[8];
  if (std::fgets(line, sizeof line, stdin) == nullptr) return 1;
  const auto deadline = BootClock::now() + 20s;
  auto backend = url->kind == StoreUrl::Kind::sqlite ? sqlite::open(*url, system_clock(), deadline)
                                                     : postgres::open(*url, deadline);
  if (!backend) return std::fprintf(stderr, "%s\n", backend.error().message.c_str()), 1;
  const auto applied = Migrator(**backend, 20s).up();
  if (!applied) return std::fprintf(stderr, "%s\n", applied.error().message.c_str()), 1;
  std::printf("%zu\n", applied->size());
  return 0;
}

TEST_P(MigrationTest, TenProcessesAtOnceApplyEachOnce) {
  std::vector<Process> crowd;
  for (int i = 0; i < 10; ++i) crowd.push_back(Process::self("migrate_up", {{"STORE_URL", place().url()}}));
  for (auto& one : crowd) one.write("go\n");
  std::size_t applied = 0;
  for (auto& one : crowd) {
    const auto end = one.finish(30s);
    ASSERT_EQ(end.exit_code, 0) << end.err;
    applied += std::stoul(end.out);
  }
  EXPECT_EQ(applied, known().size());
  EXPECT_EQ(drifts(), "");
}

TEST_P(MigrationTest, DownToZeroLeavesNothing) {
  migrate_up();
  const auto undone = migrator().down(0);
  ASSERT_TRUE(ok(undone));
  auto newest_first = known();
  std::reverse(newest_first.begin(), newest_first.end());
  EXPECT_EQ(versions(*undone), newest_first);
  EXPECT_EQ(leftovers(), "0");
  EXPECT_EQ(*migrator().version(), 0);
  migrate_up();
  EXPECT_EQ(drifts(), "") << "and up again";
}

TEST_P(MigrationTest, DownToAVersionKeepsItWhole) {
  migrate_up();
  const auto undone = migrator().down(1);
  ASSERT_TRUE(ok(undone));
  EXPECT_EQ(undone->size(), known().size() - 2) << "0000 and 0001 stay";
  EXPECT_EQ(*migrator().version(), 1);
  EXPECT_EQ(drifts(), "");
  EXPECT_TRUE(fails(migrator().require_current(), Errc::schema_missing));
  EXPECT_TRUE(fails(migrator().down(newest() + 1), Errc::invalid_argument));
  EXPECT_TRUE(fails(migrator().down(-1), Errc::invalid_argument));
}

TEST_P(MigrationTest, UsersOwnTablesStayAndAreNoDrift) {
  migrate_up();
  const std::string table = postgres() ? "public.users_own_" + place().schema() : "users_own";
  place().run("CREATE TABLE " + table + " (a integer)");
  EXPECT_EQ(drifts(), "");
  ASSERT_TRUE(ok(migrator().down(0)));
  EXPECT_EQ(place().scalar("SELECT count(*) FROM " + table), "0");
  place().run("DROP TABLE " + table);
}

TEST_P(MigrationTest, VerifyNamesAMissingIndex) {
  migrate_up();
  place().run("DROP INDEX " + place().table("waiter_line"));
  EXPECT_EQ(drifts(), "index " + name("waiter_line") + ": missing\n");
}

TEST_P(MigrationTest, VerifyNamesAnAddedColumn) {
  migrate_up();
  place().run("ALTER TABLE " + place().table("lock") + " ADD COLUMN note text");
  EXPECT_EQ(drifts(), "column " + name("lock") + ".note: unexpected\n");
}

TEST_P(MigrationTest, VerifyNamesAMissingTableWithoutItsColumns) {
  migrate_up();
  place().run("DROP TABLE " + place().table("waiter"));
  EXPECT_EQ(drifts(), "table " + name("waiter") + ": missing\n");
}

TEST_P(MigrationTest, DownOfADriftedStoreChangesNothing) {
  migrate_up();
  // Something that the last migration's down wants to drop.
  place().run("DROP VIEW " + place().view(postgres() ? "jobs" : "leases"));
  const auto before = drifts();
  const auto down = migrator().down(0);
  ASSERT_TRUE(fails(down, Errc::damaged));
  EXPECT_NE(down.error().message.find(" down: "), std::string::npos) << down.error().message;
  EXPECT_EQ(drifts(), before);
}

TEST_P(MigrationTest, VerifyNamesAnotherViewAndAnUnexpectedOne) {
  migrate_up();
  place().run("DROP VIEW " + place().view("leases"));
  place().run("CREATE VIEW " + place().view("leases") + " AS SELECT 1 AS one");
  place().run("CREATE VIEW " + place().view("more") + " AS SELECT 1 AS one");
  const auto found = drifts();
  EXPECT_NE(found.find("view " + (postgres() ? "leasehold.leases" : name("leases")) + ": differs: expected"),
            std::string::npos)
      << found;
  EXPECT_NE(found.find("view " + (postgres() ? "leasehold.more" : name("more")) + ": unexpected\n"), std::string::npos)
      << found;
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 2) << found;
}

TEST_P(MigrationTest, AnEditedMigrationIsRefused) {
  migrate_up();
  place().run("UPDATE " + place().table("migration") + " SET checksum = 'feed' WHERE version = 1");
  const auto up = migrator().up();
  ASSERT_TRUE(fails(up, Errc::damaged));
  EXPECT_NE(up.error().message.find("0001_lease"), std::string::npos) << up.error().message;
  EXPECT_TRUE(fails(migrator().plan(), Errc::damaged));
  EXPECT_TRUE((*migrator().status())[1].changed);
  EXPECT_EQ(drifts().find("migration 0001_lease: differs: expected checksum"), 0U) << drifts();
}

// As commit 5cec64c made it: on PostgreSQL in one schema, on SQLite with other texts of three migrations.
TEST_P(MigrationTest, AStoreOfAnEarlierBuildIsRefusedWithAdviceAndNotChanged) {
  const auto table = postgres() ? place().schema() + ".migration" : name("migration");
  if (postgres()) place().run("CREATE SCHEMA " + place().schema());
  place().run("CREATE TABLE " + table + " (version bigint PRIMARY KEY, name text, checksum text, applied_at " +
              (postgres() ? "timestamptz)" : "integer)"));
  const auto moment = postgres() ? "clock_timestamp()" : "1763000000000000";
  const std::vector<std::pair<std::string, std::string>> applied = {
      {"bookkeeping", "5355f6252cd42143"}, {"lease", "4f5fecb51e941585"},       {"lock", "198c637de6e9be4b"},
      {"queue", "cdde398108983edd"},       {"queue_admin", "eab38db43de89cc8"}, {"chunk", "8ba258a1d7c86dc5"},
      {"session", "a33152e6eb0d4b73"},     {"schedule", "fa0180f8381b3544"},    {"across", "9c27a926237f9f8d"}};
  for (std::size_t version = 0; version < applied.size(); ++version) {
    const auto& [label, checksum] = applied[version];
    place().run("INSERT INTO " + table + " VALUES (" + std::to_string(version) + ", '" + label + "', '" + checksum +
                "', " + moment + ")");
  }
  for (const auto& error : {migrator().require_current().error(), migrator().up().error(), migrator().plan().error()}) {
    EXPECT_EQ(error.code, Errc::damaged);
    EXPECT_NE(error.message.find("another build of leasehold made the store"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("use a new store"), std::string::npos) << error.message;
  }
  EXPECT_EQ(place().scalar("SELECT count(*) FROM " + table), "9");
  if (postgres()) {
    EXPECT_EQ(place().scalar("SELECT to_regnamespace('" + place().schema() + "_internal') IS NULL"), "t");
  }
}

TEST_P(MigrationTest, ANewerSchemaIsRefusedWithAdviceAndNotChanged) {
  migrate_up();
  note_version(newest() + 7, "future", "feed");
  for (const auto& error : {migrator().up().error(), migrator().down(0).error(), migrator().verify().error(),
                            migrator().require_current().error()}) {
    EXPECT_EQ(error.code, Errc::schema_newer);
    EXPECT_NE(error.message.find("update leasehold"), std::string::npos) << error.message;
  }
  const auto status = migrator().status();
  ASSERT_TRUE(ok(status));
  EXPECT_EQ(status->back().version, newest() + 7);
  EXPECT_EQ(status->back().name, "future");
  EXPECT_TRUE(status->back().applied_at);
}

TEST_P(MigrationTest, ThePlanPastedIsWhatUpDoes) {
  const auto plan = migrator().plan();
  ASSERT_TRUE(ok(plan));
  place().run(*plan);
  EXPECT_EQ(drifts(), "");
  EXPECT_TRUE(ok(migrator().require_current()));
  const auto left = migrator().up();
  ASSERT_TRUE(ok(left));
  EXPECT_TRUE(left->empty());
  const auto nothing = migrator().plan();
  ASSERT_TRUE(ok(nothing));
  EXPECT_EQ(nothing->find("-- leasehold: nothing to do"), 0U) << *nothing;
}

TEST_P(MigrationTest, ThePlanOfAnOlderStoreHasOnlyWhatIsMissing) {
  migrate_up();
  ASSERT_TRUE(ok(migrator().down(1)));
  const auto plan = migrator().plan();
  ASSERT_TRUE(ok(plan));
  EXPECT_EQ(plan->find("0001_lease"), std::string::npos);
  place().run(*plan);
  EXPECT_EQ(drifts(), "");
}

class PostgresMigrationTest : public MigrationTest {};

INSTANTIATE_TEST_SUITE_P(Stores, PostgresMigrationTest, ::testing::Values(StoreKind::postgres), store_name);

TEST_P(PostgresMigrationTest, VerifyNamesAnAlteredFunction) {
  migrate_up();
  const auto schema = place().schema() + "_internal";
  place().run("ALTER FUNCTION " + schema + ".fence(text, bigint) SECURITY INVOKER");
  place().run("CREATE OR REPLACE FUNCTION " + schema +
              ".next_token(last_token bigint, moment timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT "
              "last_token + 1 $$");
  const auto found = drifts();
  EXPECT_EQ(found.find("function fence(text, bigint): differs: expected '"), 0U) << found;
  EXPECT_NE(found.find("SECURITY DEFINER"), std::string::npos) << found;
  EXPECT_NE(found.find("\nfunction next_token(bigint, timestamp with time zone): differs"), std::string::npos) << found;
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 2) << found;
}

TEST_P(PostgresMigrationTest, VerifyNamesDefaultsConstraintsOptionsAndOpenDoors) {
  migrate_up();
  const auto schema = place().schema() + "_internal";
  place().run("ALTER TABLE " + schema + ".lock ALTER token SET DEFAULT 7");
  place().run("ALTER TABLE " + schema + ".lock ADD CONSTRAINT lock_token CHECK (token >= 0)");
  place().run("ALTER TABLE " + schema + ".waiter SET (fillfactor = 50)");
  place().run("GRANT EXECUTE ON FUNCTION " + schema + ".prune(interval, bigint) TO PUBLIC");
  EXPECT_EQ(drifts(),
            "column lock.token: differs: expected 'bigint NOT NULL', found 'bigint NOT NULL DEFAULT 7'\n"
            "options of table waiter: differs: expected 'logged', found 'logged, fillfactor=50'\n"
            "constraint lock.lock_token: unexpected\n"
            "right of PUBLIC to EXECUTE function prune(interval, bigint): unexpected\n");
}

TEST_P(PostgresMigrationTest, TheSearchPathOfTheCallerDoesNotMatter) {
  migrate_up();
  const auto separator = place().url().find('?') == std::string::npos ? "?" : "&";
  const auto url = parse_store_url(place().url() + separator + "options=-csearch_path%3D" + place().schema());
  ASSERT_TRUE(ok(url));
  auto backend = postgres::open(*url, BootClock::now() + 10s);
  ASSERT_TRUE(ok(backend));
  const auto found = Migrator(**backend, 10s).verify();
  ASSERT_TRUE(ok(found));
  EXPECT_TRUE(found->empty()) << found->front().object << ": " << found->front().problem;
}

TEST_P(PostgresMigrationTest, DownRefusesToDropWhatOthersPutIntoTheSchema) {
  migrate_up();
  place().run("CREATE TABLE " + place().schema() + ".guest (a integer)");
  const auto down = migrator().down(0);
  ASSERT_TRUE(fails(down, Errc::damaged));
  EXPECT_NE(down.error().message.find("0000_bookkeeping down"), std::string::npos) << down.error().message;
  EXPECT_EQ(place().scalar("SELECT count(*) FROM " + place().schema() + ".guest"), "0");
}

TEST_P(PostgresMigrationTest, ARoleWithoutTablesLearnsTheVersionAndIsDeniedTheRest) {
  migrate_up();
  const auto role = "role_" + place().schema();
  place().run("CREATE ROLE " + role + "; GRANT USAGE ON SCHEMA " + place().schema() + "_internal TO " + role +
              "; GRANT EXECUTE ON FUNCTION " + place().schema() + "_internal.schema_version() TO " + role);
  const auto separator = place().url().find('?') == std::string::npos ? "?" : "&";
  const auto url = parse_store_url(place().url() + separator + "options=-crole%3D" + role);
  ASSERT_TRUE(ok(url));
  {
    auto backend = postgres::open(*url, BootClock::now() + 10s);
    ASSERT_TRUE(ok(backend));
    Migrator limited(**backend, 10s);
    EXPECT_TRUE(ok(limited.require_current()));
    EXPECT_TRUE(fails(limited.status(), Errc::denied));
    place().run("REVOKE USAGE ON SCHEMA " + place().schema() + "_internal FROM " + role);
    EXPECT_TRUE(fails(limited.version(), Errc::denied)) << "not taken for a missing schema";
  }
  place().run("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_P(PostgresMigrationTest, ASchemaMadeByTheAdministratorIsUsed) {
  place().run("CREATE SCHEMA " + place().schema());
  EXPECT_EQ(*migrator().version(), 0);
  migrate_up();
  EXPECT_EQ(drifts(), "");
}

}  // namespace
}  // namespace leasehold::support
