// leasehold adopt: leases on the rows of the user's own tables.
#include <fmt/format.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "leasehold/adopt.h"
#include "leasehold/row.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

Error wrong_file(const std::string& path, std::string_view why) {
  return {.code = Errc::invalid_argument, .message = fmt::format("{}: {}", path, why)};
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return wrong_file(path, std::strerror(errno != 0 ? errno : EIO));
  return text.str();
}

Result<void> write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return wrong_file(path.string(), std::strerror(errno != 0 ? errno : EIO));
  return {};
}

Result<Adoption> open_adoption(const Context& context) {
  auto url = context.store_url();
  if (!url) return std::move(url).error();
  return Adoption::open(*url);
}

Result<std::vector<AdoptedTable>> adopted_tables(const Context& context) {
  auto url = context.store_url();
  if (!url) return std::move(url).error();
  return Rows::tables(*url);
}

void print_notes(const std::vector<Finding>& notes) {
  for (const auto& note : notes) {
    const auto tone = note.level == Finding::Level::fine     ? Tone::faint
                      : note.level == Finding::Level::advice ? Tone::warning
                                                             : Tone::bad;
    const auto* word = note.level == Finding::Level::fine     ? "note"
                       : note.level == Finding::Level::advice ? "advice"
                                                              : "danger";
    say("{}: {}", coloured(tone, word), printable(note.what));
  }
}

/// The SQL, as a person reads it: what each step makes and how it runs, then its text.
void print_plan(const AdoptPlan& plan) {
  for (const auto& step : plan.steps) {
    if (step.up.empty()) continue;
    print("-- {}: {}{}", step.phase, printable(step.what), step.done ? " (done)" : "");
    if (!step.lock.empty()) print("-- lock: {}", step.lock);
    print("{};\n", step.up);
  }
  print_notes(plan.notes);
}

struct FileOptions {
  std::string file;
  std::string migration;
  bool yes = false;
};

int write_migration(const Context& context, const Adoption& adoption, const std::string& text,
                    const FileOptions& options) {
  const auto scripts = adoption.scripts(text, options.file);
  if (!scripts) return report(context, scripts.error());
  const std::filesystem::path folder = options.migration;
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return report(context, wrong_file(options.migration, problem.message()));
  for (const auto& [name, sql] : {std::pair{"up.sql", &scripts->up}, std::pair{"down.sql", &scripts->down}}) {
    if (const auto written = write_file(folder / name, *sql); !written) return report(context, written.error());
  }
  if (context.json) {
    print_line(model::json_object({{"up", (folder / "up.sql").string()}, {"down", (folder / "down.sql").string()}}));
  } else {
    say("leasehold: wrote {}/up.sql and {}/down.sql", printable(options.migration), printable(options.migration));
  }
  return exit_code::ok;
}

int plan_adoption(const Context& context, const FileOptions& options) {
  const auto text = read_file(options.file);
  if (!text) return report(context, text.error());
  const auto adoption = open_adoption(context);
  if (!adoption) return report(context, adoption.error());
  if (!options.migration.empty()) return write_migration(context, *adoption, *text, options);
  const auto planned = adoption->plan(*text, options.file);
  if (!planned) return report(context, planned.error());
  if (context.json) {
    print_line(model::to_json(*planned));
  } else {
    print_plan(*planned);
  }
  return exit_code::ok;
}

int apply_file(const Context& context, const FileOptions& options) {
  const auto text = read_file(options.file);
  if (!text) return report(context, text.error());
  const auto adoption = open_adoption(context);
  if (!adoption) return report(context, adoption.error());
  ApplyOptions how{.consent = options.yes};
  if (!context.json) how.on_step = [](const AdoptStep& step) { say("{}", printable(step.what)); };
  const auto applied = adoption->apply(*text, options.file, how);
  if (!applied) return report(context, applied.error());
  if (context.json) {
    print_line(model::to_json(*applied));
  } else {
    print_notes(applied->notes);
    print_line(applied->steps.empty() ? "nothing to do: the database is as the file says"
                                      : fmt::format("applied {}", counted(std::ssize(applied->steps), "step")));
  }
  return exit_code::ok;
}

int try_out(const Context& context, const std::string& table) {
  const auto adoption = open_adoption(context);
  if (!adoption) return report(context, adoption.error());
  const auto steps = adoption->try_out(table);
  if (!steps) return report(context, steps.error());
  bool good = true;
  Table shown({"", {"ACT", Column::may_be_cut}, {"OUTCOME", Column::may_be_cut}});
  for (const auto& step : *steps) {
    good = good && step.as_promised;
    shown.add({step.as_promised ? coloured(Tone::good, "ok") : coloured(Tone::bad, "WRONG"), printable(step.act),
               printable(step.outcome)});
  }
  if (context.json) {
    print_line(model::to_json(*steps));
  } else {
    shown.print();
    print_line(good ? "all as promised; everything was rolled back" : "not as promised; everything was rolled back");
  }
  return good ? exit_code::ok : exit_code::failure;
}

int verify_adoptions(const Context& context) {
  const auto adoption = open_adoption(context);
  if (!adoption) return report(context, adoption.error());
  const auto drifts = adoption->verify();
  if (!drifts) return report(context, drifts.error());
  if (context.json) {
    print_line(model::to_json(*drifts));
  } else if (drifts->empty()) {
    const auto tables = adopted_tables(context);
    print_line(tables && tables->empty() ? "no table is adopted" : "everything is as it was applied");
  }
  if (!context.json) {
    for (const auto& drift : *drifts) print("{}: {}", printable(drift.object), printable(drift.problem));
  }
  return drifts->empty() ? exit_code::ok : exit_code::failure;
}

struct RevertOptions {
  std::string table;
  Consent consent;
};

int revert_table(const Context& context, const RevertOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, "adopt revert removes the columns with the leases, and all that was added");
  }
  const auto adoption = open_adoption(context);
  if (!adoption) return report(context, adoption.error());
  ApplyOptions how{};
  if (!context.json) how.on_step = [](const AdoptStep& step) { say("{}", printable(step.what)); };
  const auto reverted =
      options.consent.dry_run ? adoption->revert_plan(options.table) : adoption->revert(options.table, how);
  if (!reverted) return report(context, reverted.error());
  if (context.json) {
    print_line(model::to_json(*reverted));
  } else if (options.consent.dry_run) {
    print_plan(*reverted);
  } else {
    print("reverted {}: {} taken back", printable(options.table), counted(std::ssize(reverted->steps), "step"));
  }
  return exit_code::ok;
}

int list_adopted(const Context& context) {
  const auto tables = adopted_tables(context);
  if (!tables) return report(context, tables.error());
  if (context.json) {
    print_line(model::to_json(*tables));
    return exit_code::ok;
  }
  Table shown({"TABLE",
               {"SHAPE", Column::as_it_is, 2},
               {"TTL", Column::as_it_is, 1},
               "RUNNING",
               "EXPIRED",
               "AVAILABLE",
               "WAITING"});
  for (const auto& table : *tables) {
    const auto count = [&](std::int64_t RowCounts::*member) {
      if (!table.counts) return std::string("-");
      const bool is_more = (*table.counts).*member >= bounds::max_rows_counted;
      return fmt::format("{}{}", (*table.counts).*member, is_more ? "+" : "");
    };
    shown.add({printable(table.table), table.shape.empty() ? coloured(Tone::warning, "unfinished") : table.shape,
               format_duration(table.ttl), count(&RowCounts::running), count(&RowCounts::expired),
               count(&RowCounts::available), count(&RowCounts::waiting)});
  }
  shown.print();
  if (tables->empty()) say("no table is adopted; begin with `leasehold adopt plan FILE`");
  return exit_code::ok;
}

void add_file(CLI::App& command, std::string& file) {
  command.add_option("FILE", file, "The file that describes the tables; docs/adopt.md lists its keys")
      ->required()
      ->check(not_empty)
      ->type_name("");
}

}  // namespace

void add_adopt_plan(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "plan", "Print the SQL that apply would run, and what it found in the database",
                  {"leasehold adopt plan adopt.toml --db postgresql://owner@db/app | less",
                   "leasehold adopt plan adopt.toml --migration migrations/20260301_leases"});
  auto options = std::make_shared<FileOptions>();
  add_file(*command, options->file);
  command
      ->add_option("--migration", options->migration,
                   "Write up.sql and down.sql there instead: plain SQL for a migration tool or a hosted editor")
      ->check(not_empty)
      ->type_name("DIR");
  set_action(*command, context, [&context, options] { return plan_adoption(context, *options); });
}

void add_adopt_apply(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "apply",
                  "Give the tables of a file leases, while they are in use; repeat it after a change of the file",
                  {"leasehold adopt apply adopt.toml --db postgresql://owner@db/app"});
  auto options = std::make_shared<FileOptions>();
  add_file(*command, options->file);
  command->add_flag("-y,--yes", options->yes, "Go on although the plan shows a danger");
  set_action(*command, context, [&context, options] { return apply_file(context, *options); });
}

void add_adopt_try(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "try",
                  "Claim a row, let it expire, take it over and complete it late; then roll everything back",
                  {"leasehold adopt try sync_jobs"});
  auto table = std::make_shared<std::string>();
  add_name(*command, "TABLE", *table, "The adopted table")->check(not_empty);
  set_action(*command, context, [&context, table] { return try_out(context, *table); });
}

void add_adopt_verify(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "verify",
                  "Compare what apply made with what is there, object by object and row by row (exit code 1: it "
                  "differs)",
                  {"leasehold adopt verify"});
  set_action(*command, context, [&context] { return verify_adoptions(context); });
}

void add_adopt_revert(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "revert",
                              "Take everything back that apply added to a table, and restore what it replaced",
                              {"leasehold adopt revert sync_jobs --dry-run", "leasehold adopt revert sync_jobs --yes"});
  auto options = std::make_shared<RevertOptions>();
  add_name(*command, "TABLE", options->table, "The adopted table")->check(not_empty);
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return revert_table(context, *options); });
}

void add_adopt_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List the adopted tables", {"leasehold adopt ls"});
  set_action(*command, context, [&context] { return list_adopted(context); });
}

}  // namespace leasehold::cli
