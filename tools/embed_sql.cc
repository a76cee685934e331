// Turns the paired .sql files into C++, and fails the build where a pair differs.
//
//   embed_sql SQLITE_DIR POSTGRES_DIR OUT_DIR
//
// Each DIR holds sql/*.sql (statements), migrations/NNNN_name.{up,down}.sql (a long one may be a folder of parts), and
// perhaps local/*.sql, scripts that only this dialect needs. Written are statements.h (a struct per statement, the same
// for every dialect), statements.cc, and dialect_*.cc.
//
// A statement file is made of blocks:
//
//   -- record NAME            columns that several statements share: the fields follow
//   -- fragment NAME          text that {NAME} stands for, within this file
//   -- statement NAME read|write [urgent]
//   -- takes FIELD, FIELD...  (optional)
//   -- gives RECORD | FIELD, FIELD...
//   -- each SQL               (optional, only for PostgreSQL)
//   SQL, with :field for the parameters
//
// In the head, lines that go on are indented; any other comment is for people, there and in the SQL.
//
// A FIELD is `name type` with type text, bytes, int, bool, time or duration; `?` after it allows NULL.
//
// It may also be a list: ints, texts or bytes_list, and as a column times. SQLite reads a parameter that is one with
// `SELECT i, value FROM bound_list(:field)`, and gives a row for each value of a column: such an answer is one row, its
// lists gather their columns, the rest is of the first row. On PostgreSQL lists are arrays.
//
// `each` is the same statement for many calls at once: every :field is there the array of the calls' values, and
// the rows begin with a column more, `call`, a bigint that counts from 0 and says whose answer they are. Calls that
// wait at the same time then cost one command. It takes its row locks in the order of the calls.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "embed_sql: " << what << "\n";
  std::exit(1);
}

struct Field {
  std::string name, type;
  bool nullable = false;
  bool operator==(const Field&) const = default;
};

struct Statement {
  std::string name, record, sql, each;
  bool writes = false, urgent = false;
  std::vector<Field> params, columns;
};

struct Dialect {
  std::string name, on_connect;
  std::map<std::string, Statement> statements;
  std::map<std::string, std::vector<Field>> records;
  struct Migration {
    std::string up, down;
  };
  std::map<std::string, Migration> migrations;  // by "0001_lease"
  std::map<std::string, std::string> local;     // by name of the file
};

std::string read(const fs::path& path) {
  std::ifstream in(path);
  if (!in) fail("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

/// How a type is called by everybody else.
struct TypeNames {
  std::string param, cell, enumerator, postgres;
  bool list = false;
};

const std::map<std::string, TypeNames> type_names = {
    {"text", {"std::string_view", "std::string", "text", "text"}},
    {"bytes", {"std::string_view", "std::string", "bytes", "bytea"}},
    {"int", {"std::int64_t", "std::int64_t", "integer", "bigint"}},
    {"bool", {"bool", "bool", "boolean", "boolean"}},
    {"time", {"Timestamp", "Timestamp", "time", "timestamptz"}},
    {"duration", {"Duration", "Duration", "duration", "interval"}},
    {"ints", {"std::span<const std::int64_t>", "std::vector<std::int64_t>", "integers", "bigint[]", true}},
    {"texts", {"std::span<const std::string_view>", "std::vector<std::string>", "texts", "text[]", true}},
    {"bytes_list", {"std::span<const std::string_view>", "std::vector<std::string>", "bytes_list", "bytea[]", true}},
    {"times", {"", "std::vector<Timestamp>", "times", "timestamptz[]", true}},
};

bool is_list(const Field& field) { return type_names.at(field.type).list; }

std::vector<Field> parse_fields(const std::string& text, const std::string& where) {
  std::vector<Field> fields;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    std::stringstream words(part);
    Field field;
    words >> field.name >> field.type;
    if (!field.type.empty() && field.type.back() == '?') {
      field.nullable = true;
      field.type.pop_back();
    }
    if (!type_names.contains(field.type)) fail(where + ": cannot read the field '" + part + "'");
    if (is_list(field) && field.nullable) fail(where + ": the list '" + field.name + "' cannot be NULL");
    fields.push_back(field);
  }
  return fields;
}

// Calls back for every :name outside of strings, comments and casts.
template <typename OnText, typename OnParam>
void scan_params(const std::string& sql, OnText text, OnParam param) {
  for (std::size_t i = 0; i < sql.size();) {
    if (sql[i] == '\'') {
      const auto end = sql.find('\'', i + 1);
      const auto length = end == std::string::npos ? sql.size() - i : end - i + 1;
      text(sql.substr(i, length));
      i += length;
    } else if (sql.compare(i, 2, "::") == 0) {
      text("::");
      i += 2;
    } else if (sql[i] == ':' && i + 1 < sql.size() && std::islower(static_cast<unsigned char>(sql[i + 1]))) {
      auto end = i + 1;
      while (end < sql.size() && (std::isalnum(static_cast<unsigned char>(sql[end])) || sql[end] == '_')) ++end;
      param(sql.substr(i + 1, end - i - 1));
      i = end;
    } else {
      text(std::string(1, sql[i++]));
    }
  }
}

void check_params(const Statement& statement, const std::string& sql, const std::string& where) {
  std::set<std::string> used;
  scan_params(
      sql, [](const std::string&) {}, [&](const std::string& name) { used.insert(name); });
  for (const auto& field : statement.params) {
    if (!used.erase(field.name)) fail(where + ": the parameter '" + field.name + "' is never used");
  }
  used.erase("now");
  used.erase("wall");
  if (!used.empty()) fail(where + ": the parameter '" + *used.begin() + "' is not declared");
}

void check_statement(const Statement& statement, const std::string& where) {
  check_params(statement, statement.sql, where);
  const auto& params = statement.params;
  for (const auto& field : params) {
    if (type_names.at(field.type).param.empty()) fail(where + ": '" + field.name + "' can only be a column");
  }
  if (statement.each.empty()) return;
  check_params(statement, statement.each, where + ": each");
  if (params.empty()) fail(where + ": takes nothing, so an each-form could not tell how many calls there are");
  if (std::any_of(params.begin(), params.end(), is_list)) fail(where + ": takes a list, so it has no each-form");
  if (!statement.writes) fail(where + ": only calls that write travel together, so it has no each-form");
}

std::string expand(std::string sql, const std::map<std::string, std::string>& fragments) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [name, text] : fragments) {
      const std::string mark = "{" + name + "}";
      for (auto at = sql.find(mark); at != std::string::npos; at = sql.find(mark)) {
        sql.replace(at, mark.size(), text);
        changed = true;
      }
    }
  }
  return sql;
}

void strip_trailing_space(std::string& text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
}

class FileParser {
 public:
  FileParser(Dialect& dialect, fs::path path) : dialect_(dialect), path_(std::move(path)) {}

  void parse() {
    std::ifstream in(path_);
    for (std::string line; std::getline(in, line);) take(line);
    finish_block();
  }

 private:
  enum class Block { none, record, fragment, statement };
  enum class Part { none, fields, takes, gives, each };

  void take(const std::string& line) {
    static const std::regex head(R"(-- (record|fragment|statement) (\w+) ?(read|write)? ?(urgent)?)");
    std::smatch match;
    if (std::regex_match(line, match, head)) {
      finish_block();
      start_block(match);
    } else if (block_ != Block::none && line.starts_with("--")) {
      if (body_.empty()) take_comment(line.substr(2));
    } else if (block_ != Block::none) {
      part_ = Part::none;
      body_ += line + "\n";
    }
  }

  void start_block(const std::smatch& match) {
    name_ = match[2];
    body_.clear();
    fields_.clear();
    takes_.clear();
    gives_.clear();
    each_.clear();
    statement_ = {};
    statement_.writes = match[3] == "write";
    statement_.urgent = match[4].matched;
    block_ = match[1] == "record" ? Block::record : match[1] == "fragment" ? Block::fragment : Block::statement;
    part_ = block_ == Block::record ? Part::fields : Part::none;
  }

  void take_comment(const std::string& text) {
    static const std::map<std::string, Part> parts = {
        {" takes ", Part::takes}, {" gives ", Part::gives}, {" each ", Part::each}};
    if (!text.starts_with("  ")) part_ = Part::none;
    auto rest = text;
    for (const auto& [word, part] : parts) {
      if (!text.starts_with(word)) continue;
      part_ = part;
      rest = text.substr(word.size());
    }
    if (part_ == Part::fields) fields_ += rest;
    if (part_ == Part::takes) takes_ += rest;
    if (part_ == Part::gives) gives_ += rest;
    if (part_ == Part::each) each_ += rest;
  }

  void finish_block() {
    const auto where = path_.string() + ": " + name_;
    strip_trailing_space(body_);
    if (block_ == Block::record) dialect_.records[name_] = parse_fields(fields_, where);
    if (block_ == Block::fragment) fragments_[name_] = body_;
    if (block_ == Block::statement) finish_statement(where);
    block_ = Block::none;
  }

  void finish_statement(const std::string& where) {
    statement_.name = name_;
    statement_.sql = expand(body_, fragments_);
    statement_.each = expand(each_, fragments_);
    statement_.params = parse_fields(takes_, where);
    if (gives_.find(' ') == std::string::npos) {
      statement_.record = gives_;
      if (!dialect_.records.contains(gives_)) fail(where + ": there is no record '" + gives_ + "'");
      statement_.columns = dialect_.records[gives_];
    } else {
      statement_.columns = parse_fields(gives_, where);
    }
    if (!each_.empty() && dialect_.name != "postgresql") fail(where + ": only PostgreSQL has an each-form");
    check_statement(statement_, where);
    if (!dialect_.statements.emplace(name_, statement_).second) fail(where + ": declared twice");
  }

  Dialect& dialect_;
  fs::path path_;
  Block block_ = Block::none;
  Part part_ = Part::none;
  std::string name_, body_, fields_, takes_, gives_, each_;
  Statement statement_;
  std::map<std::string, std::string> fragments_;
};

std::vector<fs::path> sorted_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".sql") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// NNNN_name.up.sql, NNNN_name.down.sql; a long one is a folder NNNN_name.up of parts, put together in their order.
void read_migrations(Dialect& dialect, const fs::path& folder) {
  const auto add = [&dialect](const std::string& stem, const fs::path& path) {  // 0001_lease.up
    const auto dot = stem.rfind('.');
    if (dot == std::string::npos) fail(path.string() + ": expected NNNN_name.up.sql or .down.sql");
    auto& migration = dialect.migrations[stem.substr(0, dot)];
    (stem.substr(dot) == ".up" ? migration.up : migration.down) += read(path);
  };
  for (const auto& path : sorted_files(folder)) add(path.stem().string(), path);
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    for (const auto& part : sorted_files(entry.path())) add(entry.path().filename().string(), part);
  }
}

Dialect read_dialect(const std::string& name, const fs::path& folder) {
  Dialect dialect;
  dialect.name = name;
  for (const auto& path : sorted_files(folder / "sql")) {
    if (path.filename().string().starts_with("connection")) {
      dialect.on_connect += read(path);
    } else {
      FileParser(dialect, path).parse();
    }
  }
  read_migrations(dialect, folder / "migrations");
  if (fs::exists(folder / "local")) {
    for (const auto& path : sorted_files(folder / "local")) dialect.local[path.stem().string()] = read(path);
  }
  return dialect;
}

void check_pair(const Dialect& a, const Dialect& b) {
  for (const auto& [name, left] : a.statements) {
    const auto found = b.statements.find(name);
    if (found == b.statements.end()) fail(b.name + " has no statement '" + name + "'");
    const auto& right = found->second;
    if (left.params != right.params) fail(name + ": the parameters differ between " + a.name + " and " + b.name);
    if (left.columns != right.columns) fail(name + ": the columns differ between " + a.name + " and " + b.name);
    if (left.writes != right.writes || left.urgent != right.urgent) fail(name + ": read/write/urgent differ");
  }
  for (const auto& [name, migration] : a.migrations) {
    if (!b.migrations.contains(name)) fail(b.name + " has no migration '" + name + "'");
    if (migration.up.empty() || migration.down.empty()) fail(a.name + " " + name + ": up and down are both needed");
  }
}

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

void write_record(std::ostream& out, const std::string& name, const std::vector<Field>& fields,
                  const std::string& indent) {
  out << indent << "struct " << name << " {\n";
  for (const auto& field : fields) out << indent << "  " << cpp_type(field, false) << " " << field.name << "{};\n";
  out << indent << "  static " << name << " decode(storage::Row&& row) {\n" << indent << "    " << name << " out;\n";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    out << indent << "    storage::decode(std::move(row[" << i << "]), out." << fields[i].name << ");\n";
  }
  out << indent << "    return out;\n" << indent << "  }\n" << indent << "};\n";
}

void write_header(std::ostream& out, const Dialect& dialect) {
  out << "// Generated by tools/embed_sql from the .sql pairs.\n#pragma once\n\n"
         "#include <array>\n#include <cstdint>\n#include <optional>\n#include <span>\n#include <string>\n"
         "#include <string_view>\n#include <utility>\n#include <vector>\n\n"
         "#include \"leasehold/time.h\"\n#include \"storage/codec.h\"\n#include \"storage/statement.h\"\n\n"
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

// Raw strings have a limit in some compilers; this keeps every piece far below it.
std::string literal(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size() || at == 0; at += 8000) {
    out += "R\"__sql__(" + text.substr(at, 8000) + ")__sql__\"\n";
  }
  return out;
}

// :name becomes $1::type, with the number of the parameter; `array` stands behind the type.
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
      << "/dialect.h\"\n\nnamespace leasehold::" << (postgres ? "postgres" : "sqlite") << " {\nnamespace {\n\n"
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

// Leaves an unchanged file alone, so that nothing is compiled again for nothing.
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

int main(int argc, char** argv) {
  if (argc != 4) fail("usage: embed_sql SQLITE_DIR POSTGRES_DIR OUT_DIR");
  const auto sqlite = read_dialect("sqlite", argv[1]);
  const auto postgres = read_dialect("postgresql", argv[2]);
  check_pair(sqlite, postgres);
  check_pair(postgres, sqlite);
  const fs::path out = argv[3];
  generate(out / "storage/statements.h", sqlite, write_header);
  generate(out / "storage/statements.cc", sqlite, write_statements);
  generate(out / "storage/dialect_sqlite.cc", sqlite, write_dialect);
  generate(out / "storage/dialect_postgres.cc", postgres, write_dialect);
  return 0;
}
