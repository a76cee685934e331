#include "storage/direct.h"

#include <sqlite3.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "storage/sqlite/backend.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/values.h"

namespace leasehold::sqlite {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using DatabaseHandle = std::unique_ptr<sqlite3, CloseDatabase>;

class FileDirect final : public storage::Direct {
 public:
  explicit FileDirect(DatabaseHandle database) : database_(std::move(database)) {
    sqlite3_busy_handler(database_.get(), &FileDirect::keep_waiting, this);
  }

  Result<storage::TextRows> run(std::string_view sql, BootTime deadline) override {
    deadline_ = deadline;
    storage::TextRows rows;
    while (!sql.empty()) {
      const auto statement = take_statement(sql);
      if (!statement) return statement.error();
      if (*statement == nullptr) continue;  // a comment
      if (const int ended = collect(statement->get(), rows); ended != SQLITE_DONE) return failed(ended);
    }
    return rows;
  }

  Result<void> plan(std::string_view sql, BootTime deadline) override {
    deadline_ = deadline;
    if (const auto statement = take_statement(sql); !statement) return statement.error();
    if (!trimmed(sql).empty()) return storage::more_than_one_statement();
    return {};
  }

  Result<void> begin(BootTime deadline) override {
    auto begun = run("BEGIN IMMEDIATE", deadline);
    if (!begun) return std::move(begun).error();
    return {};
  }

  void fire_triggers(bool on) override {
    sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, on ? 1 : 0, nullptr);
  }

  [[nodiscard]] bool is_postgres() const override { return false; }
  [[nodiscard]] bool idle() const override { return sqlite3_get_autocommit(database_.get()) != 0; }

 private:
  /// Prepares the first statement, and removes it from `sql`.
  [[nodiscard]] Result<StatementHandle> take_statement(std::string_view& sql) const {
    const char* tail = nullptr;
    sqlite3_stmt* made = nullptr;
    const int code = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &made, &tail);
    if (code != SQLITE_OK) return failed(code);
    sql.remove_prefix(static_cast<std::size_t>(tail - sql.data()));
    return StatementHandle(made);
  }

  static int collect(sqlite3_stmt* statement, storage::TextRows& rows) {
    const int columns = sqlite3_column_count(statement);
    if (columns > 0) {
      rows = {};
      for (int c = 0; c < columns; ++c) rows.columns.emplace_back(sqlite3_column_name(statement, c));
    }
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
      auto& row = rows.rows.emplace_back();
      for (int c = 0; c < columns; ++c) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, c));
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, c));
        row.push_back(text == nullptr ? std::optional<std::string>() : std::string(text, size));
      }
    }
    return code;
  }

  /// Not error_of(): a missing table is the user's here, not one of ours.
  [[nodiscard]] Error failed(int code) const {
    auto error = error_of(nullptr, code, sqlite3_errmsg(database_.get()));
    if (error.code == Errc::internal) error.message = sqlite3_errmsg(database_.get());
    return error;
  }

  static int keep_waiting(void* self, int tries) {
    if (BootClock::now() >= static_cast<const FileDirect*>(self)->deadline_) return 0;
    usleep(tries < 10 ? 200U : 1000U);
    return 1;
  }

  DatabaseHandle database_;
  BootTime deadline_{};
};

}  // namespace

Result<std::unique_ptr<storage::Direct>> open_direct(const StoreUrl& url, BootTime deadline) {
  sqlite3* made = nullptr;
  const int code = sqlite3_open_v2(url.path.c_str(), &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  DatabaseHandle database(made);
  if (code != SQLITE_OK) return error_of(made, code, fmt::format("opening {}", url.path));
  auto direct = std::make_unique<FileDirect>(std::move(database));
  if (auto read = direct->run("SELECT count(*) FROM sqlite_schema", deadline); !read) {
    return std::move(read).error();
  }
  return std::unique_ptr<storage::Direct>(std::move(direct));
}

}  // namespace leasehold::sqlite
