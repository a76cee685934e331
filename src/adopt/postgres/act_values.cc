// Values for what claims, verdicts and expiry write: the user's assignments and statements, and the lease's columns.
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

/// What :key, :holder and so on stand for where a fragment is used.
Placeholders meanings_in(const ValueMaker& maker, std::string_view row, std::string_view holder,
                         std::string_view reason) {
  Placeholders meanings;
  for (const auto& name : maker.facts.primary_key) {
    const auto value = row.empty() ? quote_name(key_parameter(name)) : fmt::format("{}.{}", row, quote_name(name));
    meanings[name] = value;
    if (maker.facts.primary_key.size() == 1) meanings["key"] = meanings["asked"] = value;
  }
  meanings["holder"] = holder;
  meanings["reason"] = quote_literal(reason);
  meanings["token"] = row.empty() ? "p_token" : fmt::format("{}.{}", row, maker.get("token"));
  return meanings;
}

/// The statements of `also`, ready for PL/pgSQL.
std::string statements(std::string_view sql, const Placeholders& meanings) {
  auto text = std::string(trimmed(with_placeholders(sql, meanings)));
  while (text.ends_with(';')) text = std::string(trimmed(std::string_view(text).substr(0, text.size() - 1)));
  const bool selects = text.size() > 6 && (text.starts_with("SELECT") || text.starts_with("select"));
  return selects ? "PERFORM" + text.substr(6) : text;
}

std::string also_of(const ValueMaker& maker, const std::string& act, const Placeholders& meanings) {
  const auto found = maker.table.also.find(act);
  return found == maker.table.also.end() ? std::string() : statements(found->second, meanings);
}

/// A type for a parameter: that of the column whose assignment mentions it.
std::string type_of_parameter(const ValueMaker& maker, const std::string& act, const std::string& name) {
  const auto assignments = assignments_of(maker.on(act));
  if (!assignments) return "text";
  for (const auto& [column, expression] : *assignments) {
    const auto* facts = column_of(maker.facts.columns, column);
    const auto names = placeholders_of(expression);
    if (facts != nullptr && std::find(names.begin(), names.end(), name) != names.end()) return facts->type;
  }
  return "text";
}

/// Parameters of a verdict: the names in its fragments that are not known anyway.
std::vector<ExtraParameter> parameters_of(const ValueMaker& maker, const std::string& act, const Placeholders& known) {
  const auto also = maker.table.also.find(act);
  auto names = placeholders_of(maker.on(act) + " " + (also == maker.table.also.end() ? "" : also->second));
  if (act == "fail" && std::find(names.begin(), names.end(), "error") == names.end())
    names.insert(names.begin(), "error");
  std::vector<ExtraParameter> parameters;
  for (const auto& name : names) {
    if (!known.contains(name)) parameters.push_back({name, type_of_parameter(maker, act, name)});
  }
  return parameters;
}

/// Claims and expiry have no caller that could give further values.
void refuse_unknown(ValueMaker& maker, const std::string& key, std::string_view sql, const Placeholders& known) {
  for (const auto& name : placeholders_of(sql)) {
    if (known.contains(name)) continue;
    maker.refuse(key, fmt::format("there is no :{} here; write :key, :holder, :token or :reason", name));
  }
}

std::string with_comma(std::string_view assignments) {
  return assignments.empty() ? std::string() : fmt::format("{},\n", assignments);
}

std::string joined_statements(std::initializer_list<std::string> parts) {
  std::vector<std::string> given;
  for (const auto& part : parts) {
    if (!part.empty()) given.push_back(part);
  }
  return joined(given, ";\n");
}

/// The one-row lock table that existing code reads: taken and given back with the row.
class Serial {
 public:
  explicit Serial(ValueMaker& maker) : maker_(maker), lock_(*maker.table.serial) {
    for (const auto* column : {&lock_.holder, &lock_.until}) {
      if (column_of(maker.serial_columns, *column) == nullptr) {
        maker.refuse("serial", fmt::format("there is no column {} in {}", leasehold::quoted(*column), lock_.table));
      }
    }
    if (maker.error) return;
    auto moments = Moments::of(maker.table, lock_.until, column_of(maker.serial_columns, lock_.until)->type);
    if (moments) until_ = std::move(*moments);
    if (!moments) maker.refuse("serial", moments.error().message);
    maker.set("serial_table", lock_.table);
    maker.set("serial_until", quote_name(lock_.until));
    maker.set("serial_holder", quote_name(lock_.holder));
    maker.set("serial_clock", until_.now());
    maker.set("serial_until_moment", until_.moment("v_serial." + quote_name(lock_.until)));
  }

  [[nodiscard]] std::string take() const {
    std::vector<std::string> names = {quote_name(lock_.holder), quote_name(lock_.until)};
    std::vector<std::string> taken = {"p_holder", until_of("v_row." + maker_.get("until"))};
    const auto* acquired = column_of(maker_.serial_columns, lock_.acquired);
    if (acquired != nullptr) {
      auto moments = Moments::of(maker_.table, lock_.acquired, acquired->type);
      names.push_back(quote_name(lock_.acquired));
      taken.push_back(moments ? moments->now() : "clock_timestamp()");
    }
    std::vector<std::string> assignments;
    for (std::size_t i = 0; i < names.size(); ++i) assignments.push_back(names[i] + " = " + taken[i]);
    return fmt::format("UPDATE {0} SET {1};\nIF NOT FOUND THEN\n  INSERT INTO {0} ({2}) VALUES ({3});\nEND IF",
                       lock_.table, joined(assignments, ", "), joined(names, ", "), joined(taken, ", "));
  }

  [[nodiscard]] std::string give_back(std::string_view row) const {
    const auto* until = column_of(maker_.serial_columns, lock_.until);
    const auto* holder = column_of(maker_.serial_columns, lock_.holder);
    std::vector<std::string> assignments = {quote_name(lock_.until) + " = " +
                                            (until->not_null ? until_.now() : "NULL")};
    if (!holder->not_null) assignments.push_back(quote_name(lock_.holder) + " = NULL");
    return fmt::format("UPDATE {} SET {} WHERE {} = {}.{}", lock_.table, joined(assignments, ", "),
                       quote_name(lock_.holder), row, maker_.get("holder"));
  }

  [[nodiscard]] std::string extend() const {
    return fmt::format("UPDATE {} SET {} = {}\nWHERE {} = (SELECT {}.{} FROM {} WHERE {})", lock_.table,
                       quote_name(lock_.until), until_of("v_until"), quote_name(lock_.holder), maker_.alias,
                       maker_.get("holder"), maker_.get("table"), maker_.get("key_is"));
  }

 private:
  [[nodiscard]] std::string until_of(std::string_view value) const { return until_.from(maker_.until.moment(value)); }

  ValueMaker& maker_;
  const SerialLock& lock_;
  Moments until_ = Moments::of_new_column(maker_.table);
};

void add_claim(ValueMaker& maker, const Serial* serial) {
  const auto& row = maker.alias;
  const auto in_set = meanings_in(maker, row, "p_holder", "claimed");
  maker.assigned("claim");
  refuse_unknown(maker, "on_claim", maker.on("claim"), in_set);
  maker.set("claim_set", with_comma(with_placeholders(maker.on("claim"), in_set)) +
                             fmt::format("{1} = {2},\n{3} = p_holder,\n{4} = greatest(coalesce({0}.{4}, 0) / 10 + 1, "
                                         "(extract(epoch FROM clock_timestamp()) * 100000)::bigint) * 10",
                                         row, maker.get("until"), maker.get("until_after_ttl"), maker.get("holder"),
                                         maker.get("token")));
  const auto after = meanings_in(maker, "v_row", "p_holder", "claimed");
  const auto also = also_of(maker, "claim", after);
  refuse_unknown(maker, "also", also, {});
  maker.set("also_claim", joined_statements({serial == nullptr ? "" : serial->take(), also}));
}

void add_expiry(ValueMaker& maker, const Serial* serial) {
  const auto& row = maker.alias;
  const auto in_set = meanings_in(maker, row, maker.qualified(maker.table.lease.holder), "expired");
  maker.assigned("expire");
  refuse_unknown(maker, "on_expire", maker.on("expire"), in_set);
  auto assignments = with_comma(with_placeholders(maker.on("expire"), in_set));
  if (!maker.table.crashes.empty() && maker.need_column("crashes", maker.table.crashes) != nullptr) {
    assignments += fmt::format("{0} = coalesce({1}.{0}, 0) + 1,\n", quote_name(maker.table.crashes), row);
  }
  maker.set(
      "expire_set",
      assignments + fmt::format("{1} = {2},\n{3} = {4},\n{5} = coalesce({0}.{5} / 10 * 10, 0) + CASE WHEN {0}.{5} % 10 "
                                "= 9 THEN 14 ELSE 4 END",
                                row, maker.get("until"), maker.get("free_until"), maker.get("holder"),
                                maker.get("free_holder"), maker.get("token")));
  const auto after = meanings_in(maker, "v_expired", "v_expired." + maker.get("holder"), "expired");
  const auto also = also_of(maker, "expire", after);
  refuse_unknown(maker, "also", also, {});
  maker.set("also_expire", joined_statements({also, serial == nullptr ? "" : serial->give_back("v_expired")}));
}

/// What a schedule writes: when it ran, how it ended, and when it is due again unless the caller says so.
std::string schedule_assignments(ValueMaker& maker, bool completed, std::string& next_type) {
  const auto& schedule = *maker.table.schedule;
  std::vector<std::string> assignments;
  const auto moments_of = [&](const std::string& key, const std::string& name) -> std::optional<Moments> {
    const auto* column = maker.need_column(key, name);
    if (column == nullptr) return std::nullopt;
    auto moments = Moments::of(maker.table, name, column->type);
    if (!moments) maker.refuse(key, moments.error().message);
    return moments ? std::optional(std::move(*moments)) : std::nullopt;
  };
  if (!schedule.last.empty()) {
    if (const auto last = moments_of("last", schedule.last)) {
      assignments.push_back(fmt::format("{} = {}", quote_name(schedule.last), last->now()));
    }
  }
  if (!schedule.status.empty() && maker.need_column("status", schedule.status) != nullptr) {
    assignments.push_back(fmt::format("{} = {}", quote_name(schedule.status),
                                      quote_literal(completed ? schedule.succeeded : schedule.failed)));
  }
  const auto least = completed ? schedule.every_least : schedule.on_fail_least;
  const auto most = completed ? schedule.every_most : schedule.on_fail_most;
  if (const auto next = moments_of("next", schedule.next)) {
    next_type = next->type();
    auto wait = fmt::format("clock_timestamp() + interval '{}'", interval_text(least));
    if (most > least) wait += fmt::format(" + random() * interval '{}'", interval_text(most - least));
    assignments.push_back(fmt::format("{} = coalesce(p_next, {})", quote_name(schedule.next), next->from(wait)));
  }
  return joined(assignments, ",\n");
}

void add_verdict(ValueMaker& maker, const std::string& act, std::string_view reason, int digit, const Serial* serial) {
  maker.assigned(act);
  auto in_set = meanings_in(maker, "", maker.qualified(maker.table.lease.holder), reason);
  auto after = meanings_in(maker, "", "v_row." + maker.get("holder"), reason);
  std::string params, types, values;
  for (const auto& [name, type] : parameters_of(maker, act, in_set)) {
    const auto parameter = quote_name("p_" + name);
    params += fmt::format(", {} {} DEFAULT NULL", parameter, type);
    types += ", " + type;
    in_set[name] = after[name] = parameter;
    if (act == "fail" && name == "error") {
      maker.set("act_error", fmt::format(", {} => CAST(:error AS {})", parameter, type));
    } else {
      values += fmt::format(", {} => CAST(:set_{} AS {})", parameter, name, type);
    }
  }
  auto assignments = with_comma(with_placeholders(maker.on(act), in_set));
  if (maker.table.schedule && act != "release") {
    std::string next_type;
    assignments += with_comma(schedule_assignments(maker, act == "complete", next_type));
    params += ", p_next " + next_type + " DEFAULT NULL";
    types += ", " + next_type;
    values += fmt::format(", p_next => CAST(:set_next AS {})", next_type);
  }
  maker.set(act + "_values", values);
  maker.set(act + "_params", params);
  maker.set(act + "_extra_types", types);
  maker.set(act + "_set", assignments + fmt::format("{} = {},\n{} = {},\n{} = p_token + {}", maker.get("until"),
                                                    maker.get("free_until"), maker.get("holder"),
                                                    maker.get("free_holder"), maker.get("token"), digit));
  maker.set("also_" + act,
            joined_statements({also_of(maker, act, after), serial == nullptr ? "" : serial->give_back("v_row")}));
}

}  // namespace

void add_acts(ValueMaker& maker) {
  for (const auto* name : {"serial_table", "serial_until", "serial_holder", "serial_clock", "serial_until_moment",
                           "also_heartbeat", "act_error"}) {
    maker.set(name, "");
  }
  maker.set("serial", maker.table.serial ? "yes" : "");
  std::optional<Serial> serial;
  if (maker.table.serial) serial.emplace(maker);
  if (maker.error) return;
  const auto* shared = serial ? &*serial : nullptr;
  if (shared != nullptr) maker.set("also_heartbeat", shared->extend());
  maker.set("verdicts", maker.table.shape == Shape::lock ? "" : "yes");
  add_claim(maker, shared);
  add_expiry(maker, shared);
  add_verdict(maker, "complete", "completed", 1, shared);
  add_verdict(maker, "fail", "failed", 2, shared);
  add_verdict(maker, "release", "released", 3, shared);
}

}  // namespace leasehold::adopt::postgres
