// An adopted table as the tests of the tool handle it: the user's own database, without leasehold's tables.
#pragma once

#include <fstream>

#include "cli/tool.h"

namespace leasehold::support {

class RowToolTest : public ToolTest, public testing::WithParamInterface<StoreKind> {
 protected:
  RowToolTest() {
    if (on_postgres()) run_sql("CREATE SCHEMA IF NOT EXISTS {s}");
  }
  [[nodiscard]] static bool on_postgres() { return GetParam() == StoreKind::postgres; }
  [[nodiscard]] std::string url() const override {
    return on_postgres() ? store_.database_url() : "sqlite:" + store_.path();
  }
  [[nodiscard]] std::string schema() const { return on_postgres() ? store_.schema() : "main"; }
  [[nodiscard]] std::string adopted(const std::string& table) const { return schema() + "." + table; }

  /// {s} is the schema.
  void run_sql(const std::string& sql) { store_.run(with_schema(sql)); }
  std::string scalar(const std::string& sql) { return store_.scalar(with_schema(sql)); }

  /// A table `jobs` with these rows, "(1), (2)"; not adopted yet.
  void create_jobs(const std::string& rows) {
    run_sql(
        "CREATE TABLE {s}.jobs (id integer PRIMARY KEY, status text NOT NULL DEFAULT 'PENDING', error text, "
        "done_by text)");
    run_sql("INSERT INTO {s}.jobs (id) VALUES " + rows);
  }
  /// The path of a file that describes them.
  std::string jobs_file(const std::string& ttl = "30s") {
    return written("adopt.toml", "[{s}.jobs]\nshape = \"work\"\nttl = \"" + ttl +
                                     "\"\norder = \"id\"\nclaimable = \"status IN ('PENDING', 'RUNNING')\"\n"
                                     "final = { completed = \"status = 'COMPLETED'\", failed = \"status = 'FAILED'\" "
                                     "}\non_claim = \"status = 'RUNNING'\"\non_complete = \"status = 'COMPLETED'\"\n"
                                     "on_fail = \"status = 'FAILED', error = :error\"\n"
                                     "on_release = \"status = 'PENDING'\"\non_expire = \"status = 'PENDING'\"\n");
  }
  void adopt_jobs(const std::string& rows, const std::string& ttl = "30s") {
    create_jobs(rows);
    const auto applied = tool({"adopt", "apply", jobs_file(ttl)});
    ASSERT_EQ(applied.exit_code, 0) << applied.err;
  }
  /// Chunks whose key has two parts, with spaces in them: ("m 1", "c") and ("m", "1 c").
  void adopt_pairs() {
    run_sql("CREATE TABLE {s}.pairs (a text, b text, n integer NOT NULL DEFAULT 0, PRIMARY KEY (a, b))");
    run_sql("INSERT INTO {s}.pairs (a, b) VALUES ('m 1', 'c'), ('m', '1 c')");
    const auto file = written("pairs.toml", "[{s}.pairs]\nshape = \"work\"\norder = \"a, b\"\nclaimable = \"n < 3\"\n");
    const auto applied = tool({"adopt", "apply", file});
    ASSERT_EQ(applied.exit_code, 0) << applied.err;
  }

  struct Held {
    std::string key;
    std::string token;
  };
  Held claimed(const Arguments& more = {}) {
    Arguments arguments = {"row", "claim", "jobs", "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return {finished.out.substr(0, finished.out.rfind(' ')), token_in(finished.out)};
  }
  Finished say(const std::string& what, const Held& held, const Arguments& more = {}) {
    Arguments arguments = {"row", what, "jobs", held.key, "--token", held.token};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool(arguments);
  }
  std::string state_of(const std::string& key) {
    return std::string(json({"row", "show", "jobs", key}).at("state").as_string());
  }
  std::string written(const std::string& name, const std::string& text) {
    auto path = folder().file(name);
    std::ofstream(path) << with_schema(text);
    return path;
  }

 private:
  [[nodiscard]] std::string with_schema(std::string text) const {
    for (auto at = text.find("{s}"); at != std::string::npos; at = text.find("{s}")) text.replace(at, 3, schema());
    return text;
  }

  TestStore store_{GetParam(), {.migrate = false, .real_time = true, .own_database = true}};
  SqliteFile made_{store_.path()};  ///< the tool creates no database
};

}  // namespace leasehold::support
