// Turns the paired .sql files into C++, and fails the build if a pair differs.
//
//   embed_sql LIMITS_HEADER SQLITE_DIR POSTGRES_DIR OUT_DIR
//   embed_sql LIMITS_HEADER POSTGRES_FILE                      shows that file with its constants
//
// Each DIR contains sql/*.sql (statements), migrations/NNNN_name.{up,down}.sql (a long one may be a folder of parts),
// and optionally local/*.sql, scripts that only this dialect needs. The output is statements.h (a struct per statement,
// the same for every dialect), statements.cc, and dialect_*.cc.
//
// A statement file consists of blocks:
//
//   -- record NAME            columns that several statements share: the fields follow
//   -- fragment NAME          text that {NAME} stands for, within this file
//   -- statement NAME read|write [urgent]
//   -- takes FIELD, FIELD...  (optional)
//   -- gives RECORD | FIELD, FIELD...
//   -- each SQL               (optional, only for PostgreSQL)
//   SQL, with :field for the parameters
//
// In every .sql file {defaults.NAME} and {bounds.NAME} stand for a constant of LIMITS_HEADER: see sql_constants.h.
//
// In the head, continuation lines are indented; any other comment, there and in the SQL, is for people.
//
// A FIELD is `name type` with type text, bytes, int, bool, time or duration; `?` after it allows NULL.
//
// It may also be a list: ints, texts or bytes_list, and as a column times. SQLite reads a list parameter with `SELECT
// i, value FROM bound_list(:field)`, and returns a row for each value of a list column: such an answer becomes one row,
// its lists collect their columns, the rest comes from the first row. On PostgreSQL lists are arrays.
//
// The column with the outcome of an act has the type `outcome` (storage::Outcome), a text for SQL.
//
// `each` is the same statement for many calls at once: every :field is the array of the calls' values, and the rows
// begin with an extra column, `call`, a bigint that counts from 0 and names the call. Calls that wait at the same time
// then cost one command. It takes its row locks in the order of the calls.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "sql_files.h"

namespace fs = std::filesystem;

namespace embed_sql {
namespace {

std::string pascal(const std::string& name) {
  std::string out;
  bool upper = true;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
    } else {
      out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
  }
  return out;
}

std::string cpp_type(const Field& field, bool param) {
  const auto& names = type_names.at(field.type);
  const auto& type = param ? names.param : names.cell;
  return field.nullable ? "std::optional<" + type + ">" : type;
}

// A struct of the public API has members with the columns' names. The compiler compares the two at each conversion.
void write_members(std::ostream& out, const std::string& name, const std::vector<Field>& fields,
                   const std::string& indent) {
  const auto assign = [](const std::string& from, const std::string& to, const std::string& field) {
    return "storage::assign(std::move(" + from + field + "), " + to + field + ")";
  };
  out << indent << "  template <typename T>\n"
      << indent << "  static consteval std::size_t columns_in() {\n"
      << indent << "    return 0";
  for (const auto& field : fields) {
    out << "\n"
        << indent << "           + (requires(" << name << " row, T out) { " << assign("row.", "out.", field.name)
        << "; } ? 1 : 0)";
  }
  out << ";\n"
      << indent << "  }\n"
      << indent << "  template <typename T, std::size_t others = 0>\n"
      << indent << "  T as() && {\n"
      << indent << "    static_assert(columns_in<T>() + others == count_members<T>(), \"a member has no column\");\n"
      << indent << "    T out{};\n";
  for (const auto& field : fields) {
    const auto assignment = assign("this->", "out.", field.name) + ";";
    out << indent << "    if constexpr (requires { " << assignment << " }) " << assignment << "\n";
  }
  out << indent << "    return out;\n" << indent << "  }\n";
}

void write_record(std::ostream& out, const std::string& name, const std::vector<Field>& fields,
                  const std::string& indent) {
  out << indent << "struct " << name << " {\n";
  for (const auto& field : fields) out << indent << "  " << cpp_type(field, false) << " " << field.name << "{};\n";
  out << indent << "  static " << name << " decode(storage::Row&& row) {\n" << indent << "    " << name << " out;\n";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    out << indent << "    storage::decode(std::move(row[" << i << "]), out." << fields[i].name << ");\n";
  }
  out << indent << "    return out;\n" << indent << "  }\n";
  write_members(out, name, fields, indent);
  out << indent << "};\n";
}

void write_header(std::ostream& out, const Dialect& dialect) {
  out << "// Generated by tools/embed_sql from the .sql pairs.\n#pragma once\n\n"
         "#include <array>\n#include <cstdint>\n#include <optional>\n#include <span>\n#include <string>\n"
         "#include <string_view>\n#include <utility>\n#include <vector>\n\n"
         "#include \"base/members.h\"\n#include \"leasehold/time.h\"\n#include \"storage/statement.h\"\n\n"
         "namespace leasehold::sql {\n\n";
  for (const auto& [name, fields] : dialect.records) write_record(out, pascal(name), fields, "");
  out << "\nconst storage::Statement& statement_at(int index);\ninline constexpr int statement_count = "
      << dialect.statements.size() << ";\n";
  int index = 0;
  for (const auto& [name, statement] : dialect.statements) {
    out << "\nstruct " << pascal(name) << " {\n";
    for (const auto& field : statement.params) out << "  " << cpp_type(field, true) << " " << field.name << "{};\n";
    if (statement.record.empty()) {
      write_record(out, "Row", statement.columns, "  ");
    } else {
      out << "  using Row = " << pascal(statement.record) << ";\n";
    }
    out << "  [[nodiscard]] std::array<storage::Param, " << statement.params.size() << "> params() const {\n"
        << "    return {";
    for (const auto& field : statement.params) out << "storage::encode(" << field.name << "), ";
    out << "};\n  }\n  static const storage::Statement& statement() { return statement_at(" << index++ << "); }\n};\n";
  }
  out << "\n}  // namespace leasehold::sql\n";
}

void write_fields(std::ostream& out, const std::string& name, const std::vector<Field>& fields) {
  out << "constexpr std::array<Field, " << fields.size() << "> " << name << " = {{";
  for (const auto& field : fields) {
    const auto& type = type_names.at(field.type).enumerator;
    out << "{\"" << field.name << "\", Type::" << type << ", " << (field.nullable ? "true" : "false") << "}, ";
  }
  out << "}};\n";
}

void write_statements(std::ostream& out, const Dialect& dialect) {
  out << "// Generated by tools/embed_sql.\n#include \"storage/statements.h\"\n\n#include <array>\n\n"
         "namespace leasehold::sql {\nnamespace {\n\nusing storage::Access;\nusing storage::Field;\nusing "
         "storage::Type;\n\n";
  for (const auto& [name, statement] : dialect.statements) {
    write_fields(out, name + "_params", statement.params);
    write_fields(out, name + "_columns", statement.columns);
  }
  out << "\nconstexpr std::array<storage::Statement, " << dialect.statements.size() << "> statements = {{\n";
  int index = 0;
  for (const auto& [name, statement] : dialect.statements) {
    out << "    {" << index++ << ", \"" << name << "\", Access::" << (statement.writes ? "write" : "read") << ", "
        << (statement.urgent ? "true" : "false") << ", " << name << "_params, " << name << "_columns},\n";
  }
  out << "}};\n\n}  // namespace\n\nconst storage::Statement& statement_at(int index) {\n"
         "  return statements[static_cast<std::size_t>(index)];\n}\n\n}  // namespace leasehold::sql\n";
}

// Some compilers bound the length of raw strings; this keeps every piece far below it.
std::string literal(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size() || at == 0; at += 8000) {
    out += "R\"__sql__(" + text.substr(at, 8000) + ")__sql__\"\n";
  }
  return out;
}

// :name becomes $1::type, with the number of the parameter; `array` follows the type.
std::string for_postgres(const Statement& statement, const std::string& sql, const std::string& array) {
  std::string out;
  scan_params(
      sql, [&](const std::string& text) { out += text; },
      [&](const std::string& name) {
        const auto at = std::find_if(statement.params.begin(), statement.params.end(),
                                     [&](const Field& field) { return field.name == name; });
        if (at == statement.params.end()) fail(statement.name + ": :" + name + " is not for PostgreSQL");
        out += "$" + std::to_string(at - statement.params.begin() + 1) + "::";
        out += type_names.at(at->type).postgres + array;
      });
  while (!out.empty() && out.back() == ';') out.pop_back();
  return out;
}

void write_dialect(std::ostream& out, const Dialect& dialect) {
  const bool postgres = dialect.name == "postgresql";
  out << "// Generated by tools/embed_sql.\n#include <array>\n\n#include \"storage/"
      << (postgres ? "postgres" : "sqlite")
      << "/backend.h\"\n\nnamespace leasehold::" << (postgres ? "postgres" : "sqlite") << " {\nnamespace {\n\n"
      << "constexpr std::array<std::string_view, " << dialect.statements.size() << "> texts = {{\n";
  for (const auto& [name, statement] : dialect.statements) {
    out << literal(postgres ? for_postgres(statement, statement.sql, "") : statement.sql) << ",\n";
  }
  out << "}};\n\nconstexpr std::array<std::string_view, " << dialect.statements.size() << "> each_texts = {{\n";
  for (const auto& [name, statement] : dialect.statements) {
    out << literal(for_postgres(statement, statement.each, "[]")) << ",\n";
  }
  out << "}};\n\nconstexpr std::array<storage::Migration, " << dialect.migrations.size() << "> migrations = {{\n";
  for (const auto& [name, migration] : dialect.migrations) {
    out << "{" << std::stoi(name.substr(0, 4)) << ", \"" << name.substr(5) << "\",\n"
        << literal(migration.up) << ",\n"
        << literal(migration.down) << "},\n";
  }
  out << "}};\n\nconstexpr std::string_view on_connect =\n"
      << literal(dialect.on_connect) << ";\n\n}  // namespace\n\n"
      << "const storage::Dialect& dialect() {\n  static constexpr storage::Dialect value{\"" << dialect.name
      << "\", texts, each_texts, migrations, on_connect};\n  return value;\n}\n\nnamespace local {\n";
  for (const auto& [name, text] : dialect.local) {
    out << "extern const std::string_view " << name << ";\nconst std::string_view " << name << " =\n"
        << literal(text) << ";\n";
  }
  out << "}\n\n}\n";
}

// Leaves an unchanged file alone, to avoid needless compilation.
void save(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && read(path) == text) return;
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

template <typename Write>
void generate(const fs::path& path, const Dialect& dialect, Write write) {
  std::ostringstream out;
  write(out, dialect);
  save(path, out.str());
}

}  // namespace
}  // namespace embed_sql

int main(int argc, char** argv) {
  using namespace embed_sql;
  if (argc != 5 && argc != 3) {
    fail("usage: embed_sql LIMITS_HEADER SQLITE_DIR POSTGRES_DIR OUT_DIR, or embed_sql LIMITS_HEADER POSTGRES_FILE");
  }
  const auto constants = Constants::from(argv[1]);
  // One PostgreSQL file in executable form, for tests that load a part of the schema.
  if (argc == 3) {
    std::cout << constants.put_into(read(argv[2]), argv[2], "postgresql");
    return 0;
  }
  const auto sqlite = read_dialect("sqlite", argv[2], constants);
  const auto postgres = read_dialect("postgresql", argv[3], constants);
  check_pair(sqlite, postgres);
  check_pair(postgres, sqlite);
  const fs::path out = argv[4];
  generate(out / "storage/statements.h", sqlite, write_header);
  generate(out / "storage/statements.cc", sqlite, write_statements);
  generate(out / "storage/dialect_sqlite.cc", sqlite, write_dialect);
  generate(out / "storage/dialect_postgres.cc", postgres, write_dialect);
  return 0;
}
