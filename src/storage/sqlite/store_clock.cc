#include "storage/sqlite/store_clock.h"

#include <fmt/format.h>

#include "storage/sqlite/backend.h"
#include "storage/sqlite/values.h"

namespace leasehold::sqlite {
namespace {

// A one-off statement of sqlite/local with parameters bound by name.
class Local {
 public:
  static Result<Local> prepare(Connection& connection, std::string_view sql) {
    auto handle = connection.prepare(sql);
    if (!handle) return std::move(handle).error();
    return Local(connection, std::move(*handle));
  }

  Local& bind(const char* name, std::int64_t number) {
    sqlite3_bind_int64(handle_.get(), sqlite3_bind_parameter_index(handle_.get(), name), number);
    return *this;
  }
  Local& bind(const char* name, const std::string& text) {
    sqlite3_bind_text(handle_.get(), sqlite3_bind_parameter_index(handle_.get(), name), text.c_str(), -1,
                      SQLITE_TRANSIENT);
    return *this;
  }
  /// True: there is a row to read.
  Result<bool> step() {
    const int code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return error_of(connection_->get(), code, "reading the store clock");
  }
  std::string text(int column) {
    const auto* value = sqlite3_column_text(handle_.get(), column);
    return value == nullptr ? "" : reinterpret_cast<const char*>(value);
  }
  std::int64_t number(int column) { return sqlite3_column_int64(handle_.get(), column); }

 private:
  Local(Connection& connection, StatementHandle handle) : connection_(&connection), handle_(std::move(handle)) {}
  Connection* connection_;
  StatementHandle handle_;
};

Error refused(std::string_view what) {
  return {.code = Errc::unavailable,
          .message = fmt::format("{}; leasehold cannot tell whether its leases are still held. If no process uses "
                                 "the file there any more, run `leasehold doctor --rehome --yes`",
                                 what)};
}

Result<void> end_all_leases(Connection& connection, Timestamp wall, const std::string& why) {
  std::string_view rest = local::end_all_leases;
  while (!rest.empty()) {
    auto handle = connection.prepare(rest, &rest);
    if (!handle) return std::move(handle).error();
    if (*handle == nullptr) break;
    auto* statement = handle->get();
    if (const int at = sqlite3_bind_parameter_index(statement, ":wall_us"); at > 0) {
      sqlite3_bind_int64(statement, at, wall.time_since_epoch().count());
    }
    if (const int at = sqlite3_bind_parameter_index(statement, ":why"); at > 0) {
      sqlite3_bind_text(statement, at, why.c_str(), -1, SQLITE_TRANSIENT);
    }
    const int code = sqlite3_step(statement);
    if (code != SQLITE_DONE) return error_of(connection.get(), code, "ending the leases of an earlier boot");
  }
  return {};
}

}  // namespace

Moment StoreClock::read() const {
  return {.now = pair_.wall + (clock_.boot_now() - pair_.boot), .wall = clock_.wall_now()};
}

Result<bool> StoreClock::find(Connection& connection) {
  const auto machine = clock_.machine();
  if (machine.boot_id.empty()) {
    return Error{.code = Errc::unavailable,
                 .message =
                     "cannot read /proc/sys/kernel/random/boot_id, which tells the leases of this boot from older "
                     "ones; make it readable for this process"};
  }
  return find_this_boot(connection, machine);
}

Result<void> StoreClock::load(Connection& connection) {
  auto found = find(connection);
  if (!found) return std::move(found).error();
  if (*found) return {};
  return note_this_boot(connection, clock_.machine());
}

Result<bool> StoreClock::is_usable(Connection& connection) {
  auto found = find_this_boot(connection, clock_.machine());
  if (found) return true;
  if (found.error().code == Errc::unavailable) return false;
  return std::move(found).error();
}

Result<bool> StoreClock::find_this_boot(Connection& connection, const MachineFacts& machine) {
  auto latest = Local::prepare(connection, local::boot_latest);
  if (!latest) return std::move(latest).error();
  auto any = latest->step();
  if (!any) return std::move(any).error();
  if (!*any) return false;
  const auto latest_boot = latest->text(0);
  const auto latest_machine = latest->text(1);

  auto known = Local::prepare(connection, local::boot_find);
  if (!known) return std::move(known).error();
  auto seen = known->bind(":boot_id", machine.boot_id).step();
  if (!seen) return std::move(seen).error();
  if (!*seen) {
    // Without a machine id this cannot be recognized as the same machine after a reboot.
    if (machine.machine_id.empty() || latest_machine != machine.machine_id) {
      return refused("the store was last used on another machine");
    }
    return false;
  }
  if (known->text(0) != machine.machine_id) return refused("the store was last used on another machine");
  if (known->number(1) != machine.time_namespace) return refused("the store is used in another time namespace");
  if (latest_boot != machine.boot_id) return refused("the store was used by a later boot of this machine");
  pair_ = {Timestamp(Duration(known->number(2))), BootTime(Duration(known->number(3)))};
  return true;
}

Result<void> StoreClock::note_this_boot(Connection& connection, const MachineFacts& machine) {
  pair_ = {clock_.wall_now(), clock_.boot_now()};
  if (auto ended = end_all_leases(connection, pair_.wall, "the machine was restarted"); !ended) return ended;
  auto record = Local::prepare(connection, local::boot_record);
  if (!record) return std::move(record).error();
  record->bind(":boot_id", machine.boot_id).bind(":machine_id", machine.machine_id);
  record->bind(":time_namespace", machine.time_namespace);
  record->bind(":wall_us", std::int64_t{pair_.wall.time_since_epoch().count()});
  record->bind(":boottime_us", std::int64_t{pair_.boot.time_since_epoch().count()});
  auto done = record->step();
  if (!done) return std::move(done).error();
  return {};
}

Result<void> forget_machine(Connection& connection, Timestamp wall) {
  if (auto ended = end_all_leases(connection, wall, "the store was moved to another machine"); !ended) return ended;
  auto done = connection.run_script(local::forget_boots);
  if (!done) return std::move(done).error();
  return {};
}

}  // namespace leasehold::sqlite
