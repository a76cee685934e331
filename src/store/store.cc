#include "store/store.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "access/access.h"
#include "chunk/chunks.h"
#include "core/store_url.h"
#include "job/jobs.h"
#include "lease/answer.h"
#include "lease/page.h"
#include "lease/reap.h"
#include "leasehold/row.h"
#include "leasehold/store.h"
#include "lock/locks.h"
#include "model/bounds.h"
#include "model/described.h"
#include "model/words.h"
#include "rate/rates.h"
#include "schedule/schedules.h"
#include "session/sessions.h"
#include "storage/migrations.h"
#include "storage/postgres/backend.h"
#include "storage/postgres/texts.h"
#include "storage/query.h"
#include "storage/sqlite/backend.h"

namespace leasehold {
namespace {

Result<std::unique_ptr<storage::Backend>> open_backend(const StoreUrl& url, const Clock& clock, BootTime deadline) {
  return url.kind == StoreUrl::Kind::sqlite ? sqlite::open(url, clock, deadline) : postgres::open(url, deadline);
}

/// Opening a SQLite file creates it.
Result<void> require_file(const StoreUrl& url, const OpenOptions& options) {
  std::error_code unknown;
  const bool made_of_file = url.kind == StoreUrl::Kind::sqlite && !url.in_memory();
  if (options.create || !made_of_file || std::filesystem::exists(url.path, unknown) || unknown) return {};
  return Error{.code = Errc::schema_missing,
               .message = "there is no store at " + url.path +
                          " yet: the first write creates it, and so does `leasehold migrate up`"};
}

Result<void> bring_schema_up(storage::Backend& backend, const StoreUrl& url, const OpenOptions& options) {
  storage::Migrator migrator(backend, options.call_timeout);
  const bool automatic = options.migrate == MigrateOnOpen::automatic && url.kind == StoreUrl::Kind::sqlite;
  auto current = migrator.require_current();
  const bool missing = !current && current.error().code == Errc::schema_missing;
  if (!missing || !(automatic || options.migrate == MigrateOnOpen::yes)) return current;
  if (!options.create) {
    auto version = migrator.version();
    if (!version) return std::move(version).error();
    if (*version == 0) return current;
  }
  auto applied = migrator.up();
  if (!applied) return std::move(applied).error();
  // This read teaches a SQLite store its clock, so that its first request can be a transaction.
  return migrator.require_current();
}

LeaseInfo lease_from(sql::LeaseList::Row& row) {
  LeaseInfo lease;
  lease.kind = std::move(row.kind);
  lease.key = std::move(row.key);
  lease.token = {row.token};
  lease.holder.name = std::move(row.holder);
  lease.holder.host = std::move(row.host);
  lease.holder.boot_id = std::move(row.boot_id);
  lease.holder.pid = row.pid;
  lease.holder.process_start = row.process_start;
  lease.holder.tty = std::move(row.tty);
  lease.ttl = row.ttl;
  lease.acquired_at = row.acquired_at;
  lease.heartbeat_at = row.heartbeat_at;
  lease.expires_at = row.expires_at;
  lease.store_now = row.store_now;
  // A dead process of this host loses its sessions and work at once, as wherever they are shown; its locks only expire.
  const bool gives_way = lease.kind != "lock" && lease::is_gone(lease.holder);
  const bool alive = lease.expires_at > lease.store_now && !gives_way;
  lease.state = alive ? LeaseState::running : LeaseState::expired;
  return lease;
}

}  // namespace

Result<Store> open_store_with(std::string_view url, const OpenOptions& options, const Clock& clock) {
  auto parsed = parse_store_url(url);
  if (!parsed) return std::move(parsed).error();
  if (auto there = require_file(*parsed, options); !there) return std::move(there).error();
  auto backend = open_backend(*parsed, clock, BootClock::now() + options.call_timeout);
  if (!backend) return std::move(backend).error();
  if (auto current = bring_schema_up(**backend, *parsed, options); !current) return std::move(current).error();
  auto store = store_over(std::move(*backend), options);
  store.impl().url = url;
  store.impl().housekeeper->start();
  return store;
}

Result<Store> Store::open(std::string_view url, const OpenOptions& options) {
  return open_store_with(url, options, system_clock());
}

Result<Store> open_memory_store(std::shared_ptr<const Clock> clock) {
  const StoreUrl url{.kind = StoreUrl::Kind::sqlite, .path = ":memory:"};
  const OpenOptions options;
  auto backend = open_backend(url, *clock, BootClock::now() + options.call_timeout);
  if (!backend) return std::move(backend).error();
  // Handles of features may outlive the store, and keep the backend: so the backend keeps the clock.
  const std::shared_ptr<storage::Backend> kept(backend->release(),
                                               [clock](const storage::Backend* its) { delete its; });
  if (auto current = bring_schema_up(*kept, url, options); !current) return std::move(current).error();
  return store_over(kept, options);
}

Store store_over(std::shared_ptr<storage::Backend> backend, const OpenOptions& options) {
  return Store(std::make_shared<Store::Impl>(std::move(backend), options.call_timeout));
}

Result<Migrations> Migrations::open(std::string_view url, const OpenOptions& options) {
  auto parsed = parse_store_url(url);
  if (!parsed) return std::move(parsed).error();
  if (auto there = require_file(*parsed, options); !there) return std::move(there).error();
  auto backend = open_backend(*parsed, system_clock(), BootClock::now() + options.call_timeout);
  if (!backend) return std::move(backend).error();
  return store_over(std::move(*backend), options).migrations();
}

Result<bool> Store::rehome(std::string_view url) {
  auto parsed = parse_store_url(url);
  if (!parsed) return std::move(parsed).error();
  if (parsed->kind != StoreUrl::Kind::sqlite) {
    return Error{.code = Errc::invalid_argument, .message = "only a sqlite store belongs to one machine"};
  }
  if (auto there = require_file(*parsed, {.create = false}); !there) return std::move(there).error();
  return sqlite::rehome(*parsed, system_clock());
}

Locks Store::locks() const { return Locks(std::make_shared<const Locks::Impl>(Locks::Impl{{*impl_}, impl_->recalls})); }

Jobs Store::jobs() const {
  return Jobs(std::make_shared<const Jobs::Impl>(Jobs::Impl{{*impl_}, impl_->reaper, impl_->awaited, impl_->recalls}));
}

Queues Store::queues() const { return Queues(std::make_shared<const Queues::Impl>(Queues::Impl{{*impl_}})); }

Chunks Store::chunks() const {
  return Chunks(std::make_shared<const Chunks::Impl>(Chunks::Impl{{*impl_}, impl_->reaper, impl_->awaited}));
}

Sessions Store::sessions() const {
  return Sessions(std::make_shared<const Sessions::Impl>(Sessions::Impl{{*impl_}, impl_->recalls}));
}

Items Store::items() const { return Items(std::make_shared<const Items::Impl>(Items::Impl{{*impl_}})); }

Claims Store::claims() const {
  return Claims(std::make_shared<const Claims::Impl>(Claims::Impl{{*impl_}, impl_->awaited}));
}

Schedules Store::schedules() const {
  return Schedules(std::make_shared<const Schedules::Impl>(Schedules::Impl{{*impl_}}));
}

Rates Store::rates() const { return Rates(std::make_shared<const Rates::Impl>(Rates::Impl{{*impl_}})); }

Access Store::access() const { return Access(std::make_shared<const Access::Impl>(Access::Impl{{*impl_}})); }

Migrations Store::migrations() const {
  return Migrations(std::make_shared<const Migrations::Impl>(Migrations::Impl{impl_->backend, impl_->call_timeout}));
}

Result<Rows> Store::rows(std::string_view table) const {
  return Rows::open(impl_->url, table, {.call_timeout = impl_->call_timeout});
}

Result<std::vector<AdoptedTable>> Store::adopted_tables() const {
  return Rows::tables(impl_->url, {.call_timeout = impl_->call_timeout});
}

void Store::wait_for_change(Duration timeout) const {
  impl_->backend->watch("")->wait(BootClock::now() + bounded_wait(timeout));
}

namespace {

/// A filter that can match nothing is a mistake.
Result<void> check_leases_of(const LeaseFilter& filter) {
  constexpr std::array<std::string_view, 7> lease_kinds = {"lock", "job",      "chunk", "session",
                                                           "item", "schedule", "row"};
  if (!filter.kind.empty() && std::find(lease_kinds.begin(), lease_kinds.end(), filter.kind) == lease_kinds.end()) {
    return Error{.code = Errc::invalid_argument,
                 .message = leasehold::quoted(filter.kind) +
                            " is not a kind of lease: use lock, job, chunk, session, item, schedule or row"};
  }
  if (filter.state == LeaseState::free) {
    return Error{.code = Errc::invalid_argument, .message = "a free lease is not listed: use running or expired"};
  }
  return {};
}

}  // namespace

Result<Page<LeaseInfo>> Store::leases(const LeaseFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto skip = lease::page_number(filter.page);
  if (!skip) return std::move(skip).error();
  if (auto checked = check_leases_of(filter); !checked) return std::move(checked).error();
  sql::LeaseList list{.max = lease::rows_for(filter.max), .skip = *skip};
  if (!filter.kind.empty()) list.kind = filter.kind;
  if (filter.state) list.state = to_string(*filter.state);
  if (!filter.held_by.empty()) list.held_by = filter.held_by;
  return lease::page_of(impl_->new_call().list(list, lease_from), filter.max, lease::counted(*skip));
}

Result<StoreStatus> Store::status() const {
  storage::Migrator migrator(*impl_->backend, impl_->call_timeout);
  auto version = migrator.version();
  if (!version) return std::move(version).error();
  auto row = impl_->new_call().ask(sql::StoreStatus{});
  if (!row) return std::move(row).error();
  return StoreStatus{.backend = std::string(backend()),
                     .schema_version = *version,
                     .locks = row->locks,
                     .waiters = row->waiters,
                     .held_leases = row->held_leases,
                     .expired_leases = row->expired_leases,
                     .ended_leases = row->ended_leases,
                     .events = row->events,
                     .store_now = row->store_now};
}

namespace {

Result<void> check_role(const Store& store, std::string_view role) {
  if (store.backend() != "postgresql") {
    return Error{.code = Errc::invalid_argument,
                 .message = "only PostgreSQL has roles: use the permissions of the sqlite file"};
  }
  return check_name("role", role);
}

}  // namespace

Result<void> Store::grant(std::string_view role, Scope scope) const {
  if (auto checked = check_role(*this, role); !checked) return checked;
  auto granted = impl_->new_call().ask(sql::GrantScope{.role = role, .scope = word_of(scope)});
  if (!granted) return std::move(granted).error();
  return {};
}

Result<void> Store::revoke(std::string_view role) const {
  if (auto checked = check_role(*this, role); !checked) return checked;
  auto revoked = impl_->new_call().ask(sql::RevokeScope{.role = role});
  if (!revoked) return std::move(revoked).error();
  return {};
}

std::string_view Store::backend() const noexcept { return impl_->backend->dialect().name; }

using storage::Migrator;

Result<std::vector<MigrationInfo>> Migrations::status() const {
  return Migrator(*impl_->backend, impl_->call_timeout).status();
}

Result<std::vector<MigrationInfo>> Migrations::up() const {
  return Migrator(*impl_->backend, impl_->call_timeout).up();
}

Result<std::vector<MigrationInfo>> Migrations::down(int version) const {
  return Migrator(*impl_->backend, impl_->call_timeout).down(version);
}

Result<std::vector<Drift>> Migrations::verify() const {
  return Migrator(*impl_->backend, impl_->call_timeout).verify();
}

Result<std::string> Migrations::script(std::string_view url) {
  const auto parsed = parse_store_url(url);
  if (!parsed) return parsed.error();
  if (parsed->kind == StoreUrl::Kind::sqlite) {
    return storage::plan_migrations(sqlite::dialect(), {}, [](std::string_view sql) { return std::string(sql); });
  }
  return storage::plan_migrations(postgres::dialect(), {},
                                  [&](std::string_view sql) { return postgres::in_schema(sql, parsed->schema); });
}

Result<std::string> Migrations::testing_script(std::string_view url) {
  const auto parsed = parse_store_url(url);
  if (!parsed) return parsed.error();
  if (parsed->kind == StoreUrl::Kind::sqlite) {
    return Error{.code = Errc::invalid_argument,
                 .message =
                     "only a PostgreSQL store gets a test clock by SQL: on SQLite, C++ tests use "
                     "leasehold/testing.h"};
  }
  return postgres::in_schema(postgres::local::testing, parsed->schema);
}

Result<std::string> Migrations::plan() const { return Migrator(*impl_->backend, impl_->call_timeout).plan(); }

}  // namespace leasehold
