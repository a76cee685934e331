// Values on their way into SQLite and out of it again: single ones and lists.
#include <sqlite3.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/property.h"
#include "storage/sqlite/values.h"

namespace leasehold::fuzz {
namespace {

using storage::Cell;
using storage::Param;
using storage::Row;
using storage::Type;

using Prepared = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

sqlite3* database() {
  static sqlite3* const opened = [] {
    sqlite3* made = nullptr;
    require(sqlite3_open(":memory:", &made) == SQLITE_OK, "there is a database in memory");
    require(sqlite::register_bound_list(made) == SQLITE_OK, "it knows bound_list");
    return made;
  }();
  return opened;
}

Prepared prepare(const char* sql) {
  sqlite3_stmt* made = nullptr;
  require(sqlite3_prepare_v2(database(), sql, -1, &made, nullptr) == SQLITE_OK, "the statement can be prepared");
  return {made, &sqlite3_finalize};
}

std::string_view text_in(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr ? std::string_view(*text) : std::string_view();
}

void check_single(Input input) {
  constexpr std::array<Type, 6> types = {Type::text,    Type::bytes, Type::integer,
                                         Type::boolean, Type::time,  Type::duration};
  const auto statement = prepare("SELECT ?1, ?2, typeof(?2), ?3 || ''");
  const auto number = input.number<std::int64_t>();
  const auto number_type = types.at(2 + input.choice(4));
  const auto string_type = types.at(input.choice(2));
  const bool is_null = input.choice(8) == 0;
  const Param number_param = number;
  const Param string_param = is_null ? Param() : Param(input.rest());
  require(sqlite::bind_value(statement.get(), 1, number_type, number_param) == SQLITE_OK, "a number is bound");
  require(sqlite::bind_value(statement.get(), 2, string_type, string_param) == SQLITE_OK, "a string or NULL is bound");
  require(sqlite::bind_value(statement.get(), 3, Type::integer, number_param) == SQLITE_OK, "a number is bound twice");
  require(sqlite3_step(statement.get()) == SQLITE_ROW, "there is a row");

  const auto row = sqlite::read_row(statement.get());
  require(row.size() == 4, "a row has its columns");
  require(row[0] == Cell(number), "a number comes back as it was");
  require(row[1] == (is_null ? Cell() : Cell(std::string(input.rest()))), "bytes come back as they were, NUL included");
  require(text_in(row[2]) == (is_null ? "null" : string_type == Type::bytes ? "blob" : "text"), "a value has its type");
  const auto texts = sqlite::read_text_row(statement.get());
  require(texts.size() == 4 && text_in(texts[0]) == std::to_string(number), "as text a number is its digits");
  require(text_in(texts[3]) == std::to_string(number), "and SQL says the same");
}

/// The rows of `SELECT value`, in the order of the list.
std::vector<Cell> read_back(Type type, const Param& list) {
  const auto statement = prepare("SELECT value FROM bound_list(?1) ORDER BY i");
  require(sqlite::bind_value(statement.get(), 1, type, list) == SQLITE_OK, "a list is bound");
  std::vector<Cell> cells;
  while (sqlite3_step(statement.get()) == SQLITE_ROW) cells.push_back(sqlite::read_row(statement.get()).at(0));
  return cells;
}

/// The same as one list, with NULLs between its values, which are left out.
Row gather(Type type, const Param& list) {
  const auto statement = prepare(
      "SELECT 7 + i, value FROM (SELECT i, value FROM bound_list(?1) UNION ALL SELECT i, NULL FROM "
      "bound_list(?1)) ORDER BY i, value IS NULL");
  require(sqlite::bind_value(statement.get(), 1, type, list) == SQLITE_OK, "a list is bound");
  const std::array columns = {storage::Field{"first", Type::integer, false}, storage::Field{"values", type, false}};
  storage::Rows rows;
  while (sqlite3_step(statement.get()) == SQLITE_ROW) sqlite::gather_row(statement.get(), columns, rows);
  require(rows.size() <= 1, "an answer with lists is one row");
  return rows.empty() ? Row() : rows.front();
}

void check_strings(Type type, Input input) {
  std::vector<std::string_view> strings;
  std::vector<Cell> wanted;
  while (!input.empty()) {
    strings.push_back(input.part(','));
    wanted.emplace_back(std::string(strings.back()));
  }
  const Param list = storage::StringList(strings);
  require(read_back(type, list) == wanted, "a list of strings comes back as it was");
  const std::vector<std::string> gathered(strings.begin(), strings.end());
  require(gather(type, list) == (strings.empty() ? Row() : Row{7, gathered}), "and as a list");
}

void check_integers(Input input) {
  std::vector<std::int64_t> numbers;
  std::vector<Cell> wanted;
  while (!input.empty()) {
    numbers.push_back(input.number<std::int64_t>());
    wanted.emplace_back(numbers.back());
  }
  const Param list = storage::IntegerList(numbers);
  require(read_back(Type::integers, list) == wanted, "a list of numbers comes back as it was");
  require(gather(Type::integers, list) == (numbers.empty() ? Row() : Row{7, numbers}), "and as a list");
  const auto statement = prepare("SELECT count(*) FROM bound_list(?1) WHERE i = ?2");
  require(sqlite::bind_value(statement.get(), 1, Type::integers, list) == SQLITE_OK, "a list is bound");
  const std::int64_t index = numbers.empty() ? 0 : numbers.front();
  sqlite3_bind_int64(statement.get(), 2, index);
  require(sqlite3_step(statement.get()) == SQLITE_ROW, "there is a row");
  const bool within = index >= 0 && static_cast<std::size_t>(index) < numbers.size();
  require(sqlite3_column_int64(statement.get(), 0) == (within ? 1 : 0), "one index has one element, within the list");
}

void check_mismatch() {
  const auto statement = prepare("SELECT value FROM bound_list(?1)");
  const std::int64_t number = 1;
  const Param numbers = storage::IntegerList(&number, 1);
  require(sqlite::bind_value(statement.get(), 1, Type::texts, numbers) == SQLITE_MISMATCH, "numbers are no texts");
}

}  // namespace
}  // namespace leasehold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  const Input input(data, size);
  check_single(input);
  check_strings(leasehold::storage::Type::texts, input);
  check_strings(leasehold::storage::Type::bytes_list, input);
  check_integers(input);
  check_mismatch();
  return 0;
}
