#include "adopt/postgres/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "adopt/ledger.h"
#include "base/json.h"
#include "base/text.h"

namespace leasehold::adopt::postgres {
namespace {

using storage::quote_literal;
using storage::quote_name;

/// PostgreSQL itself reads the signature: this creates a function of that shape in the session's own schema, compares
/// it with the existing one, and drops it again.
constexpr std::string_view compare_query = R"(
SELECT set_config('check_function_bodies', 'off', true);
CREATE FUNCTION pg_temp.leasehold_wanted({0}) RETURNS {1} LANGUAGE sql AS 'SELECT';
SELECT oidvectortypes(w.proargtypes) AS identity, old.oid IS NOT NULL AS replaced,
       coalesce(pg_get_function_arguments(w.oid) = pg_get_function_arguments(old.oid)
                AND pg_get_function_result(w.oid) = pg_get_function_result(old.oid), true) AS same,
       format('(%s) RETURNS %s', pg_get_function_arguments(old.oid), pg_get_function_result(old.oid)) AS was,
       coalesce(old.prosecdef, false) AS definer, coalesce(to_json(old.proconfig), '[]')::text AS settings,
       CASE WHEN old.oid IS NOT NULL THEN pg_get_functiondef(old.oid) END AS definition,
       ARRAY(SELECT format('%I.%I', n.nspname, p.proname) FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
              WHERE p.oid <> old.oid AND p.prosrc ~ ('\m' || {3} || '\M') AND n.nspname <> 'pg_catalog')::text AS callers
  FROM pg_proc AS w
  LEFT JOIN pg_proc AS old ON old.proname = {3} AND old.proargtypes = w.proargtypes
   AND old.pronamespace = (SELECT n.oid FROM pg_namespace AS n WHERE n.nspname = {2})
 WHERE w.proname = 'leasehold_wanted' AND w.pronamespace = pg_my_temp_schema();
DROP FUNCTION pg_temp.leasehold_wanted)";

struct Signature {
  std::string schema;
  std::string name;
  std::string arguments;
};

/// "claim_sd(p_sd_id text)" or "app.claim_sd(p_sd_id text)"
std::optional<Signature> read_signature(const Description& table, std::string_view text) {
  const auto open = text.find('(');
  if (open == std::string_view::npos || !trimmed(text).ends_with(')')) return std::nullopt;
  const auto name = trimmed(text.substr(0, open));
  const auto end = text.rfind(')');
  const auto dot = name.find('.');
  Signature signature;
  signature.schema = dot == std::string_view::npos ? table.schema : std::string(name.substr(0, dot));
  signature.name = dot == std::string_view::npos ? std::string(name) : std::string(name.substr(dot + 1));
  signature.arguments = std::string(trimmed(text.substr(open + 1, end - open - 1)));
  return signature;
}

bool is_plpgsql(std::string_view body) {
  std::string begin(trimmed(body).substr(0, 7));
  for (auto& c : begin) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return begin == "DECLARE" || begin.starts_with("BEGIN");
}

/// "search_path=public, app" as CREATE FUNCTION writes it: a list of names stays as it is.
std::string setting(std::string_view text) {
  const auto equals = std::min(text.find('='), text.size() - 1);
  const auto name = text.substr(0, equals);
  const auto value = text.substr(equals + 1);
  return fmt::format("\nSET {} TO {}", name, name == "search_path" ? std::string(value) : quote_literal(value));
}

/// Only the roles may call a function that did not exist before.
std::string rights_of(const Description& table, const std::string& full) {
  std::vector<std::string> roles;
  roles.reserve(table.roles.size());
  for (const auto& role : table.roles) roles.push_back(quote_name(role));
  auto sql = fmt::format(R"(;
DO $$
DECLARE
  v_grantee text;
BEGIN
  FOR v_grantee IN
    SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
      FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
     WHERE p.oid = {}::regprocedure AND a.grantee <> p.proowner
  LOOP
    EXECUTE 'REVOKE ALL ON FUNCTION ' || {} || ' FROM ' || v_grantee;
  END LOOP;
END $$)",
                         quote_literal(full), quote_literal(full));
  if (!roles.empty()) sql += fmt::format(";\nGRANT EXECUTE ON FUNCTION {} TO {}", full, fmt::join(roles, ", "));
  return sql;
}

/// The SQL that undoes a step that was applied earlier.
Result<std::optional<std::string>> recorded_down(storage::Direct& database, const Description& table,
                                                 std::string_view label, BootTime deadline) {
  Ledger ledger(database, table.schema, table.table);
  auto exists = ledger.exists(deadline);
  if (!exists) return std::move(exists).error();
  if (!*exists) return std::optional<std::string>();
  auto steps = ledger.steps(deadline);
  if (!steps) return std::move(steps).error();
  for (const auto& done : *steps) {
    if (done.name == label) return std::optional(done.down);
  }
  return std::optional<std::string>();
}

}  // namespace

Result<Step> function_step(storage::Direct& database, const Description& table, const WantedFunction& function,
                           BootTime deadline) {
  const auto refused = [&](std::string_view what) {
    return invalid(fmt::format("[function.\"{}\"]: {}", function.signature, what));
  };
  const auto signature = read_signature(table, function.signature);
  if (!signature) return refused("write name(argument type, …)");
  auto rows = database.run(fmt::format(compare_query, signature->arguments, function.returns,
                                       quote_literal(signature->schema), quote_literal(signature->name)),
                           deadline);
  if (!rows && rows.error().code == Errc::unavailable) return std::move(rows).error();
  if (!rows) return refused(rows.error().message);
  if (rows->rows.empty()) return refused("the database did not create it");
  if (rows->at(0, "same") != "t") {
    return refused(
        fmt::format("there is {}{} already: a replacement needs the same argument names, types, defaults and "
                    "result",
                    signature->name, rows->at(0, "was").value_or("")));
  }
  bool replaced = rows->at(0, "replaced") == "t";
  const auto identity = fmt::format("{}.{}({})", quote_name(signature->schema), quote_name(signature->name),
                                    rows->at(0, "identity").value_or(""));
  auto definition = rows->at(0, "definition").value_or("");
  // The existing function may be ours already; then the ledger has the one before it.
  auto earlier = recorded_down(database, table, "function " + identity, deadline);
  if (!earlier) return std::move(earlier).error();
  if (*earlier) {
    replaced = !(*earlier)->starts_with("DROP ");
    definition = **earlier;
  }
  const auto quote = function.body.find("$$") == std::string::npos ? "$$" : "$leasehold$";
  std::string settings;
  for (const auto& one : texts_from_json(rows->at(0, "settings").value_or("[]"))) settings += setting(one);
  Step step{
      .phase = Phase::prepare, .kind = "function", .name = identity, .up = {}, .down = "DROP FUNCTION " + identity};
  step.up = fmt::format("CREATE{} FUNCTION {}.{}({}) RETURNS {}\nLANGUAGE {}{}{} AS {}\n{}\n{}",
                        replaced ? " OR REPLACE" : "", quote_name(signature->schema), quote_name(signature->name),
                        signature->arguments, function.returns, is_plpgsql(function.body) ? "plpgsql" : "sql",
                        rows->at(0, "definer") == "t" ? " SECURITY DEFINER" : "", settings, quote,
                        trimmed(function.body), quote);
  if (replaced) {
    step.down = definition.substr(0, definition.find_last_not_of(" \n") + 1);
  } else {
    step.up += rights_of(table, identity);
  }
  return step;
}

std::vector<Step> index_steps(const Description& table, bool partitioned) {
  std::vector<Step> steps;
  for (const auto& index : table.indexes) {
    const auto full = quote_name(table.schema) + "." + quote_name(index.name);
    steps.push_back({.phase = partitioned ? Phase::prepare : Phase::concurrently,
                     .kind = "index",
                     .name = full,
                     .up = fmt::format("CREATE INDEX{} {} ON {}.{} ({}){}", partitioned ? "" : " CONCURRENTLY",
                                       quote_name(index.name), quote_name(table.schema), quote_name(table.table),
                                       index.on, index.where.empty() ? "" : " WHERE " + index.where),
                     .down = "DROP INDEX " + full});
  }
  return steps;
}

}  // namespace leasehold::adopt::postgres
