#include "storage/sqlite/values.h"

#include <array>
#include <new>
#include <string_view>

namespace leasehold::sqlite {
namespace {

using storage::IntegerList;
using storage::Param;
using storage::StringList;
using storage::Type;

/// SQLite returns a pointer only under the name it was bound with: SQL text cannot forge one.
struct ListKind {
  Type type;
  const char* pointer_name;
};
constexpr std::array<ListKind, 3> kinds = {{
    {Type::integers, "leasehold-ints"},
    {Type::texts, "leasehold-texts"},
    {Type::bytes_list, "leasehold-bytes"},
}};

enum Column { index_column, value_column, list_column };

/// What xBestIndex passes to xFilter: the list only, or the list and one index.
enum Plan { all_elements = 0, one_element = 1 };

/// The length is unknown when a statement is prepared. A typical batch is closer to a hundred than to SQLite's default
/// guess for a table, a million: joined tables should be looked up, not scanned.
constexpr sqlite3_int64 typical_length = 100;

struct Cursor : sqlite3_vtab_cursor {
  IntegerList integers;
  StringList strings;
  bool is_text = false;
  std::size_t at = 0;
  std::size_t end = 0;
};

Cursor& own(sqlite3_vtab_cursor* cursor) { return *static_cast<Cursor*>(cursor); }

int complain(sqlite3_vtab* table, const char* message) {
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = sqlite3_mprintf("%s", message);
  return SQLITE_ERROR;
}

int connect(sqlite3* database, void*, int, const char* const*, sqlite3_vtab** table, char**) {
  const int code = sqlite3_declare_vtab(database, "CREATE TABLE x(i INTEGER, value, list HIDDEN)");
  if (code != SQLITE_OK) return code;
  // For statements with bound values, never for a view or trigger in a user's schema.
  sqlite3_vtab_config(database, SQLITE_VTAB_DIRECTONLY);
  *table = new (std::nothrow) sqlite3_vtab{};
  return *table == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete table;
  return SQLITE_OK;
}

int find_constraint(const sqlite3_index_info& info, Column column, bool usable) {
  for (int c = 0; c < info.nConstraint; ++c) {
    const auto& constraint = info.aConstraint[c];
    const bool fits = constraint.iColumn == column && constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
    if (fits && (constraint.usable != 0) == usable) return c;
  }
  return -1;
}

bool wants_order_of_the_list(const sqlite3_index_info& info) {
  return info.nOrderBy == 1 && info.aOrderBy[0].iColumn == index_column && info.aOrderBy[0].desc == 0;
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  const int list = find_constraint(*info, list_column, true);
  if (list < 0) {
    // The list comes from a table later in the join: another order of the tables works.
    if (find_constraint(*info, list_column, false) >= 0) return SQLITE_CONSTRAINT;
    return complain(table, "bound_list needs its list: bound_list(:field)");
  }
  info->aConstraintUsage[list] = {.argvIndex = 1, .omit = 1};
  info->idxNum = all_elements;
  info->estimatedRows = typical_length;
  if (const int index = find_constraint(*info, index_column, true); index >= 0) {
    info->aConstraintUsage[index] = {.argvIndex = 2, .omit = 1};
    info->idxNum = one_element;
    info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    info->estimatedRows = 1;
  }
  info->estimatedCost = static_cast<double>(info->estimatedRows);
  info->orderByConsumed = wants_order_of_the_list(*info) ? 1 : 0;
  return SQLITE_OK;
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  *cursor = new (std::nothrow) Cursor{};
  return *cursor == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  delete &own(cursor);
  return SQLITE_OK;
}

/// False: it is not one of our lists.
bool take_list(Cursor& cursor, sqlite3_value* value) {
  for (const auto& kind : kinds) {
    const void* bound = sqlite3_value_pointer(value, kind.pointer_name);
    if (bound == nullptr) continue;
    const auto& param = *static_cast<const Param*>(bound);
    const auto* integers = std::get_if<IntegerList>(&param);
    const auto* strings = std::get_if<StringList>(&param);
    cursor.integers = integers != nullptr ? *integers : IntegerList{};
    cursor.strings = strings != nullptr ? *strings : StringList{};
    cursor.is_text = kind.type == Type::texts;
    cursor.at = 0;
    cursor.end = cursor.integers.size() + cursor.strings.size();
    return true;
  }
  return false;
}

/// `i = x` matches only an integer within the list.
void narrow_to(Cursor& cursor, sqlite3_value* index) {
  const auto wanted = sqlite3_value_int64(index);
  const bool whole = sqlite3_value_type(index) == SQLITE_INTEGER;
  if (!whole || wanted < 0 || static_cast<std::size_t>(wanted) >= cursor.end) {
    cursor.end = 0;
    return;
  }
  cursor.at = static_cast<std::size_t>(wanted);
  cursor.end = cursor.at + 1;
}

int filter(sqlite3_vtab_cursor* base, int plan, const char*, int, sqlite3_value** values) {
  auto& cursor = own(base);
  if (!take_list(cursor, values[0])) return complain(base->pVtab, "bound_list needs a list");
  if (plan == one_element) narrow_to(cursor, values[1]);
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
  ++own(cursor).at;
  return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* cursor) { return own(cursor).at >= own(cursor).end ? 1 : 0; }

/// Not copied: the list outlives the statement's run.
void give_string(sqlite3_context* context, std::string_view value, bool is_text) {
  const auto* data = value.data() == nullptr ? "" : value.data();
  if (is_text) {
    sqlite3_result_text64(context, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
  } else {
    sqlite3_result_blob64(context, data, value.size(), SQLITE_STATIC);
  }
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
  const auto& cursor = own(base);
  if (number == index_column) {
    sqlite3_result_int64(context, static_cast<sqlite3_int64>(cursor.at));
  } else if (number == value_column && !cursor.integers.empty()) {
    sqlite3_result_int64(context, cursor.integers[cursor.at]);
  } else if (number == value_column) {
    give_string(context, cursor.strings[cursor.at], cursor.is_text);
  }
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = static_cast<sqlite3_int64>(own(cursor).at);
  return SQLITE_OK;
}

/// Without xCreate the module needs no CREATE VIRTUAL TABLE, and does not permit one.
constexpr sqlite3_module bound_list_module = {
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xOpen = open,
    .xClose = close,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = row_id,
};

}  // namespace

int register_bound_list(sqlite3* database) {
  return sqlite3_create_module_v2(database, "bound_list", &bound_list_module, nullptr, nullptr);
}

int bind_list(sqlite3_stmt* statement, int place, Type type, const Param& list) {
  const bool integers = std::holds_alternative<IntegerList>(list);
  for (const auto& kind : kinds) {
    if (kind.type != type || integers != (type == Type::integers)) continue;
    // SQLite passes the pointer through and never writes to it.
    return sqlite3_bind_pointer(statement, place, const_cast<Param*>(&list), kind.pointer_name, nullptr);
  }
  return SQLITE_MISMATCH;
}

}  // namespace leasehold::sqlite
