// Values come back from a statement unchanged, on both stores: bytes and lists, the odd ones first.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>

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

class ValueTest : public StatementValueTest {
 protected:
  static Cell echo(Type type, const Param& param) {
    const std::array fields = {Field{"value", type, true}};
    const auto rows = ask("SELECT $1", fields, std::span(&param, 1), fields);
    return rows.empty() ? Cell("no row") : rows.front().front();
  }

  /// The elements as the store sees them, each with its number.
  static Rows elements(Type list, Type element, const Param& param) {
    const std::array fields = {Field{"list", list, false}};
    const std::array columns = {Field{"i", Type::integer, false}, Field{"value", element, false}};
    return ask("SELECT i, value FROM " + as_table("$1") + " ORDER BY i", fields, std::span(&param, 1), columns);
  }

  static std::string as_table(const std::string& list) {
    if (GetParam() == StoreKind::sqlite) return "bound_list(" + list + ")";
    return "(SELECT n - 1 AS i, value FROM unnest(" + list + ") WITH ORDINALITY AS list(value, n)) AS list";
  }
};
LEASEHOLD_ON_BOTH_STORES(ValueTest);

TEST_P(ValueTest, BytesKeepEveryByte) {
  std::string every(256, '\0');
  std::iota(every.begin(), every.end(), '\0');
  EXPECT_EQ(echo(Type::bytes, std::string_view(every)), Cell(every));
}

TEST_P(ValueTest, BytesNeedNotBeUtf8) {
  constexpr auto broken = "\xc3\x28 \xff\xfe \xed\xa0\x80\0 end"sv;
  EXPECT_EQ(echo(Type::bytes, broken), Cell(std::string(broken)));
}

TEST_P(ValueTest, NoBytesAreNotNull) {
  EXPECT_EQ(echo(Type::bytes, std::string_view()), Cell(std::string()));
  EXPECT_EQ(echo(Type::bytes, Param()), Cell());
}

TEST_P(ValueTest, BytesAreStoredAsBytes) {
  const std::array fields = {Field{"value", Type::bytes, false}};
  const std::array columns = {Field{"type", Type::text, false}};
  const std::array<Param, 1> params = {"plain"sv};
  const bool sqlite = GetParam() == StoreKind::sqlite;
  const auto rows = ask(sqlite ? "SELECT typeof($1)" : "SELECT pg_typeof($1)::text", fields, params, columns);
  EXPECT_EQ(rows, (Rows{Row{Cell(std::string(sqlite ? "blob" : "bytea"))}}));
}

TEST_P(ValueTest, NumbersOfAListKeepTheirOrderAndSign) {
  constexpr auto min = std::numeric_limits<std::int64_t>::min();
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  const std::array<std::int64_t, 4> numbers = {7, min, 0, max};
  EXPECT_EQ(elements(Type::integers, Type::integer, storage::IntegerList(numbers)),
            (Rows{Row{0, 7}, Row{1, min}, Row{2, 0}, Row{3, max}}));
}

TEST_P(ValueTest, TextsOfAListMayBeEmptyAndForeign) {
  const std::array texts = {"b"sv, std::string_view(), "Grüße, 世界"sv, "{\"a\", NULL}"sv};
  EXPECT_EQ(elements(Type::texts, Type::text, storage::StringList(texts)),
            (Rows{Row{0, "b"}, Row{1, ""}, Row{2, "Grüße, 世界"}, Row{3, "{\"a\", NULL}"}}));
}

TEST_P(ValueTest, BytesOfAListKeepEveryByte) {
  const std::array strings = {"a\0b"sv, std::string_view(), "\xff\xfe"sv};
  EXPECT_EQ(elements(Type::bytes_list, Type::bytes, storage::StringList(strings)),
            (Rows{Row{0, std::string("a\0b"sv)}, Row{1, ""}, Row{2, "\xff\xfe"}}));
}

TEST_P(ValueTest, AnEmptyListHasNoElements) {
  EXPECT_TRUE(elements(Type::integers, Type::integer, storage::IntegerList()).empty());
  EXPECT_TRUE(elements(Type::texts, Type::text, storage::StringList()).empty());
  EXPECT_TRUE(elements(Type::bytes_list, Type::bytes, storage::StringList()).empty());
}

TEST_P(ValueTest, AHundredThousandElementsAreJoinedByTheirNumber) {
  constexpr std::size_t many = 100'000;
  std::vector<std::int64_t> numbers(many);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<std::string> owned;
  for (const auto number : numbers) owned.push_back("payload " + std::to_string(number));
  const std::vector<std::string_view> texts(owned.begin(), owned.end());
  const std::array fields = {Field{"numbers", Type::integers, false}, Field{"texts", Type::texts, false},
                             Field{"bytes", Type::bytes_list, false}};
  const std::array<Param, 3> params = {storage::IntegerList(numbers), storage::StringList(texts),
                                       storage::StringList(texts)};
  const std::array columns = {Field{"matches", Type::integer, false}};
  const bool sqlite = GetParam() == StoreKind::sqlite;
  const std::string joined = sqlite ? "bound_list($1) AS a JOIN bound_list($2) AS b ON b.i = a.i "
                                      "JOIN bound_list($3) AS c ON c.i = a.i"
                                    : "unnest($1, $2, $3) AS list(a, b, c)";
  const std::string same = sqlite ? "b.value = 'payload ' || a.value AND CAST(c.value AS TEXT) = b.value"
                                  : "b = 'payload ' || a AND convert_from(c, 'UTF8') = b";
  EXPECT_EQ(ask("SELECT count(*) FROM " + joined + " WHERE " + same, fields, params, columns),
            (Rows{Row{static_cast<std::int64_t>(many)}}));
}

}  // namespace
}  // namespace leasehold::support
