#include "sql_files.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>

namespace fs = std::filesystem;

namespace embed_sql {

void fail(const std::string& what) {
  std::cerr << "embed_sql: " << what << "\n";
  std::exit(1);
}

const std::map<std::string, TypeNames> type_names = {
    {"text", {"std::string_view", "std::string", "text", "text"}},
    {"outcome", {"", "storage::Outcome", "text", "text"}},
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

std::string read(const fs::path& path) {
  std::ifstream in(path);
  if (!in) fail("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

namespace {

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

  void parse(const std::string& text) {
    std::stringstream in(text);
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

/// NNNN_name.up.sql, NNNN_name.down.sql; a long one is a folder NNNN_name.up of parts, joined in order.
template <typename Read>
void read_migrations(Dialect& dialect, const fs::path& folder, const Read& read_sql) {
  const auto add = [&](const std::string& stem, const fs::path& path) {  // 0001_lease.up
    const auto dot = stem.rfind('.');
    if (dot == std::string::npos) fail(path.string() + ": expected NNNN_name.up.sql or .down.sql");
    auto& migration = dialect.migrations[stem.substr(0, dot)];
    (stem.substr(dot) == ".up" ? migration.up : migration.down) += read_sql(path);
  };
  for (const auto& path : sorted_files(folder)) add(path.stem().string(), path);
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    for (const auto& part : sorted_files(entry.path())) add(entry.path().filename().string(), part);
  }
}

}  // namespace

Dialect read_dialect(const std::string& name, const fs::path& folder, const Constants& constants) {
  const auto read_sql = [&](const fs::path& path) { return constants.put_into(read(path), path, name); };
  Dialect dialect;
  dialect.name = name;
  for (const auto& path : sorted_files(folder / "sql")) {
    if (path.filename().string().starts_with("connection")) {
      dialect.on_connect += read_sql(path);
    } else {
      FileParser(dialect, path).parse(read_sql(path));
    }
  }
  read_migrations(dialect, folder / "migrations", read_sql);
  if (fs::exists(folder / "local")) {
    for (const auto& path : sorted_files(folder / "local")) dialect.local[path.stem().string()] = read_sql(path);
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

}  // namespace embed_sql
