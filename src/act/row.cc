// Acts on the rows of adopted tables.
#include "leasehold/row.h"

#include "act/act.h"
#include "act/arguments.h"
#include "base/json.h"
#include "base/text.h"

namespace leasehold::act {
namespace {

struct RowClaim {
  std::string table{};
  RowKey key{};
  int max = 1;
  std::optional<Duration> ttl{};
  Duration wait{};
  std::string holder{};
};

Described describe(Type<RowClaim>) {
  static constexpr auto fields = fields_of<RowClaim>({
      field<&RowClaim::table>("table").as_name().needed().means("the adopted table"),
      field<&RowClaim::key>("key").or_null().means(
          "claim this row: the values of its key columns; null: the next ones"),
      field<&RowClaim::max>("max").from(1, bounds::max_claim),
      field<&RowClaim::ttl>("ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
      field<&RowClaim::wait>("wait_seconds").from(Duration(0), Duration::max()),
      field<&RowClaim::holder>("holder").as_name().or_null().means("the name that other callers see"),
  });
  static const RowClaim fresh;
  return {"RowClaim", fields, &fresh};
}

struct RowByKey {
  std::string table{};
  RowKey key{};
};

Described describe(Type<RowByKey>) {
  static constexpr auto fields = fields_of<RowByKey>({
      field<&RowByKey::table>("table").as_name().needed().means("the adopted table"),
      field<&RowByKey::key>("key").needed().means("the values of the key columns, as texts"),
  });
  static const RowByKey fresh;
  return {"RowByKey", fields, &fresh};
}

struct RowHeld {
  RowByKey row{};
  Token token{};
};

Described describe(Type<RowHeld>) {
  static constexpr auto fields =
      fields_of<RowHeld>({inlined<&RowHeld::row>(), field<&RowHeld::token>("token").needed()});
  static const RowHeld fresh;
  return {"RowHeld", fields, &fresh};
}

struct RowBeat {
  RowHeld held{};
  std::optional<Duration> ttl{};
};

Described describe(Type<RowBeat>) {
  static constexpr auto fields = fields_of<RowBeat>({
      inlined<&RowBeat::held>(),
      field<&RowBeat::ttl>("ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
  });
  static const RowBeat fresh;
  return {"RowBeat", fields, &fresh};
}

struct RowVerdict {
  RowHeld held{};
  std::string values{};
};

constexpr auto values_help = "values for the names that the file writes with a colon: {\"row_count\":41}";

Described describe(Type<RowVerdict>) {
  static constexpr auto fields = fields_of<RowVerdict>({
      inlined<&RowVerdict::held>(),
      field<&RowVerdict::values>("values").as_json(bounds::payload_bytes).or_null().means(values_help),
  });
  static const RowVerdict fresh;
  return {"RowVerdict", fields, &fresh};
}

struct RowFail {
  RowVerdict verdict{};
  std::string error{};
};

Described describe(Type<RowFail>) {
  static constexpr auto fields = fields_of<RowFail>({
      inlined<&RowFail::verdict>(),
      field<&RowFail::error>("error").means("what went wrong"),
  });
  static const RowFail fresh;
  return {"RowFail", fields, &fresh};
}

struct RowList {
  std::string table{};
  std::string state{};
  int max = defaults::list_max;
  std::string page{};
};

Described describe(Type<RowList>) {
  static constexpr auto fields = fields_of<RowList>({
      field<&RowList::table>("table").as_name().needed().means("the adopted table"),
      field<&RowList::state>("state").or_null().as_text().means("only rows in this state"),
      field<&RowList::max>("max").at_least_one(),
      field<&RowList::page>("page").or_null().as_text(),
  });
  static const RowList fresh;
  return {"RowList", fields, &fresh};
}

struct RowRecover {
  std::string table{};
  Duration older_than{};
  bool dry_run = false;
};

Described describe(Type<RowRecover>) {
  static constexpr auto fields = fields_of<RowRecover>({
      field<&RowRecover::table>("table").as_name().needed().means("the adopted table"),
      field<&RowRecover::older_than>("older_than_seconds").from(Duration(0), bounds::max_delay),
      field<&RowRecover::dry_run>("dry_run"),
  });
  static const RowRecover fresh;
  return {"RowRecover", fields, &fresh};
}

Result<Page<RowGrant>> row_claim(const Store& store, const RowClaim& given, const Call& call) {
  const auto rows = store.rows(given.table);
  if (!rows) return rows.error();
  const RowClaimOptions options{.max = given.max, .ttl = given.ttl, .wait = given.wait};
  const auto as = as_holder(call, given.holder);
  if (given.key.empty()) {
    auto grants = rows->claim(options, as);
    if (!grants) return std::move(grants).error();
    return Page<RowGrant>{.items = std::move(*grants)};
  }
  auto grant = rows->claim_key(given.key, options, as);
  if (!grant) return std::move(grant).error();
  return Page<RowGrant>{.items = {std::move(*grant)}};
}

Result<RowGrant> row_heartbeat(const Store& store, const RowBeat& given, const Call& call) {
  const auto rows = store.rows(given.held.row.table);
  if (!rows) return rows.error();
  return rows->heartbeat({{given.held.row.key, given.held.token}}, given.ttl, call).front();
}

/// The rows of a verdict's table, and the verdict's values.
struct RowsAndValues {
  Rows rows;
  RowValues values{};
};

Result<RowsAndValues> rows_and_values(const Store& store, const RowVerdict& given) {
  auto rows = store.rows(given.held.row.table);
  if (!rows) return rows.error();
  RowsAndValues both{.rows = std::move(*rows)};
  if (given.values.empty()) return both;
  const auto members = texts_of_object(given.values);
  if (!members) return invalid("values must be an object: {\"row_count\":41}");
  both.values.insert(members->begin(), members->end());
  return both;
}

Result<RowSettled> row_complete(const Store& store, const RowVerdict& given, const Call& call) {
  const auto both = rows_and_values(store, given);
  if (!both) return both.error();
  return both->rows.complete(given.held.row.key, given.held.token, both->values, call);
}

Result<RowSettled> row_fail(const Store& store, const RowFail& given, const Call& call) {
  const auto both = rows_and_values(store, given.verdict);
  if (!both) return both.error();
  const auto& held = given.verdict.held;
  return both->rows.fail(held.row.key, held.token, given.error, both->values, call);
}

Result<RowSettled> row_release(const Store& store, const RowVerdict& given, const Call& call) {
  const auto both = rows_and_values(store, given);
  if (!both) return both.error();
  return both->rows.release(given.held.row.key, given.held.token, both->values, call);
}

Result<RowInfo> row_show(const Store& store, const RowByKey& given, const Call& /*call*/) {
  const auto rows = store.rows(given.table);
  if (!rows) return rows.error();
  return rows->show(given.key);
}

Result<Page<RowInfo>> row_list(const Store& store, const RowList& given, const Call& /*call*/) {
  const auto rows = store.rows(given.table);
  if (!rows) return rows.error();
  return rows->list({.state = given.state, .max = given.max, .page = given.page});
}

Result<Page<AdoptedTable>> adopt_list(const Store& store, const Nothing& /*given*/, const Call& /*call*/) {
  auto tables = store.adopted_tables();
  if (!tables) return std::move(tables).error();
  return Page<AdoptedTable>{.items = std::move(*tables)};
}

Result<Page<RowRecovered>> row_recover(const Store& store, const RowRecover& given, const Call& /*call*/) {
  const auto rows = store.rows(given.table);
  if (!rows) return rows.error();
  auto recovered = rows->recover({.older_than = given.older_than, .dry_run = given.dry_run});
  if (!recovered) return std::move(recovered).error();
  return Page<RowRecovered>{.items = std::move(*recovered)};
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table.
std::span<const Act> row_acts() {
  static constexpr Act acts[] = {
      act<adopt_list>({
          .name = "adopt.list",
          .help = "List the adopted tables, and count their rows by state",
          .idempotent = true,
          .example = "{}",
      }),
      act<row_claim>({
          .name = "row.claim",
          .help = "Claim rows of an adopted table",
          .scope = Scope::work,
          .waits = true,
          .refusals = refusals<Errc::empty, Errc::held, Errc::not_found, Errc::busy, Errc::terminal, Errc::lost>,
          .example = R"({"table":"sync_jobs","max":2})",
      }),
      act<row_heartbeat>({
          .name = "row.heartbeat",
          .help = "Extend the lease of a row",
          .scope = Scope::work,
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"table":"sync_jobs","key":["1"],"token":1763200000000000})",
      }),
      act<row_complete>({
          .name = "row.complete",
          .help = "Complete a row",
          .scope = Scope::work,
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"table":"sync_jobs","key":["1"],"token":1763200000000000,"values":{"row_count":41}})",
      }),
      act<row_fail>({
          .name = "row.fail",
          .help = "Fail a row",
          .scope = Scope::work,
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"table":"sync_jobs","key":["1"],"token":1763200000000000,"error":"timeout"})",
      }),
      act<row_release>({
          .name = "row.release",
          .help = "Release a row",
          .scope = Scope::work,
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"table":"sync_jobs","key":["1"],"token":1763200000000000})",
      }),
      act<row_show>({
          .name = "row.show",
          .help = "Show a row of an adopted table",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"table":"sync_jobs","key":["1"]})",
      }),
      act<row_list>({
          .name = "row.list",
          .help = "List the rows of an adopted table",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"table":"sync_jobs","state":"expired"})",
      }),
      act<row_recover>({
          .name = "row.recover",
          .help = "Free rows whose lease has expired",
          .scope = Scope::work,
          .idempotent = true,
          .refusals = refusals<Errc::not_found, Errc::busy>,
          .example = R"({"table":"sync_jobs","dry_run":true})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
