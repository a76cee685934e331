// Finds the objects that a call touches: which argument of which act names them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "act/act.h"
#include "base/text.h"
#include "leasehold/access.h"
#include "model/json.h"

namespace leasehold::act {
namespace {

/// In the acts whose names begin with `acts`, the argument `key` names an object of this kind. No key: such an act
/// touches all objects of the kind. "list.key" is the key in each element of a list.
struct Rule {
  std::string_view acts{};
  std::string_view kind{};
  std::string_view key{};
  bool also = false;  ///< only if the argument is given: it names something else besides
};

/// Only the rules with the longest matching `acts` apply. An act without a rule touches the whole store.
constexpr Rule rules[] = {
    {"lock.", "lock", "name"},
    {"lock.acquire_all", "lock", "names"},
    {"job.", "queue", "queue"},
    {"job.show", "job", "id"},
    {"job.heartbeat", "job", "id"},
    {"job.settle", "job", "settlements.id"},
    {"job.complete", "job", "id"},
    {"job.fail", "job", "id"},
    {"job.release", "job", "id"},
    {"job.snooze", "job", "id"},
    {"job.attempts", "job", "id"},
    {"job.wait", "job", "id"},
    {"job.cancel", "job", "id"},
    {"job.retry", "job", "id"},
    {"job.remove", "job", "id"},
    {"queue.", "queue", "name"},
    {"queue.workers", "queue", "queue"},
    {"chunk.", "chunks", "set"},
    {"chunk.tie_job", "chunks", "set"},
    {"chunk.tie_job", "job", "job_id", true},
    {"rate.", "rate", "name"},
    {"session.", "session", "id"},
    {"item.", "item", "key"},
    {"item.list", "item", ""},
    {"claim.", "item", "key"},
    {"claim.next", "item", ""},
    {"claim.list", "item", "item"},
    {"claim.switch", "item", "from"},
    {"claim.switch", "item", "to", true},
    {"path.", "path", ""},
    {"schedule.", "schedule", "name"},
    {"schedule.set", "schedule", "name"},
    {"schedule.set", "queue", "queue", true},
    {"schedule.ensure", "schedule", "name"},
    {"schedule.ensure", "queue", "queue", true},
    {"schedule.rename", "schedule", "name"},
    {"schedule.rename", "schedule", "to", true},
    {"row.", "table", "table"},
    {"adopt.list", "table", ""},
};

Timestamp wall_clock_now() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

/// The value of a key, also of an inlined struct.
std::optional<model::Value> find_argument(const model::Object& object, std::string_view key) {
  for (const auto& field : object.type.fields) {
    if (field.kind == model::Kind::inlined) {
      const auto value = model::value_of(field, object.at);
      const auto* inner = std::get_if<model::Object>(&value);
      auto found = inner != nullptr ? find_argument(*inner, key) : std::nullopt;
      if (found) return found;
    } else if (field.name == key && field.get != nullptr) {
      return model::value_of(field, object.at);
    }
  }
  return std::nullopt;
}

std::vector<std::string> names_in_list(const model::Object& arguments, std::string_view list, std::string_view key);

std::vector<std::string> names_in(const model::Object& arguments, std::string_view key) {
  if (const auto dot = key.find('.'); dot != std::string_view::npos) {
    return names_in_list(arguments, key.substr(0, dot), key.substr(dot + 1));
  }
  const auto value = find_argument(arguments, key);
  if (!value) return {};
  if (const auto* name = std::get_if<std::string>(&*value)) return {*name};
  if (const auto* id = std::get_if<std::int64_t>(&*value)) return {std::to_string(*id)};
  if (const auto* names = std::get_if<std::vector<std::string>>(&*value)) return *names;
  return {};
}

std::vector<std::string> names_in_list(const model::Object& arguments, std::string_view list, std::string_view key) {
  const auto value = find_argument(arguments, list);
  const auto* elements = value ? std::get_if<std::vector<model::Object>>(&*value) : nullptr;
  std::vector<std::string> all;
  if (elements == nullptr) return all;
  for (const auto& element : *elements) {
    for (auto& name : names_in(element, key)) all.push_back(std::move(name));
  }
  return all;
}

void add_touched(const Rule& rule, const model::Object& arguments, std::vector<Touched>& all) {
  auto names = names_in(arguments, rule.key);
  names.erase(std::remove(names.begin(), names.end(), ""), names.end());
  if (names.empty() && !rule.also) all.push_back({rule.kind, ""});
  for (auto& name : names) all.push_back({rule.kind, std::move(name)});
}

std::size_t longest_rule(std::string_view act) {
  std::size_t longest = 0;
  for (const auto& rule : rules) {
    const bool fits = rule.acts.back() == '.' ? act.starts_with(rule.acts) : act == rule.acts;
    if (fits) longest = std::max(longest, rule.acts.size());
  }
  return longest;
}

/// A job that does not exist touches nothing: the act itself answers `not_found`.
Result<bool> may_touch_job(const Store& store, const std::string& id, std::span<const std::string> only) {
  if (id.empty()) return may_touch(only, "queue", "");
  JobId number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number);
  const auto job = store.jobs().show(number);
  if (!job && job.error().code == Errc::not_found) return true;
  if (!job) return job.error();
  return may_touch(only, "queue", job->queue);
}

Error denied(const Touched& thing) {
  const auto what = thing.kind.empty()   ? std::string("the whole store")
                    : thing.name.empty() ? fmt::format("every {}", thing.kind)
                                         : fmt::format("{} {}", thing.kind, quoted(thing.name));
  return {.code = Errc::denied, .message = fmt::format("the patterns of the API token do not allow {}", what)};
}

}  // namespace

Result<std::vector<Touched>> touched_by(const Act& act, std::string_view arguments) {
  const auto read = act.fresh();
  const model::Object object{act.arguments(), read.get()};
  if (auto filled = model::read_json(arguments, {object.type, read.get()}, wall_clock_now()); !filled) {
    return std::move(filled).error();
  }
  std::vector<Touched> all;
  const auto longest = longest_rule(act.name);
  for (const auto& rule : rules) {
    const bool fits = rule.acts.back() == '.' ? act.name.starts_with(rule.acts) : act.name == rule.acts;
    if (fits && rule.acts.size() == longest) add_touched(rule, object, all);
  }
  if (all.empty()) all.emplace_back();
  return all;
}

Result<void> check_touch(const Store& store, const Act& act, std::string_view arguments,
                         std::span<const std::string> only) {
  if (only.empty()) return {};
  const auto all = touched_by(act, arguments);
  if (!all) return all.error();
  for (const auto& thing : *all) {
    const auto allowed =
        thing.kind == "job" ? may_touch_job(store, thing.name, only) : may_touch(only, thing.kind, thing.name);
    if (!allowed) return allowed.error();
    if (!*allowed) return denied(thing);
  }
  return {};
}

}  // namespace leasehold::act
