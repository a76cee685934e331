// Complete, fail and release, with the values that the caller gives for the names in the table's file.
#include <fmt/format.h>

#include <algorithm>

#include "adopt/fragments.h"
#include "base/text.h"
#include "row/rows.h"

namespace leasehold {

using adopt::Arguments;

namespace {

constexpr std::string_view value_prefix = "set_";

}  // namespace

std::vector<std::string> row::value_places(std::string_view sql) {
  auto places = adopt::placeholders_of(sql);
  std::erase_if(places, [](const auto& place) { return !place.starts_with(value_prefix); });
  return places;
}

Result<void> Rows::Impl::add_values(std::string_view act, const RowValues& values, Arguments& arguments) const {
  const auto found = acts.find(act);
  if (found == acts.end()) return {};  // run() reports it
  std::string names;
  for (const std::string_view place : found->second.values) {
    const auto given = values.find(place.substr(value_prefix.size()));
    arguments.emplace_back(place, given == values.end() ? std::nullopt : given->second);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", place.substr(value_prefix.size()));
  }
  for (const auto& [name, value] : values) {
    const auto& known = found->second.values;
    if (std::find(known.begin(), known.end(), fmt::format("{}{}", value_prefix, name)) == known.end()) {
      return invalid(fmt::format("{}: {} takes no value {}: its file {}", table, act, quoted(name),
                                 names.empty() ? "names none" : "names " + names));
    }
  }
  return {};
}

namespace {

Result<RowSettled> settle(Rows::Impl& rows, std::string_view act, std::string_view done, const RowKey& key, Token token,
                          std::optional<std::string> error, const RowValues& values, const Call& call) {
  auto arguments = rows.arguments_for(key);
  if (!arguments) return std::move(arguments).error();
  arguments->emplace_back("token", std::to_string(token.value));
  arguments->emplace_back("error", std::move(error));
  if (auto added = rows.add_values(act, values, *arguments); !added) return std::move(added).error();
  auto answer = rows.run(act, std::move(*arguments), call);
  if (!answer) return std::move(answer).error();
  auto outcome = answer->at(0, "outcome").value_or("");
  if (outcome != done) return row::refusal_from(rows, key, *answer, 0);
  return RowSettled{.key = key, .outcome = std::move(outcome)};
}

}  // namespace

Result<RowSettled> Rows::complete(const RowKey& key, Token token, const RowValues& values, const Call& call) const {
  return settle(*impl_, "complete", "completed", key, token, {}, values, call);
}

Result<RowSettled> Rows::fail(const RowKey& key, Token token, std::string_view error, const RowValues& values,
                              const Call& call) const {
  return settle(*impl_, "fail", "failed", key, token, std::string(error), values, call);
}

Result<RowSettled> Rows::release(const RowKey& key, Token token, const RowValues& values, const Call& call) const {
  return settle(*impl_, "release", "released", key, token, {}, values, call);
}

}  // namespace leasehold
