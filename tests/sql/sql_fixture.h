// Two users with psql, one watching them, and a schema of their own.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/store_fixture.h"

namespace leasehold::support {

class SqlTest : public ::testing::Test {
 protected:
  explicit SqlTest(TestStore::Options options = {}) : store_(StoreKind::postgres, options) {}

  /// Writes the schema of this test where the documentation writes `leasehold`.
  std::string here(std::string sql) const {
    const std::string word = "leasehold.";
    const auto name = store_.schema() + ".";
    for (auto at = sql.find(word); at != std::string::npos; at = sql.find(word, at + name.size())) {
      sql.replace(at, word.size(), name);
    }
    return sql;
  }

  /// Acquires in a transaction of its own and gives the token.
  std::string acquired(const std::string& lock, const std::string& ttl = "30 seconds") {
    return observer_.scalar(
        here("SELECT token FROM leasehold.lock_acquire('" + lock + "', 'alice', interval '" + ttl + "')"));
  }

  TestStore store_;
  PgConnection alice_{test_postgres_url()};
  PgConnection bob_{test_postgres_url()};
  PgConnection observer_{test_postgres_url()};
};

}  // namespace leasehold::support
