#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "adopt/postgres/session_value_maker.h"

namespace leasehold::adopt::postgres {

using storage::quote_literal;
using storage::quote_name;

void SessionValues::add_shown() {
  const auto flag = quote_name(holds_.flag), owner = quote_name(holds_.owner);
  std::string owner_type;
  if (!holds_.flag.empty()) column_type(things_, holds_.flag, "holds");
  if (!holds_.owner.empty()) owner_type = column_type(things_, holds_.owner, "holds");
  const auto both = [&](std::string_view of_flag, std::string_view of_owner, std::string_view between) {
    std::string text;
    if (!holds_.flag.empty()) text = fmt::format(fmt::runtime(of_flag), flag);
    if (!holds_.owner.empty()) {
      text += (text.empty() ? "" : std::string(between)) + fmt::format(fmt::runtime(of_owner), owner, owner_type);
    }
    return text;
  };
  const auto shown = both("{}", "{}", ", ");
  const auto behind = [&](std::string text) { return text.empty() ? text : text + ", "; };
  set("flag", holds_.flag.empty() ? "" : flag);
  set("owner", holds_.owner.empty() ? "" : owner);
  set("shown", shown);
  set("shown_text", inside_literal(behind(shown) + values_["token"]));
  set("clear_set", behind(both("{} = false", "{} = NULL", ", ")));
  set("grant_set", behind(both("{} = true", fmt::format("{{}} = NEW.{}", values_["id"]), ", ")));
  set("shown_t_json", both("jsonb_build_object('flag', t.{})", "jsonb_build_object('owner', t.{})", " || "));
  set("shown_s_json",
      both("jsonb_build_object('flag', s.id IS NOT NULL)", "jsonb_build_object('owner', s.id)", " || "));
  set("shown_any", both("t.{}", "t.{} IS NOT NULL", " OR "));
  set("shown_set", both("{} = w.session IS NOT NULL", "{} = w.session", ", "));
  set("restore_set", both("{} = (v_saved.before->>'flag')::boolean", "{} = (v_saved.before->>'owner')::{}", ", "));
  const auto watched = [&](std::string_view row) {
    return fmt::format("{}{}.{}, {}", behind(both(fmt::format("{}.{{}}", row), fmt::format("{}.{{}}", row), ", ")), row,
                       values_["token"], column_list(names_, fmt::format("{}.", row)));
  };
  set("watched_new", watched("NEW"));
  set("watched_old", watched("OLD"));
}

std::string SessionValues::fragment(const std::map<std::string, std::string>& of, const std::string& act) const {
  const auto found = of.find(act);
  return found == of.end() ? std::string() : found->second;
}

std::vector<Named> SessionValues::parameters_of(const std::string& act) {
  std::vector<Named> parameters;
  const auto assignments = assignments_of(fragment(table_.on, act));
  if (!assignments) {
    fail("on_" + act, assignments.error().message);
    return parameters;
  }
  for (const auto& [column, expression] : *assignments) {
    const auto type = column_type(sessions_, column, "on_" + act);
    for (const auto& name : placeholders_of(expression)) {
      const auto same = [&](const Named& one) { return one.first == name; };
      if (std::any_of(parameters.begin(), parameters.end(), same)) continue;
      parameters.emplace_back(name, type);
      columns_of_parameters_.emplace_back(name, column);
    }
  }
  return parameters;
}

std::string SessionValues::meant(const std::string& key, const std::string& sql, const Placeholders& meanings) {
  for (const auto& name : placeholders_of(sql)) {
    if (!meanings.contains(name)) fail(key, fmt::format("there is no :{} here", name));
  }
  return with_placeholders(sql, meanings);
}

std::string SessionValues::assignment_list(std::string first, const std::string& act, const Placeholders& meanings) {
  const auto sql = fragment(table_.on, act);
  return sql.empty() ? first : first + ",\n" + meant("on_" + act, sql, meanings);
}

Placeholders SessionValues::named_parameters(const std::vector<Named>& parameters) {
  Placeholders meanings;
  for (const auto& [name, type] : parameters) meanings.emplace(name, "p_" + name);
  return meanings;
}

Placeholders SessionValues::with(Placeholders meanings,
                                 std::initializer_list<std::pair<const char*, std::string>> more) {
  for (const auto& [name, meaning] : more) meanings[name] = meaning;
  return meanings;
}

void SessionValues::add_acts() {
  claim_parameters_ = table_.on.contains("claim") ? parameters_of("claim") : std::vector<Named>();
  release_parameters_ = table_.on.contains("release") ? parameters_of("release") : std::vector<Named>();
  const auto claim = named_parameters(claim_parameters_), release = named_parameters(release_parameters_);
  const auto free = values_["holds"] + " = NULL";
  const auto held = "v_session." + values_["holds"], lost = "v_lost." + values_["holds"];
  set("claim_set",
      assignment_list(fmt::format("{} = p_name, {} = {}", values_["holds"], values_["heartbeat"], values_["now"]),
                      "claim", claim));
  set("release_set", assignment_list(free, "release", release));
  set("expire_set", assignment_list(free, "expire", {}));
  const auto also_release = fragment(table_.also, "release");
  set("also_claim", meant("also", fragment(table_.also, "claim"),
                          with(claim, {{"key", "v_key"},
                                       {"asked", "p_name"},
                                       {"holder", "p_session"},
                                       {"token", "v_token"},
                                       {"reason", "NULL::text"}})));
  set("also_release", meant("also", also_release,
                            with(release, {{"key", values_["thing_of"] + "(" + held + ")"},
                                           {"asked", held},
                                           {"holder", "p_session"},
                                           {"token", "v_token"},
                                           {"reason", "p_reason"}})));
  // A switch has no values for the parameters of a release.
  Placeholders absent;
  for (const auto& [name, type] : release_parameters_) absent.emplace(name, "NULL::" + type);
  set("also_switch", meant("also", also_release,
                           with(absent, {{"key", "v_had"},
                                         {"asked", held},
                                         {"holder", "p_session"},
                                         {"token", "v_before"},
                                         {"reason", "'switched'"}})));
  const auto token = fmt::format("(SELECT t.{0} - t.{0} % 10 FROM {1} AS t WHERE t.{2} = v_key)", values_["token"],
                                 values_["things"], values_["thing_key"]);
  set("also_expire", meant("also", fragment(table_.also, "expire"),
                           {{"key", "v_key"},
                            {"asked", lost},
                            {"holder", "v_lost." + values_["id"]},
                            {"token", token},
                            {"reason", "'expired'"}}));
  set("also_claim_or_release", values_["also_claim"] + values_["also_release"]);
  add_refusals();
}

void SessionValues::add_refusals() {
  std::string cases, codes;
  for (const auto& [code, condition] : table_.refuse) {
    cases += fmt::format(
        "\n  WHEN {} THEN {}",
        parenthesised(meant("refuse", condition, {{"key", "v_key"}, {"asked", "p_name"}, {"holder", "p_session"}})),
        quote_literal(code));
    codes += ", " + code;
  }
  set("refuse", cases.empty() ? "" : "CASE" + cases + " END");
  set("refusals_text", codes);
  set("why",
      "CASE\n  WHEN v_token = p_token THEN 'expired'\n  WHEN v_token / 10 <> p_token / 10 THEN 'superseded'\n"
      "  WHEN v_token % 10 = 3 THEN 'released'\n  ELSE 'expired' END");
}

void SessionValues::add_functions() {
  std::string claim, claim_types, release, release_types, kept;
  for (const auto& [name, type] : claim_parameters_) {
    claim += fmt::format(", p_{} {}", name, type);
    claim_types += ", " + type;
  }
  for (const auto& [name, type] : release_parameters_) {
    release += fmt::format(", p_{} {} DEFAULT NULL", name, type);
    release_types += ", " + type;
  }
  for (const auto& parameter : claim_parameters_) {
    const auto is_this = [&](const Named& one) { return one.first == parameter.first; };
    const auto column = std::find_if(columns_of_parameters_.begin(), columns_of_parameters_.end(), is_this)->second;
    kept += fmt::format(", s.{}", quote_name(column));
  }
  set("claim_params", claim);
  set("release_params", release);
  set("kept_arguments", kept);
  const auto typed = [&](const std::string& value, const std::string& function, const std::string& types) {
    set(value, values_[function] + "(" + types + ")");
  };
  const auto &id = values_["id_type"], &name = values_["holds_type"];
  typed("thing_types", "thing_of", name);
  typed("claim_types", "claim", id + ", " + name + claim_types);
  typed("heartbeat_types", "heartbeat_function", name + ", bigint");
  typed("release_types", "release", id + ", text, bigint" + release_types);
  typed("recover_types", "recover", "interval, boolean");
  typed("fence_types", "fence", name + ", bigint");
  add_rights();
  set("shadowed", is_shadowed() ? "yes" : "");
  set("quote", has_dollars() ? "$leasehold$" : "$$");
}

void SessionValues::add_rights() {
  std::string open, all, roles;
  for (const auto* value :
       {"thing_types", "claim_types", "heartbeat_types", "release_types", "recover_types", "fence_types"}) {
    open += (open.empty() ? "" : ",\n") + values_[value];
    all += (all.empty() ? "" : ",\n") + quote_literal(values_[value]) + "::regprocedure";
  }
  for (const auto* value : {"exclusive", "sync", "keep_names"}) {
    all += ",\n" + quote_literal(values_[value] + "()") + "::regprocedure";
  }
  for (const auto& role : table_.roles) roles += (roles.empty() ? "" : ", ") + quote_name(role);
  set("public_functions", open);
  set("all_functions_text", all);
  set("roles", roles);
}

std::string SessionValues::all_fragments() const {
  std::string all = keys_.active;
  for (const auto& [act, sql] : table_.on) all += " " + sql;
  for (const auto& [act, sql] : table_.also) all += " " + sql;
  for (const auto& [code, sql] : table_.refuse) all += " " + sql;
  Placeholders none;
  for (auto& name : placeholders_of(all)) none.emplace(std::move(name), "0");
  return with_placeholders(all, none);
}

bool SessionValues::is_shadowed() const {
  const auto fragments = all_fragments();
  constexpr std::array<std::string_view, 9> answers = {
      "outcome", "token", "held_by", "heartbeat_age_seconds", "heartbeat_age_human", "holder",
      "why",     "until", "released"};
  return std::any_of(answers.begin(), answers.end(), [&](std::string_view name) { return has_word(fragments, name); });
}

bool SessionValues::has_dollars() const { return all_fragments().find("$$") != std::string::npos; }

}  // namespace leasehold::adopt::postgres
