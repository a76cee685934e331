#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "adopt/fragments.h"
#include "adopt/postgres/session_values.h"
#include "adopt/templates.h"
#include "base/text.h"

namespace leasehold::adopt::postgres {
namespace {

struct SessionTemplate {
  std::string_view file;
  std::string_view text;
};

/// Steps of the kind "part" are no steps: each becomes the value of its name for the templates after it.
Result<void> add_parts(Values& values, const SessionTemplate& part) {
  auto steps = render(part.text, part.file, values);
  if (!steps) return std::move(steps).error();
  for (auto& step : *steps) values[step.name] = std::move(step.up);
  return {};
}

/// Indented like the lines of a list in a note, at most some of them.
std::string listed(const storage::TextRows& rows) {
  constexpr std::size_t most = 10;
  std::string text;
  for (std::size_t row = 0; row < std::min(rows.rows.size(), most); ++row) {
    text += (row == 0 ? "" : ", ") + rows.rows[row][0].value_or("");
  }
  if (rows.rows.size() > most) text += fmt::format(" and {} more", rows.rows.size() - most);
  return text;
}

std::string filled(std::string_view sql, const Values& values) {
  std::string text(sql);
  for (const auto& [name, value] : values) {
    const auto mark = "{" + name + "}";
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size())) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

/// Before adopting there is no function for the things' names, so these queries read the tables themselves.
constexpr std::string_view held_query =
    "WITH held AS (SELECT s.*, (SELECT t.{thing_key}::text FROM {things} AS t WHERE s.name IN ({names_t}) LIMIT 1) AS "
    "thing "
    "FROM (SELECT {id}::text AS id, {holds} AS name, {heartbeat} AS heard FROM {sessions} "
    "WHERE {holds} IS NOT NULL AND {active}) AS s) ";

constexpr std::string_view duplicates_query =
    "SELECT h.name || ' (' || h.id || ')' FROM held AS h WHERE EXISTS (SELECT FROM held AS o WHERE o.thing = h.thing "
    "AND (coalesce(o.heard, {never}), o.id) > (coalesce(h.heard, {never}), h.id)) ORDER BY 1";

constexpr std::string_view phantoms_query =
    "SELECT h.name || ' (' || h.id || ')' FROM held AS h WHERE h.thing IS NULL ORDER BY 1";

constexpr std::string_view flags_query =
    "SELECT t.{thing_key}::text FROM {things} AS t WHERE ({shown_any}) AND NOT EXISTS (SELECT FROM {sessions} "
    "WHERE {alias}.{holds} IN ({names_t}) AND {active}) ORDER BY 1";

constexpr std::string_view ambiguous_query =
    "SELECT n.name FROM (SELECT t.{thing_key} AS key, unnest(ARRAY[{names_as_held}]) AS name FROM {things} AS t) AS n "
    "WHERE n.name IS NOT NULL GROUP BY n.name HAVING count(DISTINCT n.key) > 1 ORDER BY 1";

/// Triggers that see only some of the rows would let a thing have two sessions.
constexpr std::string_view hidden_query =
    "SELECT name FROM unnest(ARRAY['{sessions_text}', '{things_text}']) AS name "
    "WHERE pg_catalog.row_security_active(name::regclass)";

}  // namespace

Result<std::vector<Step>> render_sessions(Values& values) {
  constexpr std::string_view triggers = "postgres/sessions_triggers.sql", back = "postgres/sessions_back.sql";
  constexpr std::string_view view = "postgres/sessions_view_back.sql";
  values["restore_view"] = "";
  if (auto added = add_parts(values, {triggers, templates::postgres_sessions_triggers}); !added) return added.error();
  if (auto added = add_parts(values, {back, templates::postgres_sessions_back}); !added) return added.error();
  if (!values["view"].empty()) {
    if (auto added = add_parts(values, {view, templates::postgres_sessions_view_back}); !added) return added.error();
  }
  std::vector<Step> all;
  const std::array<SessionTemplate, 4> files = {
      {{"postgres/sessions.sql", templates::postgres_sessions},
       {"postgres/sessions_functions.sql", templates::postgres_sessions_functions},
       {"postgres/sessions_views.sql", templates::postgres_sessions_views},
       {"postgres/sessions_acts.sql", templates::postgres_sessions_acts}}};
  for (const auto& [file, text] : files) {
    auto steps = render(text, file, values);
    if (!steps) return std::move(steps).error();
    for (auto& step : *steps) all.push_back(std::move(step));
  }
  std::stable_sort(all.begin(), all.end(), [](const Step& a, const Step& b) { return a.phase < b.phase; });
  return all;
}

Result<std::vector<Note>> session_notes(storage::Direct& database, const Description& table, const Values& values,
                                        BootTime deadline) {
  const bool decided = !table.sessions->on_duplicate.empty();
  std::vector<Note> notes;
  const auto ask = [&](std::string_view query, bool of_held) {
    return database.run(filled(of_held ? std::string(held_query) + std::string(query) : std::string(query), values),
                        deadline);
  };
  const auto add = [&](const storage::TextRows& rows, std::string_view what) {
    if (rows.rows.empty()) return;
    notes.push_back({.level = decided ? Note::Level::advice : Note::Level::danger,
                     .text = fmt::format("{}: {}; apply clears them, and revert restores them{}", what, listed(rows),
                                         decided ? "" : R"(; on_duplicate = "latest heartbeat" agrees to that)")});
  };
  auto hidden = ask(hidden_query, false);
  if (!hidden) return std::move(hidden).error();
  if (!hidden->rows.empty()) {
    return error_at(table, "shape",
                    fmt::format("row security hides rows of {} from you, and would hide them from the triggers: "
                                "adopt it as a role that sees all of them",
                                listed(*hidden)));
  }
  auto ambiguous = ask(ambiguous_query, false);
  if (!ambiguous) return std::move(ambiguous).error();
  if (!ambiguous->rows.empty()) {
    return error_at(
        table, "holds",
        fmt::format("several rows of {} have the name {}", table.sessions->holds->table, listed(*ambiguous)));
  }
  auto duplicates = ask(duplicates_query, true);
  if (!duplicates) return std::move(duplicates).error();
  add(*duplicates, "claims that lose to a session that was heard later");
  auto phantoms = ask(phantoms_query, true);
  if (!phantoms) return std::move(phantoms).error();
  add(*phantoms, "claims of names that are not in " + table.sessions->holds->table);
  if (values.at("shown").empty()) return notes;
  auto flags = ask(flags_query, false);
  if (!flags) return std::move(flags).error();
  add(*flags, "flags without a session");
  return notes;
}

Result<void> emit_sessions(storage::Direct& database, const Description& table, Emission& emission, BootTime deadline) {
  const auto& wanted = table.sessions->on_duplicate;
  if (!wanted.empty() && wanted != "latest heartbeat") {
    return error_at(table, "on_duplicate", R"(it can only be "latest heartbeat")");
  }
  auto facts = inspect_sessions(database, table, deadline);
  if (!facts) return std::move(facts).error();
  Values values;
  if (auto added = add_session_values(values, table, emission.facts, *facts); !added) return added;
  auto steps = render_sessions(values);
  if (!steps) return std::move(steps).error();
  auto notes = session_notes(database, table, values, deadline);
  if (!notes) return std::move(notes).error();
  for (auto& step : *steps) emission.steps.push_back(std::move(step));
  for (auto& note : *notes) emission.notes.push_back(std::move(note));
  return {};
}

}  // namespace leasehold::adopt::postgres
