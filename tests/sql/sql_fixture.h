// Two users with psql, one watching them, and a schema of their own.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "storage/postgres/texts.h"
#include "support/store_fixture.h"

namespace leasehold::support {

class SqlTest : public ::testing::Test {
 protected:
  explicit SqlTest(TestStore::Options options = {}) : store_(StoreKind::postgres, options) {}

  /// Writes the schemas of this test where the documentation writes `leasehold` and `leasehold_internal`.
  std::string here(const std::string& sql) const { return postgres::in_schema(sql, store_.schema()); }

  /// Acquires in a transaction of its own and gives the token.
  std::string acquired(const std::string& lock, const std::string& ttl = "30 seconds") {
    return observer_.scalar(
        here("SELECT token FROM leasehold_internal.lock_acquire('" + lock + "', 'alice', interval '" + ttl + "')"));
  }

  TestStore store_;
  PgConnection alice_{test_postgres_url()};
  PgConnection bob_{test_postgres_url()};
  PgConnection observer_{test_postgres_url()};
};

}  // namespace leasehold::support
