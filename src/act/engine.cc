#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>

#include "act/act.h"
#include "base/text.h"
#include "model/errors.h"
#include "model/json.h"

namespace leasehold::act {

const std::vector<Act>& all() {
  static const auto acts = [] {
    std::vector<Act> joined;
    for (const auto part :
         {lock_acts(), job_acts(), job_settle_acts(), job_look_acts(), queue_acts(), chunk_acts(), chunk_set_acts(),
          rate_acts(), session_acts(), item_acts(), claim_acts(), claim_hand_over_acts(), path_acts(), schedule_acts(),
          schedule_look_acts(), row_acts(), lease_acts(), store_acts(), access_acts()}) {
      joined.insert(joined.end(), part.begin(), part.end());
    }
    return joined;
  }();
  return acts;
}

const Act* find(std::string_view name) {
  const auto found = std::find_if(all().begin(), all().end(), [&](const Act& act) { return act.name == name; });
  return found != all().end() ? &*found : nullptr;
}

bool asks(const Act& act) {
  static constexpr std::array verbs = {"acquire", "acquire_all", "claim", "next", "switch", "take"};
  const auto verb = act.name.substr(act.name.rfind('.') + 1);
  return !only_reads(act) && std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

bool may_answer(const Act& act, Errc code) {
  const bool is_for_every_act = is_store_trouble(code) || code == Errc::invalid_argument || code == Errc::internal;
  return is_for_every_act || std::find(act.refusals.begin(), act.refusals.end(), code) != act.refusals.end();
}

namespace {

Timestamp wall_clock() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

}  // namespace

Error unknown_act(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& act : all()) names.emplace_back(act.name);
  const auto meant = nearest(name, names);
  return invalid(
      fmt::format("there is no act {}{}", quoted(name),
                  meant.empty() ? ": `leasehold acts` lists them" : fmt::format(": did you mean {}?", meant)));
}

Result<Answer> perform(const Store& store, const Act& act, std::string_view arguments, const Call& call) {
  const auto read = act.fresh();
  const auto type = act.arguments();
  if (auto filled = model::read_json(arguments, {type, read.get()}, wall_clock()); !filled) {
    return std::move(filled).error();
  }
  if (auto checked = model::check_fields({type, read.get()}); !checked) return std::move(checked).error();
  auto answer = act.perform(store, read.get(), call);
  // A refusal that is missing in the table would be missing in every page and client that is made from the table.
  assert(answer || may_answer(act, answer.error().code));
  return answer;
}

Result<std::string> call(const Store& store, const Act& act, std::string_view arguments, const Call& call,
                         model::Proofs proofs) {
  const auto answer = perform(store, act, arguments, call);
  if (!answer) return answer.error();
  return model::to_json(model::Object{answer->type, answer->at.get()}, proofs);
}

std::string call(const Store& store, std::string_view name, std::string_view arguments, const Call& call) {
  const auto* act = find(name);
  if (act == nullptr) return model::to_json(unknown_act(name));
  const auto answer = act::call(store, *act, arguments, call);
  return answer ? *answer : model::to_json(answer.error());
}

}  // namespace leasehold::act
