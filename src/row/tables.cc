// The adopted tables of a database, and how many of their rows are in which state.
#include "adopt/ledger.h"
#include "base/clock.h"
#include "row/rows.h"

namespace leasehold {
namespace {

/// A table of these shapes has rows with leases of their own.
bool has_leases(std::string_view shape) { return !shape.empty() && shape != "keep"; }

/// Nothing if the count fails: the list is worth showing without it.
std::optional<RowCounts> counts_of(Rows::Impl& rows) {
  const auto answer = rows.run("statistics", {{"most", std::to_string(bounds::max_rows_counted)}});
  if (!answer) return std::nullopt;
  RowCounts counts;
  for (std::size_t i = 0; i < answer->rows.size(); ++i) {
    const auto state = answer->at(i, "state").value_or("");
    const auto count = row::number_at(*answer, i, "rows").value_or(0);
    if (state == "available") counts.available = count;
    if (state == "waiting") counts.waiting = count;
    if (state == "running") counts.running = count;
    if (state == "expired") counts.expired = count;
  }
  counts.estimated = counts.running + counts.expired >= bounds::max_rows_counted ||
                     counts.available + counts.waiting >= bounds::max_rows_counted;
  return counts;
}

}  // namespace

Result<std::vector<AdoptedTable>> Rows::tables(std::string_view url, const OpenOptions& options) {
  Impl rows(std::string(url), options.call_timeout);
  const auto deadline = BootClock::now() + options.call_timeout;
  const auto adopted = rows.connections.with(
      deadline, [&](storage::Direct& database) { return adopt::all_adopted(database, deadline); });
  if (!adopted) return adopted.error();
  std::vector<AdoptedTable> tables;
  for (const auto& one : *adopted) {
    auto& table = tables.emplace_back(AdoptedTable{.table = one.schema + "." + one.table, .shape = {}});
    rows.acts.clear();
    const auto read = rows.read_ledger(table.table, deadline);
    if (!read && read.error().code == Errc::not_found) continue;
    if (!read) return read.error();
    table.shape = rows.shape;
    table.ttl = rows.ttl;
    if (has_leases(table.shape)) table.counts = counts_of(rows);
  }
  return tables;
}

}  // namespace leasehold
