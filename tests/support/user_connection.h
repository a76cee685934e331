// A user's own connection to the store's database, to guard its own writes with a fence.
#pragma once

#include <memory>
#include <string>

#include "leasehold/postgres.h"
#include "leasehold/sqlite.h"
#include "support/pg.h"
#include "support/sqlite.h"
#include "support/store_fixture.h"

namespace leasehold::support {

/// The same on either store.
class UserConnection {
 public:
  explicit UserConnection(TestStore& store) : schema_(store.schema()) {
    if (store.kind() == StoreKind::sqlite) {
      file_ = std::make_unique<SqliteFile>(store.path());
    } else {
      postgres_.reset(PQconnectdb(store.database_url().c_str()));
    }
  }

  bool run(const std::string& sql) {
    if (file_) return file_->attempt(sql) == SQLITE_OK;
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(postgres_.get(), sql.c_str()), &PQclear);
    return PQresultStatus(result.get()) == PGRES_COMMAND_OK;
  }
  bool begin() { return run(file_ ? "BEGIN IMMEDIATE" : "BEGIN"); }
  Result<void> fence(const std::string& name, Token token) {
    return file_ ? leasehold::fence(file_->handle(), name, token)
                 : leasehold::fence(postgres_.get(), name, token, schema_);
  }

 private:
  std::string schema_;
  std::unique_ptr<SqliteFile> file_;
  std::unique_ptr<PGconn, decltype(&PQfinish)> postgres_{nullptr, &PQfinish};
};

}  // namespace leasehold::support
