// A schema that one test passes to the next must be as new. Each case is undone, so that no test gets it.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"
#include "support/recycled_schema.h"

namespace leasehold::support {
namespace {

class RecycledSchemaTest : public SqlTest {
 protected:
  RecycledSchemaTest() : schema_{.name = store_.schema(), .shape = shape_of(observer_, store_.schema())} {
    // These two have spoken of the schema, and stay; now it looks as if they were done with it.
    store_.run("SELECT 1");
    observer_.run("SELECT 1");
  }
  /// Whether a schema in which this has happened would be handed on.
  bool is_recycled_after(const std::string& sql) {
    alice_.run("BEGIN");
    alice_.run(here(sql));
    const bool recycled = recycle(alice_, schema_);
    used_tables_ =
        recycled ? alice_.scalar(
                       "SELECT string_agg(relname, ' ') FROM pg_class WHERE relkind = 'r' AND "
                       "relname NOT IN ('migration', 'added') AND pg_relation_size(oid) > 0 AND relnamespace = '" +
                       schema_.name + "_internal'::regnamespace")
                 : "";
    next_lease_ = recycled ? acquired_id() : "";
    alice_.run("ROLLBACK");
    return recycled;
  }
  std::string acquired_id() {
    alice_.run(here("INSERT INTO leasehold_internal.test_clock VALUES (clock_timestamp())"));
    alice_.run(here("SELECT leasehold_internal.lock_acquire('again', 'bob')"));
    return alice_.scalar(here("SELECT string_agg(id::text, ' ') FROM leasehold_internal.lease"));
  }

  RecycledSchema schema_;
  std::string used_tables_;
  std::string next_lease_;
};

TEST_F(RecycledSchemaTest, RowsAndNumbersBeginAnew) {
  EXPECT_TRUE(is_recycled_after(
      "SELECT leasehold_internal.lock_acquire('deploy', 'alice'); SELECT leasehold_internal.job_enqueue('q', 'x')"));
  EXPECT_EQ(used_tables_, "NULL");
  EXPECT_EQ(next_lease_, "1");
}

TEST_F(RecycledSchemaTest, ANumberThatWasDrawnInVainBeginsAnew) {
  EXPECT_TRUE(is_recycled_after("SELECT nextval(pg_get_serial_sequence('leasehold_internal.lease', 'id'))"));
  EXPECT_EQ(next_lease_, "1");
}

TEST_F(RecycledSchemaTest, ATestThatChangesItsSchemaHasItForItself) {
  const std::vector<std::string> changes = {
      "CREATE TABLE leasehold.more (id int)",
      "DROP TABLE leasehold_internal.test_clock",
      "ALTER TABLE leasehold_internal.lease ADD more int",
      "ALTER TABLE leasehold_internal.lease SET (fillfactor = 50)",
      "ALTER TABLE leasehold_internal.lease ALTER pid SET DEFAULT 1",
      "ALTER TABLE leasehold_internal.lease ADD CHECK (pid > 0)",
      "CREATE INDEX ON leasehold_internal.lease (expires_at)",
      "CREATE VIEW leasehold.more AS SELECT 1",
      "CREATE TYPE leasehold.more AS ENUM ('a')",
      "CREATE OR REPLACE FUNCTION leasehold_internal.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT "
      "clock_timestamp()'",
      "COMMENT ON FUNCTION leasehold_internal.now IS 'scope: admin'",
      "GRANT EXECUTE ON FUNCTION leasehold_internal.now TO PUBLIC",
      "GRANT SELECT ON leasehold_internal.lease TO PUBLIC",
      "GRANT USAGE ON SCHEMA " + store_.schema() + ", " + store_.schema() + "_internal TO PUBLIC",
      "DELETE FROM leasehold_internal.migration WHERE version = 1",
      "UPDATE leasehold_internal.migration SET checksum = checksum",
  };
  for (const auto& change : changes) EXPECT_FALSE(is_recycled_after(change)) << change;
}

TEST_F(RecycledSchemaTest, ASchemaInUseIsNotHandedOn) {
  bob_.run(here("SELECT FROM leasehold_internal.lease"));
  EXPECT_FALSE(is_recycled_after("SELECT leasehold_internal.lock_acquire('deploy', 'alice')"));
}

}  // namespace
}  // namespace leasehold::support
