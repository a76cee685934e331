#include "storage/sqlite/errors.h"

#include <fmt/format.h>

namespace leasehold::sqlite {
namespace {

Errc code_for(int code, std::string_view message) {
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Errc::busy;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL: return Errc::unavailable;
    case SQLITE_PERM:
    case SQLITE_AUTH: return Errc::denied;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Errc::damaged;
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH: return Errc::invalid_argument;
    default: break;
  }
  return message.starts_with("no such table") ? Errc::schema_missing : Errc::internal;
}

std::string_view advice_for(int code) {
  switch (code & 0xFF) {
    case SQLITE_BUSY: return ": another process is writing for too long; try again";
    case SQLITE_CANTOPEN: return ": does its folder exist, and may you write there?";
    case SQLITE_READONLY: return ": leases need to write; mind the permissions of the file and of its folder";
    case SQLITE_FULL: return ": make room on the disk and try again";
    case SQLITE_CORRUPT: return ": the file is damaged; restore it from a backup";
    case SQLITE_NOTADB:
      return ": it is no SQLite database; is the path right? If it is, restore the file from a backup";
    default: return "";
  }
}

}  // namespace

Error error_of(sqlite3* connection, int code, std::string_view doing) {
  const std::string message = connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  const auto meaning = code_for(code, message);
  if (meaning == Errc::schema_missing) {
    return {.code = meaning,
            .message = fmt::format("{}: the leasehold tables are missing: run `leasehold migrate up`", doing)};
  }
  return {.code = meaning, .message = fmt::format("{}: {}{}", doing, message, advice_for(code))};
}

}  // namespace leasehold::sqlite
