// A SQLite connection for tests: what another program with the same file would do.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace leasehold::support {

class SqliteFile {
 public:
  explicit SqliteFile(const std::string& path) {
    sqlite3* raw = nullptr;
    const int code = sqlite3_open(path.c_str(), &raw);
    connection_.reset(raw);
    if (code != SQLITE_OK) throw std::runtime_error("cannot open " + path);
  }

  [[nodiscard]] sqlite3* handle() const { return connection_.get(); }

  /// The result code; SQLITE_OK when all went well.
  int attempt(const std::string& sql) const { return sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr); }

  /// Waits for other writers, as the store itself does.
  void run(const std::string& sql) const {
    sqlite3_busy_timeout(handle(), 5000);
    const int code = attempt(sql);
    sqlite3_busy_timeout(handle(), 0);
    if (code != SQLITE_OK) throw std::runtime_error(sql + ": " + sqlite3_errmsg(handle()));
  }

  [[nodiscard]] std::vector<std::vector<std::optional<std::string>>> rows(const std::string& sql) const {
    std::vector<std::vector<std::optional<std::string>>> all;
    const auto collect = [](void* into, int count, char** cells, char**) {
      auto& row = static_cast<decltype(all)*>(into)->emplace_back();
      for (int i = 0; i < count; ++i) row.push_back(cells[i] ? std::optional<std::string>(cells[i]) : std::nullopt);
      return 0;
    };
    if (sqlite3_exec(handle(), sql.c_str(), collect, &all, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sql + ": " + sqlite3_errmsg(handle()));
    }
    return all;
  }

  /// The first column of the first row; "NULL" for NULL, empty for no row.
  [[nodiscard]] std::string scalar(const std::string& sql) const {
    const auto all = rows(sql);
    return all.empty() ? std::string{} : all.front().front().value_or("NULL");
  }

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace leasehold::support
