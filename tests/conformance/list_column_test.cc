// Lists as columns of an answer: the same on both stores, though SQLite gives a row for each of their values.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>

#include "storage/statements.h"
#include "support/value_fixture.h"

namespace leasehold::support {
namespace {

using storage::Cell;
using storage::Field;
using storage::Param;
using storage::Row;
using storage::Rows;
using storage::Type;
using namespace std::string_view_literals;

class ListColumnTest : public StatementValueTest {
 protected:
  /// The result for a list as a parameter: SQLite gets its values one by one, PostgreSQL as they are.
  static Cell echo_list(Type type, const Param& param) {
    const std::array fields = {Field{"list", type, false}};
    const bool sqlite = GetParam() == StoreKind::sqlite;
    const auto rows =
        ask(sqlite ? "SELECT l.value FROM (SELECT 1) LEFT JOIN bound_list($1) AS l ORDER BY l.i" : "SELECT $1", fields,
            std::span(&param, 1), fields);
    return rows.size() == 1 ? rows.front().front() : Cell("not one row");
  }

  /// An answer to a question without parameters.
  static Rows answer(const std::string& on_sqlite, const std::string& on_postgres, std::span<const Field> columns) {
    return ask(GetParam() == StoreKind::sqlite ? on_sqlite : on_postgres, {}, {}, columns);
  }
};
LEASEHOLD_ON_BOTH_STORES(ListColumnTest);

TEST_P(ListColumnTest, NumbersComeBackAsAListInTheirOrder) {
  constexpr auto min = std::numeric_limits<std::int64_t>::min();
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> numbers = {7, min, 0, max, 7};
  EXPECT_EQ(echo_list(Type::integers, storage::IntegerList(numbers)), Cell(numbers));
}

TEST_P(ListColumnTest, TextsComeBackAsAListEmptyAndForeignOnesToo) {
  const std::array texts = {"b"sv, ""sv, "Grüße, 世界"sv, "{\"a\", NULL}"sv};
  EXPECT_EQ(echo_list(Type::texts, storage::StringList(texts)),
            Cell(std::vector<std::string>(texts.begin(), texts.end())));
}

TEST_P(ListColumnTest, BytesComeBackAsAListWithEveryByte) {
  std::string every(256, '\0');
  std::iota(every.begin(), every.end(), '\0');
  const std::array strings = {std::string_view(every), ""sv, "a\0b"sv};
  EXPECT_EQ(echo_list(Type::bytes_list, storage::StringList(strings)),
            Cell(std::vector<std::string>(strings.begin(), strings.end())));
}

TEST_P(ListColumnTest, TimesOfAListCountFrom1970) {
  const std::array columns = {Field{"times", Type::times, false}};
  const auto rows = answer("VALUES (0), (946684800000001), (-1)",
                           "SELECT ARRAY['1970-01-01Z', '2000-01-01 00:00:00.000001Z', '1969-12-31 23:59:59.999999Z']"
                           "::timestamptz[]",
                           columns);
  EXPECT_EQ(rows, (Rows{Row{std::vector<std::int64_t>{0, 946'684'800'000'001, -1}}}));
}

TEST_P(ListColumnTest, AnEmptyListComesBackEmpty) {
  EXPECT_EQ(echo_list(Type::integers, storage::IntegerList()), Cell(std::vector<std::int64_t>()));
  EXPECT_EQ(echo_list(Type::texts, storage::StringList()), Cell(std::vector<std::string>()));
  EXPECT_EQ(echo_list(Type::bytes_list, storage::StringList()), Cell(std::vector<std::string>()));
}

TEST_P(ListColumnTest, ListsOfDifferentLengthsStandBesideSingleValues) {
  const std::array columns = {Field{"said", Type::text, false}, Field{"ids", Type::integers, false},
                              Field{"none", Type::times, false}, Field{"names", Type::texts, false},
                              Field{"missing", Type::integer, true}};
  const auto rows = answer(
      "VALUES ('first', 1, NULL, 'a', NULL), ('second', 2, NULL, NULL, 5), (NULL, NULL, NULL, 'b', 6), "
      "('fourth', 3, NULL, 'c', NULL)",
      "SELECT ROW('first'::text, ARRAY[1, 2, 3]::bigint[], '{}'::timestamptz[], ARRAY['a', 'b', 'c'], NULL::bigint)",
      columns);
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(rows, (Rows{Row{"first", Numbers{1, 2, 3}, Numbers{}, std::vector<std::string>{"a", "b", "c"}, Cell()}}));
}

TEST_P(ListColumnTest, ANullIsNoValueOfAList) {
  const std::array columns = {Field{"ids", Type::integers, false}};
  if (GetParam() == StoreKind::sqlite) {
    EXPECT_EQ(ask("VALUES (1), (NULL), (3)", {}, {}, columns), (Rows{Row{std::vector<std::int64_t>{1, 3}}}));
  } else {
    EXPECT_TRUE(fails(try_to_ask("SELECT ARRAY[1, NULL, 3]::bigint[]", {}, {}, columns), Errc::damaged));
  }
}

TEST_P(ListColumnTest, AnArrayThatIsNoListIsRefused) {
  if (GetParam() == StoreKind::sqlite) return;  // has no arrays
  const std::array columns = {Field{"ids", Type::integers, false}};
  for (const auto* odd : {"SELECT '{{1,2},{3,4}}'::bigint[]", "SELECT '{1,2}'::int[]", "SELECT '{1,2}'::text[]",
                          "SELECT 1::bigint", "SELECT '{1,2}'::text"}) {
    EXPECT_TRUE(fails(try_to_ask(odd, {}, {}, columns), Errc::damaged)) << odd;
  }
}

TEST_P(ListColumnTest, AListThatIsNullIsReadAsAnEmptyOne) {
  const std::array columns = {Field{"settled", Type::integers, false}, Field{"to_tidy", Type::integers, false}};
  auto rows = answer("VALUES (NULL, 3)", "SELECT ROW(NULL::bigint[], ARRAY[3]::bigint[])", columns);
  ASSERT_EQ(rows.size(), 1U);
  const auto row = sql::JobSettleMany::Row::decode(std::move(rows.front()));
  EXPECT_TRUE(row.settled.empty());
  EXPECT_EQ(row.to_tidy, std::vector<std::int64_t>{3});
}

TEST_P(ListColumnTest, AnAnswerWithoutRowsHasNoListsEither) {
  const std::array columns = {Field{"said", Type::text, false}, Field{"ids", Type::integers, false}};
  EXPECT_TRUE(answer("SELECT 'a', 1 WHERE false", "SELECT 'a'::text, '{1}'::bigint[] WHERE false", columns).empty());
}

}  // namespace
}  // namespace leasehold::support
