// leasehold migrate: the schema and its versions.
#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

using Migrated = Result<std::vector<MigrationInfo>>;

/// Opens the store unchanged: these commands look at its schema and change it. A missing file counts as empty: only
/// what would have to be done can be shown.
Result<Migrations> open_as_it_is(const Context& context) {
  auto url = context.store_url();
  if (!url) return std::move(url).error();
  auto migrations = Migrations::open(*url, {.create = false});
  const bool missing = !migrations && migrations.error().code == Errc::schema_missing;
  return missing ? Migrations::open("sqlite::memory:", {}) : std::move(migrations);
}

Result<Migrations> open_or_make(const Context& context) {
  auto url = context.store_url_to_make();
  if (!url) return std::move(url).error();
  return Migrations::open(*url, {.create = true});
}

int print_migrations(const Context& context, const Migrated& migrations, std::string_view verb,
                     std::string_view nothing) {
  if (!migrations) return report(context, migrations.error());
  if (context.json) {
    print_line(model::to_json(*migrations));
  } else if (migrations->empty()) {
    say_line(nothing);
  } else {
    for (const auto& migration : *migrations) print("{} {:04} {}", verb, migration.version, migration.name);
  }
  return exit_code::ok;
}

int up(const Context& context) {
  auto migrations = open_or_make(context);
  if (!migrations) return report(context, migrations.error());
  return print_migrations(context, migrations->up(), "applied", "nothing to apply: the schema is current");
}

struct DownOptions {
  int to = -1;
  Consent consent;
};

/// Newest first: the order in which they are undone. Going back to 0 undoes the bookkeeping (0000), too.
std::vector<MigrationInfo> applied_above(const std::vector<MigrationInfo>& all, int version) {
  std::vector<MigrationInfo> above;
  std::copy_if(all.rbegin(), all.rend(), std::back_inserter(above), [&](const MigrationInfo& migration) {
    return migration.applied_at && (migration.version > version || version == 0);
  });
  return above;
}

int down(const Context& context, const DownOptions& options) {
  if (!options.consent.given()) return ask_for_yes(context, "migrate down drops tables and their data");
  auto migrations = open_as_it_is(context);
  if (!migrations) return report(context, migrations.error());
  auto all = migrations->status();
  if (!all) return report(context, all.error());
  const auto applied = applied_above(*all, 0);
  if (applied.empty()) {
    print_migrations(context, applied, "", "nothing to undo: there is no schema");
    return exit_code::nothing_to_do;
  }
  const int target = options.to >= 0 ? options.to : std::max(applied.front().version - 1, 0);
  if (options.consent.dry_run)
    return print_migrations(context, applied_above(*all, target), "would undo", "nothing to undo");
  const auto done = migrations->down(target);
  // Above 0 they stay recorded, and come back with `migrate up`.
  const auto url = context.store_url();
  if (done && target == 0 && url && url->starts_with("postgres")) {
    say_line("leasehold: all rights from `leasehold grant` are gone: grant them again after `migrate up`");
  }
  return print_migrations(context, done, "undone", "nothing to undo");
}

int show_status(const Context& context) {
  auto migrations = open_as_it_is(context);
  if (!migrations) return report(context, migrations.error());
  auto all = migrations->status();
  if (!all || context.json) return print_migrations(context, all, "", "");
  Table table({"VERSION", {"NAME", Column::as_it_is, 1}, {"APPLIED", Column::as_it_is, 1}, "TEXT"});
  for (const auto& migration : *all) {
    table.add({fmt::format("{:04}", migration.version), migration.name,
               migration.applied_at ? to_string(*migration.applied_at) : coloured(Tone::warning, "not yet"),
               migration.changed ? coloured(Tone::bad, "changed") : "as here"});
  }
  table.print();
  return exit_code::ok;
}

int verify(const Context& context) {
  auto migrations = open_as_it_is(context);
  if (!migrations) return report(context, migrations.error());
  auto drifts = migrations->verify();
  if (!drifts) return report(context, drifts.error());
  if (context.json) {
    print_line(model::to_json(*drifts));
  } else if (drifts->empty()) {
    print_line("the schema is correct");
  }
  if (!context.json) {
    for (const auto& drift : *drifts) print("{}: {}", printable(drift.object), printable(drift.problem));
  }
  return drifts->empty() ? exit_code::ok : exit_code::failure;
}

int plan(const Context& context) {
  auto migrations = open_as_it_is(context);
  if (!migrations) return report(context, migrations.error());
  auto sql = migrations->plan();
  if (!sql) return report(context, sql.error());
  if (context.json) {
    print_line(model::json_object({{"sql", *sql}}));
  } else {
    print_line(sql->substr(0, sql->find_last_not_of('\n') + 1));
  }
  return exit_code::ok;
}

}  // namespace

void add_migrate_up(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "up", "Apply missing migrations; safe to run concurrently",
                              {"leasehold migrate up", "leasehold migrate up --db postgresql://owner@db/app"});
  set_action(*command, context, [&context] { return up(context); });
}

void add_migrate_down(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "down", "Undo the newest migration, or all above a version",
      {"leasehold migrate down --dry-run", "leasehold migrate down --to 0 --yes     # removes all of leasehold"});
  auto options = std::make_shared<DownOptions>();
  add_number(*command, "--to", options->to, 0, 9999, "The version to go back to (default: the one before)");
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return down(context, *options); });
}

void add_migrate_status(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "status", "List the migrations and which are applied",
                              {"leasehold migrate status", "leasehold migrate status --json"});
  set_action(*command, context, [&context] { return show_status(context); });
}

void add_migrate_verify(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "verify",
                              "Compare each object of the schema with its definition (exit code 1: it differs)",
                              {"leasehold migrate verify"});
  set_action(*command, context, [&context] { return verify(context); });
}

void add_migrate_plan(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "plan", "Print the SQL that up would run, to paste into a hosted editor",
                              {"leasehold migrate plan --db postgresql://owner@db/app > leasehold.sql"});
  set_action(*command, context, [&context] { return plan(context); });
}

// leasehold sql: the whole schema as text.
namespace {

struct SqlOptions {
  std::string schema = "leasehold";
  bool sqlite = false;
  bool testing = false;
};

int print_schema(const Context& context, const SqlOptions& options) {
  const auto postgres = "postgresql:///?schema=" + options.schema;
  auto sql = options.testing ? Migrations::testing_script(postgres)
                             : Migrations::script(options.sqlite ? "sqlite:leasehold.db" : postgres);
  if (!sql) return report(context, sql.error());
  if (context.json) {
    print_line(model::json_object({{"sql", *sql}}));
  } else {
    print_line(sql->substr(0, sql->find_last_not_of('\n') + 1));
  }
  return exit_code::ok;
}

}  // namespace

void add_sql(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "sql", "Print the whole schema as SQL, without a connection",
      {"leasehold sql > leasehold.sql            # for a hosted editor or a migration tool",
       "leasehold sql | psql -v ON_ERROR_STOP=1 \"$DATABASE_URL\"", "leasehold sql --sqlite | sqlite3 work.db",
       "leasehold sql --testing | psql \"$TEST_DATABASE_URL\""});
  refuse_db(*command, context, "sql opens no store: pipe what it prints into psql, or see `leasehold migrate plan`");
  auto options = std::make_shared<SqlOptions>();
  auto* schema = command->add_option("--schema", options->schema, "The name of the schema (default: leasehold)");
  schema->type_name("NAME");
  auto* sqlite = command->add_flag("--sqlite", options->sqlite, "The schema of a SQLite store")->excludes(schema);
  command
      ->add_flag("--testing", options->testing, "Instead of the schema: a clock that tests move, for a test database")
      ->excludes(sqlite);
  set_action(*command, context, [&context, options] { return print_schema(context, *options); });
}

}  // namespace leasehold::cli
