// A user's own table on either database, adopted by a file that the test writes.
//
//   class RowTest : public AdoptTest {};
//   LEASEHOLD_ON_BOTH_STORES(RowTest);
//
//   TEST_P(RowTest, Promise05_...) {
//     adopt(work_file);
//     auto rows = open_rows("jobs");
//     ...
//     expire(rows, grant);             // its lease ended a second ago
//   }
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "adopt/database.h"
#include "leasehold/adopt.h"
#include "leasehold/row.h"
#include "row/rows.h"
#include "support/store_fixture.h"

namespace leasehold::support {

/// Jobs as people keep them: a status, a counter, and code that sets them.
inline constexpr const char* jobs_table =
    "CREATE TABLE {s}.jobs (id integer PRIMARY KEY, status text NOT NULL DEFAULT 'PENDING', priority integer NOT NULL "
    "DEFAULT 0, error text, crashes integer NOT NULL DEFAULT 0, worker text, note text)";

inline constexpr const char* jobs_file = R"~(
[{s}.jobs]
shape       = "work"
ttl         = "30s"
order       = "priority DESC, id"
claimable   = "status IN ('PENDING', 'RUNNING')"
final       = { completed = "status = 'COMPLETED'", failed = "status = 'FAILED'" }
crashes     = "crashes"
on_claim    = "status = 'RUNNING'"
on_complete = "status = 'COMPLETED'"
on_fail     = "status = 'FAILED', error = :error"
on_release  = "status = 'PENDING'"
on_expire   = "status = 'PENDING'"
)~";

class AdoptTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    database_.emplace(GetParam(), TestStore::Options{.migrate = false, .real_time = true, .own_database = true});
    schema_ = on_postgres() ? database_->schema() : "main";
    // The URL of the database itself: adopted tables need no store.
    url_ = on_postgres() ? database_->database_url() : "sqlite:" + database_->path();
    if (on_postgres()) run("CREATE SCHEMA IF NOT EXISTS {s}");
    if (!on_postgres()) const SqliteFile made(database_->path());
    adoption_.emplace(Adoption::open(url_).value());
  }

  [[nodiscard]] static bool on_postgres() { return GetParam() == StoreKind::postgres; }
  Adoption& adoption() { return *adoption_; }
  const std::string& url() { return url_; }
  [[nodiscard]] std::string with_schema(std::string text) const {
    for (auto at = text.find("{s}"); at != std::string::npos; at = text.find("{s}")) text.replace(at, 3, schema_);
    return text;
  }

  /// SQL of other programs; {s} is the schema.
  void run(const std::string& sql) { database_->run(with_schema(sql)); }
  std::string scalar(const std::string& sql) { return database_->scalar(with_schema(sql)); }
  /// The message of what the database refuses; empty if it does not.
  std::string refusal(const std::string& sql) {
    try {
      run(sql);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

  /// A moment as the lease's column keeps it, so many seconds from now.
  static std::string moment(int seconds) {
    const auto by = std::to_string(seconds);
    return on_postgres() ? "clock_timestamp() + interval '" + by + " seconds'"
                         : "CAST(strftime('%s', 'now') AS INTEGER) + " + by;
  }
  /// As if neither our triggers nor the user's were there.
  void run_behind_triggers(const std::string& sql) {
    if (on_postgres())
      return run("SET session_replication_role = replica; " + sql + "; RESET session_replication_role");
    constexpr auto proof =
        "INSERT INTO leasehold_adopted (table_name, place, kind, name) VALUES ('jobs', 0, 'proof', '*');";
    run(std::string("BEGIN IMMEDIATE;") + proof + sql + "; DELETE FROM leasehold_adopted WHERE kind = 'proof'; COMMIT");
  }
  /// Why an act was refused; nothing if it was done.
  template <typename T>
  static std::optional<Errc> code_of(const Result<T>& answer) {
    return answer.ok() ? std::nullopt : std::optional(answer.error().code);
  }
  template <typename T>
  static std::optional<LostReason> reason_of(const Result<T>& answer) {
    return answer.ok() ? std::nullopt : std::optional(answer.error().lost_reason);
  }
  /// The text of a file that the test writes, with a part of it replaced.
  static std::string with(std::string text, const std::string& mark, const std::string& by) {
    const auto at = text.find(mark);
    if (at == std::string::npos) throw std::runtime_error("no " + mark + " in the text");
    return text.replace(at, mark.size(), by);
  }

  void adopt(const std::string& file, ApplyOptions options = {}) {
    const auto applied = adoption().apply(with_schema(file), "adopt.toml", options);
    ASSERT_TRUE(applied.ok()) << applied.error().message;
  }
  Rows open_rows(const std::string& table = "jobs") { return Rows::open(url_, with_schema("{s}." + table)).value(); }
  void adopt_jobs(const std::string& jobs) {
    run(jobs_table);
    run("INSERT INTO {s}.jobs (id) VALUES " + jobs);
    adopt(jobs_file);
  }

  static Call by(const std::string& name) {
    Call call;
    call.holder.emplace().name = name;
    return call;
  }
  static RowGrant claim_one(const Rows& rows, const std::string& holder = "ann") {
    return rows.claim({}, by(holder)).value().front();
  }
  /// Its lease ended a second ago; nothing has noticed yet.
  static void expire(const Rows& rows, const RowGrant& grant) {
    auto arguments = rows_impl(rows).arguments_for(grant.key).value();
    arguments.emplace_back("token", std::to_string(grant.token.value));
    const auto done = rows_impl(rows).run("expire_now", arguments);
    ASSERT_TRUE(done.ok()) << done.error().message;
  }

 private:
  static Rows::Impl& rows_impl(const Rows& rows) { return rows.impl(); }

  std::optional<TestStore> database_;
  std::optional<Adoption> adoption_;
  std::string schema_;
  std::string url_;
};

}  // namespace leasehold::support
