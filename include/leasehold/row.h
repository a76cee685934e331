// Rows of your own tables, claimed under a lease. Adopt the table first: see adopt.h, or `leasehold adopt --help`.
//
//   auto rows = leasehold::Rows::open("postgresql://loader@db/app", "sync_jobs");
//   auto claimed = rows->claim({.max = 1, .wait = 1min});
//   if (!claimed) return;                                        // Errc::empty: nothing to do
//   auto done = load(claimed->front().row);                      // the row, as JSON
//   rows->complete(claimed->front().key, claimed->front().token);
//
// The acts are those of the database functions TABLE_claim, TABLE_complete and so on; on SQLite this library runs the
// same statements.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/call.h"
#include "leasehold/export.h"
#include "leasehold/held_lease.h"
#include "leasehold/lease.h"
#include "leasehold/page.h"
#include "leasehold/result.h"
#include "leasehold/store.h"

namespace leasehold {

/// The values of the key columns, as text, in their order.
using RowKey = std::vector<std::string>;

/// Values for the names that the file's on_complete, on_fail or on_release writes with a colon (:row_count), as texts;
/// without a value: NULL. A schedule also takes `next`: when it is due again.
using RowValues = std::map<std::string, std::optional<std::string>, std::less<>>;

struct RowClaimOptions {
  int max = 1;
  /// Unset: the table's ttl.
  std::optional<Duration> ttl{};
  /// How long to wait for a row.
  Duration wait{};
};

struct RowGrant {
  RowKey key;
  Token token;
  Holder holder;
  Timestamp expires_at{};
  BootTime trusted_until{};  ///< stop working before this moment
  std::string row;           ///< the row as a JSON object
};

/// A proof of holding a row.
struct RowProof {
  RowKey key;
  Token token;
};

struct RowSettled {
  RowKey key;
  std::string outcome;  ///< completed, failed, released
};

struct RowInfo {
  RowKey key;
  std::string state;  ///< available, waiting, running, expired, or the name of a final state
  std::optional<Holder> holder{};
  std::optional<Token> token{};
  std::optional<Timestamp> expires_at{};
  std::string row;
};

struct RowFilter {
  std::string state{};  ///< empty: all
  int max = defaults::list_max;
  std::string page{};
};

struct RowRecoverOptions {
  Duration older_than{};  ///< only leases that expired at least this long ago; a lease is never shortened
  bool dry_run = false;   ///< only list them
};

/// A row whose lease had expired, and that is free again.
struct RowRecovered {
  RowKey key;
  Holder previous_holder;
  Timestamp expired_at{};
};

/// How many rows of an adopted table are in which state.
struct RowCounts {
  std::int64_t available = 0;
  std::int64_t waiting = 0;  ///< can be claimed later
  std::int64_t running = 0;
  std::int64_t expired = 0;
  bool estimated = false;  ///< there are more: bounds::max_rows_counted were counted
};

struct AdoptedTable {
  std::string table;  ///< "public.sync_jobs"
  std::string shape;  ///< work, lock, schedule, sessions, keep; empty: Adoption::apply() was interrupted
  Duration ttl{};
  /// Nothing if the table has no leases to count, or this role may not read it.
  std::optional<RowCounts> counts{};
};

/// Cheap to copy. Threading: may be called from any thread.
class LEASEHOLD_EXPORT Rows {
 public:
  /// `not_found` if the table is not adopted. `table` may leave out the schema.
  static Result<Rows> open(std::string_view url, std::string_view table, const OpenOptions& options = {});
  /// The adopted tables of a database, each with what its small indexes can count.
  static Result<std::vector<AdoptedTable>> tables(std::string_view url, const OpenOptions& options = {});

  /// The first claimable rows, in the table's order. `empty`: there is none.
  Result<std::vector<RowGrant>> claim(const RowClaimOptions& options = {}, const Call& call = {}) const;
  /// This row. `held` names the holder.
  Result<RowGrant> claim_key(const RowKey& key, const RowClaimOptions& options = {}, const Call& call = {}) const;

  /// Extends live leases; one statement for all. Each has its own answer: the new end, or `lost`.
  std::vector<Result<RowGrant>> heartbeat(const std::vector<RowProof>& rows, std::optional<Duration> ttl = {},
                                          const Call& call = {}) const;

  Result<RowSettled> complete(const RowKey& key, Token token, const RowValues& values = {},
                              const Call& call = {}) const;
  Result<RowSettled> fail(const RowKey& key, Token token, std::string_view error, const RowValues& values = {},
                          const Call& call = {}) const;
  Result<RowSettled> release(const RowKey& key, Token token, const RowValues& values = {}, const Call& call = {}) const;

  Result<RowInfo> show(const RowKey& key) const;
  Result<Page<RowInfo>> list(const RowFilter& filter = {}) const;
  /// Frees rows whose lease has expired; never needed, since a claim does the same.
  Result<std::vector<RowRecovered>> recover(const RowRecoverOptions& options = {}) const;

  /// "public.sync_jobs"
  [[nodiscard]] const std::string& table() const;
  [[nodiscard]] const std::vector<std::string>& key_columns() const;
  [[nodiscard]] Duration ttl() const;
  [[nodiscard]] Duration heartbeat_pause() const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Rows(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  [[nodiscard]] Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace leasehold
