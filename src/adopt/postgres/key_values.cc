// Values for the key, for the lease's columns, and for moments.
#include <fmt/format.h>

#include <algorithm>

#include "adopt/postgres/emitter.h"
#include "adopt/postgres/values.h"
#include "base/text.h"
#include "storage/direct.h"

namespace leasehold::adopt::postgres {

using storage::quote_literal;
using storage::quote_name;

namespace {

/// A row of several columns needs parentheses.
std::string as_row(const ValueMaker& maker, std::string list) {
  return maker.facts.primary_key.size() == 1 ? list : "(" + list + ")";
}

/// The key as one text, for messages.
std::string as_text(const ValueMaker& maker, std::string_view form) {
  const auto list = maker.of_key(form, ", ");
  return maker.facts.primary_key.size() == 1 ? list : "concat_ws('/', " + list + ")";
}

bool is_one_term_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '"' || c == '.';
}

/// As an index wants it: an expression in parentheses.
std::string index_part(const std::string& part) {
  auto length = part.size();
  for (const std::string_view tail : {" nulls first", " nulls last", " desc", " asc"}) {
    std::string end = part.substr(0, length);
    for (auto& c : end) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (end.ends_with(tail)) length -= tail.size();
  }
  const auto expression = part.substr(0, length);
  const bool one_term = expression.find_first_not_of(' ') != std::string::npos &&
                        std::all_of(expression.begin(), expression.end(), is_one_term_character);
  return one_term ? part : "(" + expression + ")" + part.substr(length);
}

void add_columns(ValueMaker& maker) {
  const auto& lease = maker.table.lease;
  std::vector<std::string> added, dropped;
  const auto add = [&](const std::string& name, std::string_view type) {
    if (column_of(maker.facts.columns, name) != nullptr) return;
    added.push_back(fmt::format("ADD COLUMN {} {}", quote_name(name), type));
    dropped.push_back("DROP COLUMN " + quote_name(name));
  };
  add(lease.until, maker.until.type());
  add(lease.holder, "text");
  add(lease.token, "bigint");
  maker.set("add_columns", joined(added, ",\n"));
  maker.set("drop_columns", joined(dropped, ", "));
}

void check_lease(ValueMaker& maker) {
  const auto& lease = maker.table.lease;
  const auto* token = column_of(maker.facts.columns, lease.token);
  if (token != nullptr && (token->type != "bigint" || token->not_null)) {
    maker.refuse("lease",
                 fmt::format("column {} must be a bigint that may be NULL: name another with lease = {{ token = "
                             "\"…\" }}",
                             leasehold::quoted(lease.token)));
  }
  if (maker.table.shape == Shape::lock) return;
  for (const auto& name : {lease.until, lease.holder}) {
    const auto* column = column_of(maker.facts.columns, name);
    if (column == nullptr || !column->not_null) continue;
    maker.refuse("lease", fmt::format("column {} is NOT NULL: a free row has no value there", leasehold::quoted(name)));
  }
}

}  // namespace

void add_key(ValueMaker& maker) {
  const auto& alias = maker.alias;
  maker.set("key_names", maker.of_key("{0}", ", "));
  maker.set("key_columns", maker.of_key(alias + ".{0}", ", "));
  maker.set("key_row", as_row(maker, maker.get("key_columns")));
  maker.set("key_is", maker.of_key(alias + ".{0} = {1}", " AND "));
  maker.set("key_is_old", maker.of_key(alias + ".{0} = OLD.{0}", " AND "));
  maker.set("key_is_expired", maker.of_key(alias + ".{0} = v_expired.{0}", " AND "));
  maker.set("key_changed", as_row(maker, maker.of_key("NEW.{0}", ", ")) + " IS DISTINCT FROM " +
                               as_row(maker, maker.of_key("OLD.{0}", ", ")));
  maker.set("key_params", maker.of_key("{1} {2}", ", "));
  maker.set("key_args", maker.of_key("{1}", ", "));
  maker.set("key_text", as_text(maker, "{1}"));
  maker.set("old_key_text", as_text(maker, "OLD.{0}"));
  maker.set("row_key_text", as_text(maker, alias + ".{0}::text"));
  maker.set("new_key_text", as_text(maker, "NEW.{0}::text"));
  // The statements of `row`: their arguments are :key1, :key2, …
  maker.set("act_keys", maker.of_key("CAST(:key{3} AS {2})", ", "));
  maker.set("act_key_json", "jsonb_build_array(" + maker.of_key("CAST(:key{3} AS {2})::text", ", ") + ")::text");
  maker.set("act_key_is", maker.of_key(alias + ".{0} = CAST(:key{3} AS {2})", " AND "));
  maker.set("act_c_key_is", maker.of_key("c.{0} = CAST(:key{3} AS {2})", " AND "));
  maker.set("asked_names", maker.of_key("key{3}", ", "));
  maker.set("asked_order", maker.of_key("key{3}", ", "));
  maker.set("asked_keys", maker.of_key("CAST(asked.key{3} AS {2})", ", "));
  maker.set("asked_key_json", "jsonb_build_array(" + maker.of_key("CAST(asked.key{3} AS {2})::text", ", ") + ")::text");
  const auto of_c = "jsonb_build_array(" + maker.of_key("c.{0}::text", ", ") + ")::text";
  for (const auto* name : {"claimed_key_json", "recovered_key_json", "c_key_json"}) maker.set(name, of_c);
  maker.set("c_is_l", maker.of_key("c.{0} = l.{0}", " AND "));
  maker.set("c_keys", maker.of_key("c.{0}", ", "));
  auto order = maker.table.order.empty() ? maker.get("key_columns") : maker.table.order;
  if (maker.table.order.empty() && maker.table.schedule) {
    order = maker.qualified(maker.table.schedule->next) + " NULLS FIRST, " + order;
  }
  maker.set("order", order);
  std::vector<std::string> parts;
  for (const auto& part : list_parts(maker.table.order.empty() ? maker.get("key_names") : maker.table.order)) {
    parts.push_back(index_part(part));
  }
  maker.set("order_index", joined(parts, ", "));
}

void add_lease(ValueMaker& maker) {
  add_columns(maker);
  check_lease(maker);
  const auto& lease = maker.table.lease;
  const auto* until = column_of(maker.facts.columns, lease.until);
  const auto* holder = column_of(maker.facts.columns, lease.holder);
  const bool keeps_until = until != nullptr && until->not_null;
  const bool keeps_holder = holder != nullptr && holder->not_null;
  maker.set("until", quote_name(lease.until));
  maker.set("holder", quote_name(lease.holder));
  maker.set("token", quote_name(lease.token));
  maker.set("token_word", quote_literal(lease.token));
  maker.set("until_type", maker.until.type());
  maker.set("holder_type", holder == nullptr ? "text" : holder->type);
  // In a NOT NULL column, a moment in the past means "free", together with the last digit of the token.
  maker.set("free_until", keeps_until ? maker.until.now() : "NULL");
  maker.set("free_holder", keeps_holder ? maker.qualified(lease.holder) : "NULL");
  maker.set("free_holder_new",
            keeps_holder ? "coalesce(NEW." + maker.get("holder") + ", OLD." + maker.get("holder") + ")" : "NULL");
  const auto in_hold = [&](std::string_view row) {
    return keeps_until ? fmt::format(" AND {}.{} % 10 IN (0, 9)", row, maker.get("token")) : std::string();
  };
  maker.set("and_not_free", in_hold("v_row"));
  maker.set("and_not_free_row", in_hold(maker.alias));

  const auto ttl = interval_text(maker.table.ttl);
  maker.set("ttl", ttl);
  const auto most = maker.table.max_ttl > Duration{} ? maker.table.max_ttl : maker.table.ttl;
  maker.set("clamped_ttl",
            fmt::format("greatest(least(coalesce(p_ttl, '{}'), '{}'), '1 second')", ttl, interval_text(most)));
  maker.set("act_ttl", "CAST(:ttl_us AS bigint) * interval '1 microsecond'");
  maker.set("clock", maker.until.now());
  maker.set("clock_before", maker.until.from("clock_timestamp() - p_older"));
  maker.set("until_after_ttl", maker.until.from("clock_timestamp() + v_ttl"));
  maker.set("until_after_default", maker.until.from(fmt::format("clock_timestamp() + interval '{}'", ttl)));
  maker.set("just_expired", maker.until.from("clock_timestamp() - interval '1 second'"));
  maker.set("until_moment", maker.until.moment(maker.qualified(lease.until)));
  maker.set("row_until_moment", maker.until.moment("v_row." + maker.get("until")));
  maker.set("claimed_until_moment", maker.until.moment("claimed." + maker.get("until")));
  maker.set("v_until_moment", maker.until.moment("v_until"));
  maker.set("c_until_us", maker.until.microseconds("c." + maker.get("until")));
}

}  // namespace leasehold::adopt::postgres
