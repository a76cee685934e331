#include "storage/sqlite/values.h"

#include <gtest/gtest.h>

#include <array>

#include "storage/sqlite/connection.h"
#include "support/results.h"

namespace leasehold::sqlite {
namespace {

using storage::Param;
using storage::Row;
using storage::Rows;
using storage::Type;
using namespace std::string_view_literals;

struct Bound {
  Type type;
  Param value;
};

class BoundListTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Connection::open(":memory:", true);
    ASSERT_TRUE(support::ok(opened));
    connection_ = std::move(*opened);
    run("CREATE TABLE job (id INTEGER PRIMARY KEY, payload)");
  }

  void run(const std::string& sql) { ASSERT_TRUE(support::ok(connection_->run_script(sql))); }

  /// Empty where it failed; then complaint() says why.
  Rows ask(std::string_view sql, std::initializer_list<Bound> params) {
    const std::vector<Bound> kept(params);
    auto statement = connection_->prepare(sql);
    EXPECT_TRUE(support::ok(statement)) << sql;
    if (!statement) return {};
    int place = 0;
    for (const auto& [type, value] : kept) EXPECT_EQ(bind_value(statement->get(), ++place, type, value), SQLITE_OK);
    Rows rows;
    while (sqlite3_step(statement->get()) == SQLITE_ROW) rows.push_back(read_row(statement->get()));
    return rows;
  }

  std::string complaint() { return sqlite3_errmsg(connection_->get()); }

  std::string plan_of(const std::string& sql) {
    std::string plan;
    for (const auto& row : ask("EXPLAIN QUERY PLAN " + sql, {})) plan += std::get<std::string>(row.back()) + "\n";
    return plan;
  }

  std::unique_ptr<Connection> connection_;
  static constexpr std::array<std::int64_t, 3> ids_{30, 10, 20};
  static constexpr std::array<std::string_view, 3> payloads_{"c"sv, "a\0a"sv, ""sv};
  const Bound ids{Type::integers, storage::IntegerList(ids_)};
  const Bound payloads{Type::bytes_list, storage::StringList(payloads_)};
};

TEST_F(BoundListTest, InsertsTwoListsSideBySide) {
  ask("INSERT INTO job SELECT a.value, b.value FROM bound_list(:ids) a JOIN bound_list(:payloads) b ON b.i = a.i",
      {ids, payloads});
  EXPECT_EQ(ask("SELECT * FROM job ORDER BY id", {}),
            (Rows{Row{10, std::string("a\0a"sv)}, Row{20, ""}, Row{30, "c"}}));
  EXPECT_EQ(ask("SELECT DISTINCT typeof(payload) FROM job", {}), (Rows{Row{"blob"}}));
}

TEST_F(BoundListTest, DeletesWhatIsListed) {
  run("INSERT INTO job VALUES (5, ''), (10, ''), (20, ''), (25, '')");
  EXPECT_EQ(ask("DELETE FROM job WHERE id IN (SELECT value FROM bound_list(:ids)) RETURNING id", {ids}),
            (Rows{Row{10}, Row{20}}));
  EXPECT_EQ(ask("SELECT id FROM job", {}), (Rows{Row{5}, Row{25}}));
}

TEST_F(BoundListTest, WritesWhileItReads) {
  run("INSERT INTO job VALUES (10, 'old'), (20, 'old')");
  ask("INSERT INTO job SELECT value, 'new' FROM bound_list(:ids) WHERE true "
      "ON CONFLICT (id) DO UPDATE SET payload = excluded.payload || ' again'",
      {ids});
  EXPECT_EQ(ask("SELECT payload FROM job ORDER BY id", {}), (Rows{Row{"new again"}, Row{"new again"}, Row{"new"}}));
}

TEST_F(BoundListTest, AStatementServesListsOfEveryLength) {
  auto statement = connection_->prepare("SELECT count(*) FROM bound_list(:ids)");
  ASSERT_TRUE(support::ok(statement));
  for (std::size_t length = 0; length <= ids_.size(); ++length) {
    const Param list = storage::IntegerList(ids_).first(length);
    ASSERT_EQ(bind_value(statement->get(), 1, Type::integers, list), SQLITE_OK);
    ASSERT_EQ(sqlite3_step(statement->get()), SQLITE_ROW);
    EXPECT_EQ(sqlite3_column_int64(statement->get(), 0), static_cast<sqlite3_int64>(length));
    sqlite3_reset(statement->get());
  }
}

TEST_F(BoundListTest, LooksUpOneElement) {
  const auto at = [&](std::int64_t i) {
    return ask("SELECT value FROM bound_list(:ids) WHERE i = :i", {ids, {Type::integer, i}});
  };
  EXPECT_EQ(at(1), (Rows{Row{10}}));
  EXPECT_EQ(at(3), Rows{});
  EXPECT_EQ(at(-1), Rows{});
  EXPECT_EQ(ask("SELECT value FROM bound_list(:ids) WHERE i = NULL", {ids}), Rows{});
  EXPECT_EQ(ask("SELECT value FROM bound_list(:ids) WHERE i IN (2, 0)", {ids}).size(), 2U);
}

TEST_F(BoundListTest, IsScannedOnceAndEverythingElseIsLookedUp) {
  const auto parallel = plan_of("SELECT 1 FROM bound_list(:ids) a JOIN bound_list(:tokens) b ON b.i = a.i");
  EXPECT_NE(parallel.find("VIRTUAL TABLE INDEX 0"), std::string::npos) << parallel;
  EXPECT_NE(parallel.find("VIRTUAL TABLE INDEX 1"), std::string::npos) << parallel;
  const auto jobs = plan_of("SELECT 1 FROM job JOIN bound_list(:ids) a ON job.id = a.value");
  EXPECT_NE(jobs.find("SEARCH job USING INTEGER PRIMARY KEY"), std::string::npos) << jobs;
  EXPECT_EQ(plan_of("SELECT value FROM bound_list(:ids) ORDER BY i").find("TEMP B-TREE"), std::string::npos);
}

TEST_F(BoundListTest, RefusesWhatIsNoList) {
  EXPECT_EQ(ask("SELECT value FROM bound_list(:ids)", {{Type::integer, std::int64_t{1}}}), Rows{});
  EXPECT_EQ(complaint(), "bound_list needs a list");
  const auto without = connection_->prepare("SELECT value FROM bound_list");
  ASSERT_FALSE(without.ok());
  EXPECT_NE(without.error().message.find("bound_list needs its list"), std::string::npos) << without.error().message;
}

TEST_F(BoundListTest, IsNotForViews) {
  run("CREATE VIEW listed AS SELECT value FROM bound_list(1)");
  EXPECT_FALSE(connection_->prepare("SELECT * FROM listed").ok());
}

TEST_F(BoundListTest, AListOfAnotherTypeIsAMistake) {
  auto statement = connection_->prepare("SELECT value FROM bound_list(:ids)");
  ASSERT_TRUE(support::ok(statement));
  EXPECT_EQ(bind_value(statement->get(), 1, Type::texts, ids.value), SQLITE_MISMATCH);
  EXPECT_EQ(bind_value(statement->get(), 1, Type::integers, payloads.value), SQLITE_MISMATCH);
  EXPECT_EQ(bind_value(statement->get(), 1, Type::integer, ids.value), SQLITE_MISMATCH);
}

TEST_F(BoundListTest, BytesMayBeStoredAsText) {
  EXPECT_EQ(ask("SELECT 'abc', x'616263', x''", {}), (Rows{Row{"abc", "abc", ""}}));
}

}  // namespace
}  // namespace leasehold::sqlite
