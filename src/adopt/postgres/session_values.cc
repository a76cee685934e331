#include "adopt/postgres/session_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "adopt/postgres/moments.h"
#include "adopt/postgres/session_value_maker.h"
#include "base/text.h"

namespace leasehold::adopt::postgres {

using storage::quote_literal;
using storage::quote_name;

namespace {

constexpr std::size_t name_bytes = 63;

/// Text compares with text, a number with a number; other types only with themselves.
bool is_comparable(std::string_view a, std::string_view b) {
  const auto family = [](std::string_view type) -> std::string_view {
    if (type == "text" || type.starts_with("character")) return "text";
    if (type == "bigint" || type == "integer" || type == "smallint") return "integer";
    return type;
  };
  return family(a) == family(b);
}

}  // namespace

std::string inside_literal(std::string_view text) {
  const auto literal = quote_literal(text);
  return literal.substr(1, literal.size() - 2);
}

std::string parenthesised(std::string_view condition) { return fmt::format("({})", condition); }

std::string column_list(const std::vector<std::string>& names, std::string_view before, std::string_view behind) {
  std::string list;
  for (const auto& name : names) {
    list += fmt::format("{}{}{}{}", list.empty() ? "" : ", ", before, quote_name(name), behind);
  }
  return list;
}

Result<void> SessionValues::add() {
  add_tables();
  add_names();
  add_columns();
  if (error_) return std::move(*error_);
  add_moments();
  add_shown();
  add_acts();
  add_functions();
  if (error_) return std::move(*error_);
  return {};
}

void SessionValues::fail(std::string_view key, std::string_view what) {
  if (!error_) error_ = error_at(table_, std::string(key), what);
}

void SessionValues::set(const std::string& name, std::string value) { values_[name] = std::move(value); }

std::string SessionValues::column_type(const TableFacts& table, std::string_view name, std::string_view key) {
  for (const auto& column : table.columns) {
    if (column.name == name) return column.type;
  }
  std::vector<std::string> names;
  for (const auto& column : table.columns) names.push_back(column.name);
  const auto close = nearest(name, names);
  fail(key, fmt::format("{}.{} has no column {}{}", table.schema, table.name, leasehold::quoted(name),
                        close.empty() ? "" : ": did you mean " + close + "?"));
  return "text";
}

void SessionValues::add_tables() {
  const auto name_table = [this](const std::string& value, const std::string& schema, const std::string& name) {
    set(value, quote_name(schema) + "." + quote_name(name));
    set(value + "_text", inside_literal(quote_name(schema) + "." + quote_name(name)));
  };
  name_table("sessions", table_.schema, table_.table);
  name_table("things", things_.schema, things_.name);
  if (things_.kind != "table") fail("holds", holds_.table + " is no plain table");
  set("schema", quote_name(table_.schema));
  set("schema_text", inside_literal(quote_name(table_.schema)));
  set("alias", quote_name(table_.table));
  set("table_text", inside_literal(table_.table));
  set("ledger", quote_name(table_.schema) + ".leasehold_adopted");
}

std::string SessionValues::made_name(std::string_view prefix, std::string_view suffix) {
  auto name = fmt::format("{}{}{}", prefix, table_.table, suffix);
  if (name.size() > name_bytes) {
    fail("shape", fmt::format("the name {} would be longer than {} bytes", name, name_bytes));
  }
  return name;
}

void SessionValues::add_names() {
  constexpr std::array<std::pair<const char*, const char*>, 10> functions = {{{"thing_of", "_thing"},
                                                                              {"exclusive", "_exclusive"},
                                                                              {"keep_names", "_keep_flag"},
                                                                              {"claim", "_claim"},
                                                                              {"heartbeat_function", "_heartbeat"},
                                                                              {"release", "_release"},
                                                                              {"recover", "_recover"},
                                                                              {"fence", "_fence"},
                                                                              {"leases", "_leases"},
                                                                              {"sync", "_sync_flag"}}};
  const auto schema = quote_name(table_.schema) + ".";
  for (const auto& [value, suffix] : functions) set(value, schema + quote_name(made_name("", suffix)));
  set("exclusive_name", made_name("", "_exclusive"));
  set("leases_text", inside_literal(values_["leases"]));
  set("exclusive_trigger", quote_name(made_name("zz_", "_exclusive")));
  set("keep_trigger", quote_name(made_name("zz_", "_keep_flag")));
  add_sync_trigger();
  add_index();
}

void SessionValues::add_sync_trigger() {
  constexpr std::string_view execute = " EXECUTE FUNCTION ";
  std::string name = table_.trigger_name.empty() ? made_name("", "_sync_flag") : table_.trigger_name;
  if (const auto at = name.find(execute); at != std::string::npos) {
    std::string function(trimmed(std::string_view(name).substr(at + execute.size())));
    if (function.ends_with("()")) function.resize(function.size() - 2);
    const auto [schema, own_name] = split_name(table_, function);
    set("sync", quote_name(schema) + "." + quote_name(own_name));
    name = std::string(trimmed(std::string_view(name).substr(0, at)));
  }
  if (name.size() + 5 > name_bytes) fail("trigger_name", "it is longer than 58 bytes");
  set("sync_trigger", quote_name(name));
  set("sync_trigger_text", inside_literal(name));
  set("sync_trigger_rows", quote_name(name + "_rows"));
}

void SessionValues::add_index() {
  std::string name = made_name("", "_one_claim");
  std::string where = fmt::format("{} IS NOT NULL AND {}", quote_name(holds_.column), parenthesised(keys_.active));
  for (const auto& index : table_.indexes) {
    if (trimmed(index.on) != holds_.column) {
      fail("index", fmt::format("of sessions, an index is on {}", holds_.column));
    }
    name = index.name;
    if (!index.where.empty()) where = index.where;
  }
  set("index", quote_name(name));
  set("index_text", inside_literal(name));
  set("index_quoted_text", inside_literal(quote_name(name)));
  set("index_where", where);
}

void SessionValues::add_columns() {
  if (keys_.id.empty() && sessions_.primary_key.size() == 1) id_ = sessions_.primary_key.front();
  if (!keys_.id.empty()) id_ = keys_.id;
  if (id_.empty() || table_.key.size() > 1) fail("key", "sessions need one column that names a session");
  if (things_.primary_key.size() != 1) {
    return fail("holds", fmt::format("{} needs a primary key of one column", holds_.table));
  }
  set("id", quote_name(id_));
  set("id_type", column_type(sessions_, id_, "key"));
  set("holds", quote_name(holds_.column));
  set("holds_text", inside_literal(holds_.column));
  const auto holds_type = column_type(sessions_, holds_.column, "holds");
  set("holds_type", holds_type);
  set("heartbeat", quote_name(keys_.heartbeat));
  set("active", parenthesised(keys_.active));
  set("thing_key", quote_name(things_.primary_key.front()));
  set("key_type", column_type(things_, things_.primary_key.front(), "holds"));
  names_ = holds_.aliases.empty() ? things_.primary_key : holds_.aliases;
  for (const auto& name : names_) {
    const auto type = column_type(things_, name, "holds");
    if (!is_comparable(type, holds_type)) {
      fail("holds", fmt::format("{} ({}) cannot be compared with {} ({})", name, type, holds_.column, holds_type));
    }
  }
  set("names_t", column_list(names_, "t."));
  set("names_new", column_list(names_, "NEW."));
  set("names_old", column_list(names_, "OLD."));
  set("names_as_held", column_list(names_, "t.", "::" + holds_type));
  set("first_name", quote_name(names_.front()));
  const auto& token = table_.lease.token;
  const bool has_token = std::any_of(things_.columns.begin(), things_.columns.end(),
                                     [&](const auto& column) { return column.name == token; });
  set("token", quote_name(token));
  set("token_word", quote_literal(token));
  set("add_token", has_token ? "" : "yes");
  set("next_token", fmt::format("greatest(coalesce({0}, 0) / 10 + 1,\n"
                                "         (extract(epoch FROM clock_timestamp()) * 100000)::bigint) * 10",
                                quote_name(token)));
}

void SessionValues::add_moments() {
  const auto type = column_type(sessions_, keys_.heartbeat, "heartbeat_column");
  const auto moments = Moments::of(table_, keys_.heartbeat, type);
  if (!moments) return fail("heartbeat_column", moments.error().message);
  if (!moments->has_spans()) return fail("heartbeat_column", keys_.heartbeat + " is a text: sessions need a moment");
  const auto ttl = moments->span(fmt::format("interval '{}'", interval_text(table_.ttl)));
  const auto in_row = [&](std::string_view row) { return fmt::format("{}.{}", row, quote_name(keys_.heartbeat)); };
  set("now", moments->now());
  set("now_type", type);
  set("ttl", ttl);
  set("never", moments->never());
  set("older", moments->span("p_older"));
  set("age_of_other", moments->seconds(in_row("v_other"), "v_now"));
  set("age_of_alias", moments->seconds(in_row(values_["alias"]), moments->now()));
  set("until_of_session", moments->moment("(" + in_row("v_session") + " + " + ttl + ")"));
  set("until_of_alias", moments->moment("(" + in_row(values_["alias"]) + " + " + ttl + ")"));
  set("ttl_seconds", fmt::to_string(std::chrono::ceil<std::chrono::seconds>(table_.ttl).count()));
  set("until_of_claimed", moments->moment(fmt::format("((c.holder).{} + {})", quote_name(keys_.heartbeat), ttl)));
  set("until_of_recovered", moments->moment("(" + in_row("r") + " + " + ttl + ")"));
  set("human_refused", human_age("heartbeat_age_seconds"));
  set("human_heard", human_age("heard.age"));
}

std::string SessionValues::human_age(std::string_view age) {
  return fmt::format(
      "CASE\n  WHEN {0} < 60 THEN {0} || 's ago'\n  WHEN {0} < 3600 THEN {0} / 60 || 'm ago'\n"
      "  ELSE {0} / 3600 || 'h ago' END",
      age);
}

Result<void> add_session_values(Values& values, const Description& table, const TableFacts& sessions,
                                const SessionFacts& facts) {
  if (auto added = SessionValues(values, table, sessions, facts).add(); !added) return added;
  values["view"] = "";
  if (!facts.view) return {};
  return add_view_values(values, table, *facts.view);
}

}  // namespace leasehold::adopt::postgres
