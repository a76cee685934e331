#include "support/recycled_schema.h"

#include <fmt/format.h>

#include <stdexcept>

#include "storage/migrations.h"
#include "storage/postgres/backend.h"
#include "support/process.h"

namespace leasehold::support {
namespace {

constexpr auto make_list =
    "CREATE TABLE IF NOT EXISTS public.clean_schema (name text PRIMARY KEY, shape text NOT NULL, migrations text NOT "
    "NULL)";

constexpr auto list_parts = R"(
  WITH class AS (SELECT * FROM pg_class WHERE relnamespace IN ('{0}'::regnamespace, '{0}_internal'::regnamespace)),
       routine AS (SELECT oid, xmin FROM pg_proc WHERE pronamespace IN ('{0}'::regnamespace, '{0}_internal'::regnamespace)),
  part(what, id, state) AS (
    -- Emptying a table gives its row here a new xmin, so what matters of it is named.
    SELECT 'class', oid::text, concat_ws(' ', relname, relkind, relpersistence, relowner, relnatts, relchecks,
                                         relhasrules, relhastriggers, relrowsecurity, relreplident, reloptions, relacl)
      FROM class
    UNION ALL
    SELECT 'attribute', a.attrelid || '.' || a.attnum, a.xmin::text FROM pg_attribute AS a JOIN class ON class.oid = a.attrelid
    UNION ALL
    SELECT 'default', d.oid::text, d.xmin::text FROM pg_attrdef AS d JOIN class ON class.oid = d.adrelid
    UNION ALL
    SELECT 'trigger', t.oid::text, t.xmin::text FROM pg_trigger AS t JOIN class ON class.oid = t.tgrelid
    UNION ALL
    SELECT 'rule', r.oid::text, r.xmin::text FROM pg_rewrite AS r JOIN class ON class.oid = r.ev_class
    UNION ALL
    SELECT 'constraint', oid::text, xmin::text FROM pg_constraint WHERE connamespace IN ('{0}'::regnamespace, '{0}_internal'::regnamespace)
    UNION ALL
    SELECT 'type', oid::text, xmin::text FROM pg_type WHERE typnamespace IN ('{0}'::regnamespace, '{0}_internal'::regnamespace)
    UNION ALL
    SELECT 'routine', oid::text, xmin::text FROM routine
    UNION ALL
    SELECT 'comment', d.objoid::text, d.xmin::text FROM pg_description AS d JOIN routine ON routine.oid = d.objoid
    UNION ALL
    SELECT 'schema', oid::text, xmin::text FROM pg_namespace WHERE nspname IN ('{0}', '{0}_internal')
    UNION ALL
    SELECT 'migration', version::text, xmin::text FROM {0}_internal.migration
  )
  SELECT md5(string_agg(concat_ws(' ', what, id, state), E'\n' ORDER BY what, id)) FROM part)";

// A sequence may have moved though nothing ever came into its table. What is this schema's is listed first: to look at
// another's sequence would mean to wait for the process that is emptying that one.
constexpr auto empty_tables = R"(
  DO $do$
  DECLARE used text;
  BEGIN
    WITH tables AS MATERIALIZED (
      SELECT c.oid FROM pg_class AS c
       WHERE c.relnamespace IN ('{0}'::regnamespace, '{0}_internal'::regnamespace) AND c.relkind = 'r' AND c.relname NOT IN ('migration', 'added')),
    sequences AS MATERIALIZED (
      SELECT c.oid FROM pg_class AS c WHERE c.relnamespace IN ('{0}'::regnamespace, '{0}_internal'::regnamespace) AND c.relkind = 'S'),
    moved AS MATERIALIZED (SELECT s.oid FROM sequences AS s WHERE pg_sequence_last_value(s.oid) IS NOT NULL)
    SELECT string_agg(t.oid::regclass::text, ', ') INTO used
      FROM tables AS t
     WHERE pg_relation_size(t.oid) > 0
        OR t.oid IN (SELECT d.refobjid FROM moved AS m
                       JOIN pg_depend AS d ON d.objid = m.oid AND d.classid = 'pg_class'::regclass);
    IF used IS NOT NULL THEN
      EXECUTE 'TRUNCATE ' || used || ' RESTART IDENTITY CASCADE';
    END IF;
  END $do$)";

// A session that its test has closed may still be at its last statement, and tells its statistics when it ends. Within
// a transaction the server would give the first picture again and again.
bool nobody_else_uses(PgConnection& connection, const std::string& schema) {
  const auto others = fmt::format(
      R"(SELECT count(*) FROM pg_stat_activity WHERE query ~ '\m{}(_internal)?\M' AND pid <> pg_backend_pid())",
      schema);
  return eventually(
      [&] {
        connection.run("SELECT pg_stat_clear_snapshot()");
        return connection.scalar(others) == "0";
      },
      std::chrono::seconds(1));
}

}  // namespace

const std::string& checksum_of_migrations() {
  static const std::string sum = [] {
    std::string texts;
    for (const auto& migration : postgres::dialect().migrations) texts += migration.up;
    return storage::checksum(texts);
  }();
  return sum;
}

bool may_recycle(PgConnection& connection) {
  return connection.scalar("SELECT current_setting('cluster_name')") == "leasehold-throwaway";
}

std::string shape_of(PgConnection& connection, const std::string& schema) {
  return connection.scalar(fmt::format(list_parts, schema));
}

std::optional<RecycledSchema> take_recycled(PgConnection& connection) {
  if (connection.scalar("SELECT to_regclass('public.clean_schema')") == "NULL") return std::nullopt;
  const auto taken = connection.rows(fmt::format(
      "DELETE FROM public.clean_schema WHERE name = (SELECT name FROM public.clean_schema WHERE migrations = '{}' "
      "LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING name, shape",
      checksum_of_migrations()));
  if (taken.empty()) return std::nullopt;
  return RecycledSchema{.name = taken.front().at(0).value(), .shape = taken.front().at(1).value()};
}

bool recycle(PgConnection& connection, const RecycledSchema& schema) try {
  if (!nobody_else_uses(connection, schema.name)) return false;
  connection.run("SET lock_timeout = '1s'");
  connection.run(fmt::format(empty_tables, schema.name));
  if (shape_of(connection, schema.name) != schema.shape) return false;
  // If two processes make the list at once, the slower one fails and finds it.
  connection.fail(make_list);
  connection.run(fmt::format("INSERT INTO public.clean_schema VALUES ('{}', '{}', '{}')", schema.name, schema.shape,
                             checksum_of_migrations()));
  return true;
} catch (const std::runtime_error&) {
  return false;
}

}  // namespace leasehold::support
