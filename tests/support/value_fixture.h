// Values in and out of statements on both stores, without the named statements.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "storage/postgres/binary_rows.h"
#include "storage/postgres/connection.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/values.h"
#include "support/store_fixture.h"

namespace leasehold::support {

/// Asks with SQL of its own, which the named statements do not allow: the values alone are looked at.
class StatementValueTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  static Result<storage::Rows> try_to_ask(const std::string& sql, std::span<const storage::Field> fields,
                                          std::span<const storage::Param> params,
                                          std::span<const storage::Field> columns) {
    return GetParam() == StoreKind::sqlite ? ask_sqlite(sql, fields, params, columns)
                                           : ask_postgres(sql, fields, params, columns);
  }

  /// Both know `$1`.
  static storage::Rows ask(const std::string& sql, std::span<const storage::Field> fields,
                           std::span<const storage::Param> params, std::span<const storage::Field> columns) {
    auto rows = try_to_ask(sql, fields, params, columns);
    EXPECT_TRUE(ok(rows));
    return rows ? std::move(*rows) : storage::Rows{};
  }

 private:
  static Result<storage::Rows> ask_sqlite(const std::string& sql, std::span<const storage::Field> fields,
                                          std::span<const storage::Param> params,
                                          std::span<const storage::Field> columns) {
    auto connection = sqlite::Connection::open(":memory:", true);
    if (!connection) return connection.error();
    auto statement = (*connection)->prepare(sql);
    if (!statement) return statement.error();
    for (std::size_t i = 0; i < params.size(); ++i) {
      EXPECT_EQ(sqlite::bind_value(statement->get(), static_cast<int>(i) + 1, fields[i].type, params[i]), SQLITE_OK);
    }
    const auto is_list = [](const storage::Field& column) { return storage::is_list(column.type); };
    const bool lists = std::any_of(columns.begin(), columns.end(), is_list);
    storage::Rows rows;
    while (sqlite3_step(statement->get()) == SQLITE_ROW) {
      if (lists) {
        sqlite::gather_row(statement->get(), columns, rows);
      } else {
        rows.push_back(sqlite::read_row(statement->get()));
      }
    }
    return rows;
  }

  static Result<storage::Rows> ask_postgres(const std::string& sql, std::span<const storage::Field> fields,
                                            std::span<const storage::Param> params,
                                            std::span<const storage::Field> columns) {
    const auto deadline = BootClock::now() + 20s;
    auto connection = postgres::Connection::connect(test_postgres_url(), deadline);
    if (!connection) return connection.error();
    const postgres::Text text{.slot = 0, .name = "", .sql = sql};
    const postgres::BinaryParams encoded(fields, params, (*connection)->charset());
    const std::array commands = {postgres::Command{&text, &encoded}};
    auto outcome = (*connection)->pipeline(commands, postgres::Naming::unnamed, deadline);
    if (outcome.failure) return outcome.failure->error;
    return postgres::decode_rows(outcome.results.back().get(), columns);
  }
};

}  // namespace leasehold::support
