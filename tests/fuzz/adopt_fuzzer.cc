// Files that `leasehold adopt` reads: they are understood or refused in one line that names the place, and a plan
// changes nothing in the database, whatever SQL the file has.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "adopt/description.h"
#include "adopt/fragments.h"
#include "base/text.h"
#include "fuzz/property.h"
#include "leasehold/adopt.h"
#include "support/sqlite.h"

namespace leasehold::fuzz {
namespace {

constexpr std::string_view file_name = "adopt.toml";

/// A database with tables that a file may name. It is removed at the end of the process.
class Database {
 public:
  Database() {
    std::string folder = "/tmp/leasehold-fuzz-XXXXXX";
    require(::mkdtemp(folder.data()) != nullptr, "a folder can be made");
    folder_ = folder;
    path_ = folder_ + "/app.db";
    support::SqliteFile file(path_);
    file.run(
        "CREATE TABLE jobs (id integer PRIMARY KEY, status text NOT NULL DEFAULT 'PENDING', priority integer NOT NULL "
        "DEFAULT 0, error text, crashes integer NOT NULL DEFAULT 0, next_at text)");
    file.run("CREATE TABLE locks (name text PRIMARY KEY, note text)");
    file.run("CREATE TABLE work (id text PRIMARY KEY, beat text, item text, active integer)");
    adoption_ = std::make_unique<Adoption>(Adoption::open("sqlite:" + path_).value());
    before_ = picture();
  }
  ~Database() {
    adoption_.reset();
    for (const auto* end : {"", "-wal", "-shm", "-journal"}) ::unlink((path_ + end).c_str());
    ::rmdir(folder_.c_str());
  }

  Adoption& adoption() { return *adoption_; }
  [[nodiscard]] bool is_unchanged() const { return picture() == before_; }

 private:
  [[nodiscard]] std::string picture() const {
    support::SqliteFile file(path_);
    return file.scalar(
               "SELECT group_concat(coalesce(sql, name), ';') FROM (SELECT * FROM sqlite_schema ORDER BY name)") +
           file.scalar("SELECT count(*) FROM jobs") + file.scalar("SELECT count(*) FROM locks");
  }

  std::string folder_;
  std::string path_;
  std::unique_ptr<Adoption> adoption_;
  std::string before_;
};

void check_refusal(const Error& error) {
  require(is_utf8(error.message), "a message is text");
  require(error.message.find('\n') == std::string::npos, "a message is one line");
  require(!error.message.empty(), "a refusal says why");
}

void check_fragment(std::string_view sql) {
  require(adopt::with_placeholders(sql, {}) == sql, "a fragment without meanings stays as it is");
  for (const auto& name : adopt::placeholders_of(sql)) {
    require(sql.find(":" + name) != std::string_view::npos, "a placeholder occurs in its fragment");
  }
  const auto assigned = adopt::assignments_of(sql);
  if (!assigned) return check_refusal(assigned.error());
  for (const auto& [column, expression] : *assigned) {
    require(!column.empty() && !expression.empty(), "an assignment has two sides");
    require(sql.find(expression) != std::string_view::npos, "an expression stays as it was written");
  }
}

/// Whether the file is understood.
bool check_description(std::string_view text) {
  const auto file = adopt::read_descriptions(text, file_name);
  if (!file) {
    check_refusal(file.error());
    require(file.error().code == Errc::invalid_argument, "a file that cannot be read is an invalid argument");
    require(file.error().message.starts_with(file_name), "a refusal names the file");
    return false;
  }
  require(!file->tables.empty(), "a file names a table");
  for (const auto& table : file->tables) {
    require(!table.text.empty() && text.find(table.text.substr(0, table.text.size() - 1)) != std::string_view::npos,
            "the part of a table is in the file");
    if (table.shape == adopt::Shape::keep) continue;
    require(table.ttl >= std::chrono::seconds(1) && table.max_ttl >= table.ttl, "a lease lives for a while");
    require(table.heartbeat > Duration{} && table.heartbeat * 2 <= table.ttl, "a heartbeat comes twice within a ttl");
  }
  return true;
}

void check_plan(std::string_view text) {
  static Database database;
  const auto plan = database.adoption().plan(text, file_name);
  const auto scripts = database.adoption().scripts(text, file_name);
  require(database.is_unchanged(), "a plan changes nothing");
  require(plan.ok() == scripts.ok(), "what can be planned can be written as scripts");
  if (!plan) {
    require(plan.error().code != Errc::internal, "no file finds a defect of the templates");
    return check_refusal(plan.error());
  }
  for (const auto& step : plan->steps) require(!step.up.empty() && !step.what.empty(), "a step says what it does");
}

}  // namespace
}  // namespace leasehold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  const auto text = Input(data, size).rest();
  check_fragment(text);
  if (check_description(text)) check_plan(text);
  return 0;
}
