#include "serve/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/json.h"
#include "base/json_text.h"
#include "base/text.h"
#include "model/described.h"
#include "model/errors.h"
#include "model/json.h"

namespace leasehold::serve {
namespace {

using model::Field;
using model::Kind;

bool takes_a_batch(const model::Described& type) {
  return std::any_of(type.fields.begin(), type.fields.end(), [](const Field& field) {
    return field.kind == Kind::objects || (field.kind == Kind::inlined && takes_a_batch(field.type()));
  });
}

/// The field with this key, also among those of inlined structs.
const Field* field_named(const model::Described& type, std::string_view name) {
  for (const auto& field : type.fields) {
    if (field.kind == Kind::inlined) {
      if (const auto* inner = field_named(field.type(), name)) return inner;
    }
    if (field.name == name && field.kind != Kind::hidden) return &field;
  }
  return nullptr;
}

/// Whether a text is written without quotes.
bool is_bare(Kind kind) {
  return kind == Kind::boolean || kind == Kind::integer || kind == Kind::duration || kind == Kind::object ||
         kind == Kind::objects || kind == Kind::json || kind == Kind::bytes || kind == Kind::integers;
}

std::string value_of(const Field* field, const std::string& text) {
  const bool bare = field != nullptr && is_bare(field->kind) && is_json(text);
  return bare ? text : json_string(text);
}

std::string list_of(const Field& field, const std::vector<std::string>& texts) {
  std::string list;
  for (const auto& text : texts) list += (list.empty() ? "" : ",") + value_of(&field, text);
  return fmt::format("[{}]", list);
}

}  // namespace

std::string path_of(const act::Act& act) {
  std::string path(act.name);
  std::replace(path.begin(), path.end(), '.', '/');
  return std::string(api_root) + path;
}

const act::Act* act_at(std::string_view path) {
  static const auto acts = [] {
    std::map<std::string, const act::Act*, std::less<>> by_path;
    for (const auto& act : act::all()) {
      if (!act.local) by_path.emplace(path_of(act), &act);
    }
    return by_path;
  }();
  const auto found = acts.find(path);
  return found != acts.end() ? found->second : nullptr;
}

std::string no_act_at(std::string_view path) {
  std::vector<std::string> paths;
  for (const auto& act : act::all()) {
    if (!act.local) paths.push_back(path_of(act));
  }
  const auto meant = nearest(path, paths);
  return fmt::format("there is nothing at {}{}", quoted(path),
                     meant.empty() ? ": /openapi.json lists all routes" : fmt::format(": did you mean {}?", meant));
}

bool has_argument(const act::Act& act, std::string_view name) { return field_named(act.arguments(), name) != nullptr; }

std::size_t max_body_of(const act::Act& act) { return takes_a_batch(act.arguments()) ? max_batch : max_body; }

Result<std::string> arguments_in_query(const act::Act& act, std::string_view query) {
  const auto members = query_members(query);
  if (!members) return members.error();
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> values;
  for (const auto& [name, value] : *members) {
    auto& of_name = values[name];
    if (of_name.empty()) order.push_back(name);
    of_name.push_back(value);
  }
  std::string object;
  for (const auto& name : order) {
    const auto* field = field_named(act.arguments(), name);
    const auto& texts = values[name];
    const bool is_list = field != nullptr && (field->kind == Kind::texts || field->kind == Kind::integers);
    if (texts.size() > 1 && !is_list) return invalid(fmt::format("the query has {} more than once", quoted(name)));
    object += fmt::format("{}{}:{}", object.empty() ? "" : ",", json_string(name),
                          is_list ? list_of(*field, texts) : value_of(field, texts.front()));
  }
  return fmt::format("{{{}}}", object);
}

Response not_granted(const Error& error) {
  return json_response(with_member(model::to_json(model::object_of(error)), "\"granted\":false"));
}

Response answer_of(const Request& request, const Store& store, const act::Act& act, std::string_view arguments,
                   const Call& call, model::Proofs proofs, std::optional<Duration> retry_in) {
  auto answer = act::call(store, act, arguments, call, proofs);
  if (!answer) {
    if (retry_in && may_wait(answer.error().code)) {
      auto refusal = std::move(answer).error();
      refusal.retry_in = std::min(refusal.retry_in.value_or(*retry_in), *retry_in);
      answer = std::move(refusal);
    }
    const bool is_daily = act::asks(act) && may_wait(answer.error().code);
    return is_daily ? not_granted(answer.error()) : problem(request, answer.error());
  }
  return json_response(act::asks(act) ? with_member(std::move(*answer), "\"granted\":true") : std::move(*answer));
}

}  // namespace leasehold::serve
