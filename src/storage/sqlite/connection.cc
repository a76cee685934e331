#include "storage/sqlite/connection.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "storage/sqlite/backend.h"
#include "storage/sqlite/values.h"
#include "storage/statements.h"

namespace leasehold::sqlite {
namespace {

using storage::Param;
using storage::Rows;
using storage::Statement;

constexpr int now_source = -1;
constexpr int wall_source = -2;
// A checkpoint costs two more fsyncs; every 16 MB is often enough and keeps the file small.
constexpr std::string_view settings =
    "PRAGMA temp_store = MEMORY; PRAGMA secure_delete = OFF; PRAGMA wal_autocheckpoint = 4000;";

int source_of(const Statement& statement, std::string_view name) {
  if (name == "now") return now_source;
  if (name == "wall") return wall_source;
  const auto found = std::find_if(statement.params.begin(), statement.params.end(),
                                  [&](const auto& field) { return field.name == name; });
  return static_cast<int>(found - statement.params.begin());
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, bool durable) {
  return open_with(
      path, fmt::format("PRAGMA synchronous = {}; {} {}", durable ? "FULL" : "NORMAL", settings, dialect().on_connect));
}

Result<std::unique_ptr<Connection>> Connection::open_reader(const std::string& path) {
  return open_with(path, std::string(settings));
}

Result<std::unique_ptr<Connection>> Connection::open_with(const std::string& path, const std::string& script) {
  sqlite3* database = nullptr;
  constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  std::unique_ptr<Connection> connection(new Connection(database, true));
  const auto doing = fmt::format("opening {}", path);
  if (code != SQLITE_OK) return error_of(database, code, doing);
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_handler(database, &Connection::keep_waiting, connection.get());
  if (const int made = register_bound_list(database); made != SQLITE_OK) return error_of(database, made, doing);
  connection->be_patient_until(BootClock::now() + std::chrono::seconds(5));
  if (auto configured = connection->configure(script); !configured) {
    auto error = std::move(configured).error();
    error.message = doing + ": " + error.message;
    return error;
  }
  return connection;
}

Connection::~Connection() {
  scripts_.clear();
  for (auto* handle : {&begin_, &commit_, &rollback_, &data_version_}) handle->reset();
  if (owned_) sqlite3_close(database_);
}

Result<std::unique_ptr<Connection>> Connection::borrow(sqlite3* database) {
  std::unique_ptr<Connection> connection(new Connection(database, false));
  int moved = 0;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0) {
    return Error{.code = Errc::unavailable,
                 .message = fmt::format("{} was deleted or replaced while your connection had it open; close it and "
                                        "open the file again",
                                        sqlite3_db_filename(database, "main"))};
  }
  // Only once: registering it again would break a statement that is reading it.
  auto known = connection->run_script("SELECT 1 FROM pragma_module_list WHERE name = 'bound_list'");
  if (!known) return std::move(known).error();
  const int made = known->empty() ? register_bound_list(database) : SQLITE_OK;
  if (made != SQLITE_OK) return error_of(database, made, "making bound_list known");
  if (auto done = connection->run_script(dialect().on_connect); !done) return std::move(done).error();
  connection->scripts_.resize(static_cast<std::size_t>(sql::statement_count));
  return connection;
}

/// If several processes open a new file at once, one changes its mode. The others may get "locked" immediately, without
/// a call of the busy handler: SQLite does that if two could wait for each other.
Result<void> Connection::switch_to_wal() {
  auto mode = run_script("PRAGMA journal_mode = WAL");
  while (!mode && mode.error().code == Errc::busy && BootClock::now() < busy_until_) {
    usleep(1000);
    mode = run_script("PRAGMA journal_mode = WAL");
  }
  if (!mode) return std::move(mode).error();
  const auto* text = mode->empty() ? nullptr : std::get_if<std::string>(&mode->front().front());
  if (text != nullptr && *text == "wal") return {};
  return Error{
      .code = Errc::unavailable,
      .message = fmt::format("{}: write-ahead logging cannot be used here; is the file on a network file system?",
                             sqlite3_db_filename(database_, "main"))};
}

Result<void> Connection::configure(const std::string& script) {
  if (sqlite3_db_readonly(database_, "main") == 1) return error_of(nullptr, SQLITE_READONLY, "it is read-only");
  if (auto done = run_script(script); !done) return std::move(done).error();
  for (auto [handle, sql] : {std::pair{&begin_, "BEGIN IMMEDIATE"}, std::pair{&commit_, "COMMIT"},
                             std::pair{&rollback_, "ROLLBACK"}, std::pair{&data_version_, "PRAGMA data_version"}}) {
    auto prepared = prepare(sql);
    if (!prepared) return std::move(prepared).error();
    *handle = std::move(*prepared);
  }
  scripts_.resize(static_cast<std::size_t>(sql::statement_count));
  return {};
}

// SQLite's own handler sleeps up to 100 ms at a time; a commit takes less than one.
int Connection::keep_waiting(void* self, int tries) {
  const auto* connection = static_cast<const Connection*>(self);
  if (BootClock::now() >= connection->busy_until_) return 0;
  usleep(tries < 10 ? 200U : 1000U);
  return 1;
}

Result<void> Connection::begin_immediate() {
  const int code = sqlite3_step(begin_.get());
  sqlite3_reset(begin_.get());
  if (code != SQLITE_DONE) return error_of(database_, code, "starting a transaction");
  return {};
}

Result<void> Connection::commit() {
  const int code = sqlite3_step(commit_.get());
  sqlite3_reset(commit_.get());
  if (code == SQLITE_DONE) return {};
  auto error = error_of(database_, code, "committing");
  error.code = Errc::in_doubt;
  rollback();
  return error;
}

void Connection::rollback() {
  if (!in_transaction()) return;
  sqlite3_step(rollback_.get());
  sqlite3_reset(rollback_.get());
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(database_) == 0; }

Result<StatementHandle> Connection::prepare(std::string_view sql, std::string_view* rest) {
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  const int code = sqlite3_prepare_v3(database_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &statement, &tail);
  if (code != SQLITE_OK) return error_of(database_, code, "preparing a statement");
  if (rest != nullptr) *rest = sql.substr(static_cast<std::size_t>(tail - sql.data()));
  return StatementHandle(statement);
}

Result<const Connection::Script*> Connection::script_of(const Statement& statement) {
  auto& script = scripts_[static_cast<std::size_t>(statement.index)];
  if (script.empty()) {
    auto prepared = prepare_script(statement);
    if (!prepared) return std::move(prepared).error();
    script = std::move(*prepared);
  }
  return &script;
}

void Connection::prepare_early(const Statement& statement) { static_cast<void>(script_of(statement)); }

Result<Connection::Script> Connection::prepare_script(const Statement& statement) {
  Script script;
  auto rest = dialect().statements[static_cast<std::size_t>(statement.index)];
  while (!rest.empty()) {
    auto handle = prepare(rest, &rest);
    if (!handle) return std::move(handle).error();
    if (*handle == nullptr) break;  // only white space was left
    Prepared prepared{std::move(*handle), {}};
    const int count = sqlite3_bind_parameter_count(prepared.handle.get());
    for (int i = 1; i <= count; ++i) {
      prepared.sources.push_back(source_of(statement, sqlite3_bind_parameter_name(prepared.handle.get(), i) + 1));
    }
    script.push_back(std::move(prepared));
  }
  return script;
}

Result<void> Connection::bind(const Prepared& prepared, const Statement& statement, std::span<const Param> params,
                              const Moment& moment) {
  auto* handle = prepared.handle.get();
  int place = 0;
  for (const int source : prepared.sources) {
    ++place;
    int code = SQLITE_OK;
    if (source == now_source || source == wall_source) {
      const auto when = source == now_source ? moment.now : moment.wall;
      code = sqlite3_bind_int64(handle, place, when.time_since_epoch().count());
    } else {
      const auto at = static_cast<std::size_t>(source);
      code = bind_value(handle, place, statement.params[at].type, params[at]);
    }
    if (code != SQLITE_OK) return error_of(database_, code, statement.name);
  }
  return {};
}

Result<void> Connection::step_all(const Prepared& prepared, const Statement& statement, Rows* rows) {
  auto* handle = prepared.handle.get();
  const auto columns = statement.columns;
  const bool lists = std::any_of(columns.begin(), columns.end(), [](const auto& field) { return is_list(field.type); });
  int code = sqlite3_step(handle);
  for (; code == SQLITE_ROW; code = sqlite3_step(handle)) {
    if (lists) {
      gather_row(handle, columns, *rows);
    } else {
      rows->push_back(read_row(handle));
    }
  }
  sqlite3_reset(handle);
  if (code != SQLITE_DONE) return error_of(database_, code, statement.name);
  return {};
}

Result<Rows> Connection::run(const Statement& statement, std::span<const Param> params, const Moment& moment) {
  auto script = script_of(statement);
  if (!script) return std::move(script).error();
  Rows rows;
  for (const auto& prepared : **script) {
    rows.clear();
    if (auto bound = bind(prepared, statement, params, moment); !bound) return std::move(bound).error();
    if (auto done = step_all(prepared, statement, &rows); !done) return std::move(done).error();
  }
  return rows;
}

Result<Rows> Connection::run_script(std::string_view sql) {
  Rows rows;
  while (!sql.empty()) {
    auto handle = prepare(sql, &sql);
    if (!handle) return std::move(handle).error();
    if (*handle == nullptr) continue;
    if (sqlite3_column_count(handle->get()) > 0) rows.clear();
    int code = sqlite3_step(handle->get());
    for (; code == SQLITE_ROW; code = sqlite3_step(handle->get())) rows.push_back(read_text_row(handle->get()));
    if (code != SQLITE_DONE) return error_of(database_, code, "running a script");
  }
  return rows;
}

std::int64_t Connection::data_version() {
  const bool row = sqlite3_step(data_version_.get()) == SQLITE_ROW;
  const auto version = row ? sqlite3_column_int64(data_version_.get(), 0) : -1;
  sqlite3_reset(data_version_.get());
  return version;
}

}  // namespace leasehold::sqlite
