#include <fmt/format.h>

#include <algorithm>

#include "adopt/postgres/moments.h"
#include "adopt/postgres/session_values.h"
#include "base/text.h"

namespace leasehold::adopt::postgres {
namespace {

using storage::quote_literal;
using storage::quote_name;

/// name = "SQL" of a column that the view gets.
using ViewColumn = Named;

/// computed_status: the final states of the file first, then what follows from heartbeat and claim.
std::string status_of(const Description& table, const Values& values) {
  std::string cases;
  for (const auto& [state, condition] : table.finals) {
    cases += fmt::format("WHEN ({}) THEN {}\n            ", condition, quote_literal(state));
  }
  return fmt::format(
      "CASE {}WHEN (heard.age < {}) IS NOT TRUE THEN 'stale'\n"
      "            WHEN {} AND {} IS NOT NULL THEN 'active'\n            ELSE 'idle' END",
      cases, values.at("ttl_seconds"), values.at("active"), values.at("holds"));
}

std::vector<ViewColumn> added_columns(const Description& table, const Values& values, const OldView& view) {
  const auto ttl = values.at("ttl_seconds");
  std::vector<ViewColumn> columns = {
      {"heartbeat_age_seconds", "heard.age"},
      {"heartbeat_age_minutes", "round(heard.age / 60.0, 1)"},
      {"seconds_until_stale", fmt::format("greatest({} - heard.age, 0)", ttl)},
      {"computed_status", status_of(table, values)},
  };
  const auto& since = table.sessions->holds->since;
  for (const auto& column : view.columns) {
    const auto moments = Moments::of(table, column.name, column.type);
    if (since.empty() || column.name != since || !moments || !moments->has_spans()) continue;
    columns.emplace_back("claim_duration_minutes",
                         fmt::format("CASE WHEN {} IS NOT NULL\n            THEN round({} / 60.0, 1) END",
                                     values.at("holds"), moments->seconds(quote_name(since), moments->now())));
  }
  std::string human = values.at("human_heard");
  for (auto at = human.find('\n'); at != std::string::npos; at = human.find('\n', at + 1))
    human.insert(at + 1, 10, ' ');
  columns.emplace_back("heartbeat_age_human", std::move(human));
  return columns;
}

/// The old columns in their places, with their types; the others behind them.
std::string view_columns(const Values& values, const OldView& view, std::vector<ViewColumn> added) {
  std::string list;
  const auto append = [&](std::string_view text) {
    list += fmt::format("{}{}", list.empty() ? "" : ",\n       ", text);
  };
  for (const auto& old : view.columns) {
    const auto found = std::find_if(added.begin(), added.end(), [&](const auto& one) { return one.first == old.name; });
    if (found == added.end()) {
      append(fmt::format("{}.{}", values.at("alias"), quote_name(old.name)));
      continue;
    }
    append(fmt::format("({})::{} AS {}", found->second, old.type, quote_name(old.name)));
    added.erase(found);
  }
  for (const auto& [name, sql] : added) append(fmt::format("{} AS {}", sql, name));
  return list;
}

}  // namespace

Result<void> add_view_values(Values& values, const Description& table, const OldView& view) {
  const auto& keys = *table.sessions;
  for (const auto& needed : {keys.heartbeat, keys.holds->column}) {
    const bool there = std::any_of(view.columns.begin(), view.columns.end(),
                                   [&](const auto& column) { return column.name == needed; });
    if (!there) return error_at(table, "view", fmt::format("{} does not show {}", keys.view, needed));
  }
  const auto [schema, name] = split_name(table, keys.view);
  const auto full = quote_name(schema) + "." + quote_name(name);
  const auto literal = quote_literal(full);
  values["view"] = full;
  values["view_text"] = literal.substr(1, literal.size() - 2);
  values["view_name_literal"] = quote_literal(keys.view);
  values["view_with"] = view.options.empty() ? "" : fmt::format(" WITH ({})", view.options);
  values["view_columns"] = view_columns(values, view, added_columns(table, values, view));
  values["old_view"] = view.definition;
  values["old_view_literal"] = quote_literal(view.definition);
  values["old_options_literal"] = view.options.empty() ? "NULL" : quote_literal(view.options);
  values["saved_view_literal"] = quote_literal(view.saved);
  return {};
}

}  // namespace leasehold::adopt::postgres
