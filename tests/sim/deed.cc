#include "sim/deed.h"

#include <algorithm>

namespace leasehold::sim {
namespace {

using storage::Param;
using storage::Row;
using storage::Statement;

/// The parameters and columns of a statement by their names.
class Words {
 public:
  Words(const Statement& statement, std::span<const Param> params) : statement_(statement), params_(params) {}

  [[nodiscard]] const Param* param(std::string_view name) const {
    for (std::size_t i = 0; i < statement_.params.size(); ++i) {
      if (statement_.params[i].name == name) return &params_[i];
    }
    return nullptr;
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    const auto* found = param(name);
    const auto* value = found != nullptr ? std::get_if<std::string_view>(found) : nullptr;
    return value != nullptr ? std::string(*value) : "";
  }
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const {
    const auto* found = param(name);
    const auto* value = found != nullptr ? std::get_if<std::int64_t>(found) : nullptr;
    return value != nullptr ? std::optional(*value) : std::nullopt;
  }
  [[nodiscard]] std::string text_of(const Row& row, std::string_view column) const {
    const auto at = place(column);
    const auto* value = at < row.size() ? std::get_if<std::string>(&row[at]) : nullptr;
    return value != nullptr ? *value : "";
  }
  [[nodiscard]] std::vector<std::int64_t> numbers_of(const Row& row, std::string_view column) const {
    const auto at = place(column);
    const auto* values = at < row.size() ? std::get_if<std::vector<std::int64_t>>(&row[at]) : nullptr;
    return values != nullptr ? *values : std::vector<std::int64_t>();
  }
  [[nodiscard]] std::int64_t number_of(const Row& row, std::string_view column) const {
    const auto at = place(column);
    const auto* value = at < row.size() ? std::get_if<std::int64_t>(&row[at]) : nullptr;
    return value != nullptr ? *value : 0;
  }

 private:
  [[nodiscard]] std::size_t place(std::string_view column) const {
    std::size_t at = 0;
    while (at < statement_.columns.size() && statement_.columns[at].name != column) ++at;
    return at;
  }

  const Statement& statement_;
  std::span<const Param> params_;
};

std::string key_named(std::string_view statement, const Words& words) {
  const auto family = statement.substr(0, statement.find('_'));
  const auto in = [&](std::string kind, const std::string& name) { return name.empty() ? name : kind + " " + name; };
  if (family == "lock") return in("lock", words.text("name"));
  if (family == "job") {
    const auto id = words.number("job_id");
    return id ? "job " + std::to_string(*id) : "";
  }
  if (family == "chunk") {
    const auto key = words.text("key");
    return key.empty() ? "" : "chunk " + words.text("set_name") + "/" + key;
  }
  if (family == "session") return in("session", words.text("id"));
  if (family == "claim") return in("item", statement == "claim_switch" ? words.text("from_item") : words.text("item"));
  if (family == "item") return in("item", words.text("key"));
  if (family == "schedule") return in("schedule", words.text("name"));
  return "";
}

/// Of the jobs that were named in one call, the token that was said for this one.
std::optional<std::int64_t> token_said_for(const Words& words, std::int64_t job) {
  const auto* ids = std::get_if<storage::IntegerList>(words.param("job_ids"));
  const auto* tokens = std::get_if<storage::IntegerList>(words.param("tokens"));
  const auto found = std::find(ids->begin(), ids->end(), job);
  return found != ids->end() ? std::optional((*tokens)[static_cast<std::size_t>(found - ids->begin())]) : std::nullopt;
}

/// One row that lists those that were settled; of the others nothing is said.
void name_settled_jobs(const Words& words, const storage::Rows& rows, Deed& deed) {
  if (rows.empty()) return;
  for (const auto job : words.numbers_of(rows.front(), "settled")) {
    deed.named.push_back(
        {.key = "job " + std::to_string(job), .token = token_said_for(words, job), .outcome = "settled", .why = {}});
  }
}

}  // namespace

Deed deed_of(const Statement& statement, std::span<const Param> params, const storage::Rows& rows) {
  const Words words(statement, params);
  Deed deed{.statement = std::string(statement.name),
            .named = {},
            .queue = words.text("queue"),
            .set = words.text("set_name"),
            .rows = words.number("rows"),
            .verdict = words.text("verdict")};
  if (statement.name == "job_settle_many") {
    name_settled_jobs(words, rows, deed);
    return deed;
  }
  Named one{.key = key_named(statement.name, words), .token = words.number("token"), .outcome = {}, .why = {}};
  if (!rows.empty()) {
    one.outcome = words.text_of(rows.front(), "outcome");
    one.why = words.text_of(rows.front(), "why");
    // Of several names, the first that is in the way.
    if (statement.name == "lock_acquire_all") one.key = "lock " + words.text_of(rows.front(), "key");
    one.replayed = words.number_of(rows.front(), "replayed") != 0;
  }
  deed.named.push_back(std::move(one));
  return deed;
}

}  // namespace leasehold::sim
