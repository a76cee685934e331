#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "adopt/key_reader.h"
#include "leasehold/limits.h"

namespace leasehold::adopt {
namespace {

constexpr std::array<std::pair<std::string_view, Shape>, 5> shape_words = {{{"work", Shape::work},
                                                                            {"lock", Shape::lock},
                                                                            {"schedule", Shape::schedule},
                                                                            {"sessions", Shape::sessions},
                                                                            {"keep", Shape::keep}}};
constexpr std::array<std::pair<std::string_view, Guard>, 3> guard_words = {
    {{"deny", Guard::deny}, {"skip", Guard::skip}, {"off", Guard::off}}};
constexpr std::array<std::string_view, 5> acts = {"claim", "complete", "fail", "release", "expire"};

void read_lease(KeyReader& keys, Description& table) {
  keys.within("lease", [&](KeyReader& lease) {
    lease.text("until", table.lease.until);
    lease.text("holder", table.lease.holder);
    lease.text("token", table.lease.token);
  });
  keys.within("held", [&](KeyReader& held) {
    auto& wanted = table.held.emplace();
    held.text("when", wanted.when);
    held.text("until", wanted.until);
    held.text("by", wanted.by);
    held.need("when", wanted.when);
    held.need("until", wanted.until);
    if (wanted.by.empty()) wanted.by = "'unknown'";
  });
  keys.within("serial", [&](KeyReader& serial) {
    auto& wanted = table.serial.emplace();
    serial.text("table", wanted.table);
    serial.text("holder", wanted.holder);
    serial.text("acquired", wanted.acquired);
    serial.text("until", wanted.until);
    serial.need("table", wanted.table);
    serial.need("holder", wanted.holder);
    serial.need("until", wanted.until);
  });
}

void read_time(KeyReader& keys, Description& table) {
  std::string form;
  keys.text("time", form);
  if (form.empty()) return;
  const auto zone = form.find('@');
  if (form.substr(0, zone) == "timestamp" && zone != std::string::npos) {
    table.time = TimeForm::timestamp;
    table.time_zone = form.substr(zone + 1);
    return;
  }
  constexpr std::array<std::pair<std::string_view, TimeForm>, 4> words = {{{"timestamptz", TimeForm::timestamptz},
                                                                           {"unix", TimeForm::unix_seconds},
                                                                           {"unix_ms", TimeForm::unix_milliseconds},
                                                                           {"iso", TimeForm::iso}}};
  auto chosen = TimeForm::timestamptz;
  keys.word("time", chosen, words);
  table.time = chosen;
}

void read_acts(KeyReader& keys, Description& table) {
  for (const auto act : acts) {
    // A schedule says with on_fail when the next run is due.
    if (table.shape == Shape::schedule && act == "fail") continue;
    std::string assignments;
    keys.text("on_" + std::string(act), assignments);
    if (!assignments.empty()) table.on.emplace(act, assignments);
  }
  std::vector<Named> also;
  keys.named("also", also);
  for (auto& [act, sql] : also) {
    if (std::find(acts.begin(), acts.end(), act) == acts.end()) {
      keys.fail(
          *keys.table().get("also"),
          fmt::format("also: there is no act {}: claim, complete, fail, release or expire", leasehold::quoted(act)));
    }
    table.also.emplace(act, sql);
  }
  keys.named("refuse", table.refuse);
  keys.named("final", table.finals);
}

void read_sessions(KeyReader& keys, Description& table) {
  SessionKeys sessions;
  keys.text("heartbeat_column", sessions.heartbeat);
  keys.text("active", sessions.active);
  keys.text("view", sessions.view);
  keys.text("on_duplicate", sessions.on_duplicate);
  keys.within("holds", [&](KeyReader& holds) {
    auto& wanted = sessions.holds.emplace();
    holds.text("column", wanted.column);
    holds.text("table", wanted.table);
    holds.texts("aliases", wanted.aliases);
    holds.text("flag", wanted.flag);
    holds.text("owner", wanted.owner);
    holds.text("since", wanted.since);
    holds.need("column", wanted.column);
    holds.need("table", wanted.table);
  });
  keys.need("heartbeat_column", sessions.heartbeat);
  keys.need("active", sessions.active);
  if (!table.key.empty()) sessions.id = table.key.front();
  table.sessions = std::move(sessions);
}

void read_schedule(KeyReader& keys, Description& table) {
  ScheduleKeys schedule;
  keys.text("next", schedule.next);
  keys.text("last", schedule.last);
  keys.within("status", [&](KeyReader& status) {
    status.text("column", schedule.status);
    status.text("success", schedule.succeeded);
    status.text("failure", schedule.failed);
    status.need("column", schedule.status);
  });
  keys.range("every", schedule.every_least, schedule.every_most);
  schedule.on_fail_least = schedule.every_least;
  schedule.on_fail_most = schedule.every_most;
  keys.range("on_fail", schedule.on_fail_least, schedule.on_fail_most);
  keys.need("next", schedule.next);
  keys.need("every", schedule.every_most > Duration{} ? "given" : "");
  table.schedule = std::move(schedule);
}

void read_indexes(KeyReader& keys, const std::string& file, const std::string& where, Description& table) {
  const auto* node = keys.get("index");
  if (node == nullptr) return;
  const auto* list = node->as_array();
  if (list == nullptr) return keys.fail(*node, R"(index must be a list: [{ name = "…", on = "…" }])");
  for (const auto& item : *list) {
    const auto* one = item.as_table();
    if (one == nullptr) return keys.fail(item, R"(an index looks like { name = "…", on = "…", where = "…" })");
    KeyReader reader(file, where + ".index", *one);
    auto& index = table.indexes.emplace_back();
    reader.text("name", index.name);
    reader.text("on", index.on);
    reader.text("where", index.where);
    reader.need("name", index.name);
    reader.need("on", index.on);
    reader.refuse_others();
    keys.take_over(reader.error());
  }
}

void read_pace(KeyReader& keys, Description& table) {
  table.ttl = defaults::job_ttl;
  keys.duration("ttl", table.ttl);
  table.heartbeat = table.ttl / 3;
  keys.duration("heartbeat", table.heartbeat);
  table.max_ttl = std::max<Duration>(table.ttl, std::chrono::hours(1));
  keys.duration("max_ttl", table.max_ttl);
  const auto place_of = [&](const char* key) -> const toml::node& {
    const auto* node = keys.table().get(key);
    return node != nullptr ? *node : keys.table();
  };
  if (table.ttl < std::chrono::seconds(1)) keys.fail(*keys.table().get("ttl"), "ttl must be at least 1s");
  if (table.heartbeat <= Duration{} || table.heartbeat > table.ttl / 2) {
    keys.fail(place_of("heartbeat"), "heartbeat must be at most half of the ttl");
  }
  if (table.max_ttl < table.ttl) keys.fail(place_of("max_ttl"), "max_ttl must be at least the ttl");
}

std::optional<Error> read_table(const std::string& file, const toml::table& node, Description& table) {
  const auto where = "[" + table.schema + "." + table.table + "]";
  KeyReader keys(file, where, node);
  keys.word("shape", table.shape, shape_words);
  if (node.get("shape") == nullptr) keys.need("shape", "");
  keys.texts("key", table.key);
  keys.texts("keep", table.keep);
  keys.texts("roles", table.roles);
  if (table.shape != Shape::keep) {
    read_pace(keys, table);
    read_lease(keys, table);
    read_time(keys, table);
    read_acts(keys, table);
    keys.word("guard", table.guard, guard_words);
    keys.text("order", table.order);
    keys.text("claimable", table.claimable);
    keys.text("due", table.due);
    keys.text("crashes", table.crashes);
    keys.text("trigger_name", table.trigger_name);
    read_indexes(keys, file, where, table);
  }
  if (table.shape == Shape::sessions) read_sessions(keys, table);
  if (table.shape == Shape::schedule) read_schedule(keys, table);
  if (table.shape == Shape::work) keys.need("claimable", table.claimable);
  if (table.shape == Shape::keep && table.keep.empty()) keys.need("keep", "");
  keys.refuse_others();
  for (const auto& [key, value] : in_file_order(node)) table.lines.emplace(key, line_of(*value));
  return keys.error();
}

std::optional<Error> read_functions(const std::string& file, const toml::table& node, DescriptionFile& out) {
  for (const auto& [signature, value] : in_file_order(node)) {
    const auto* one = value->as_table();
    if (one == nullptr)
      return invalid(fmt::format("{}:{}: a function is a table with returns and body", file, line_of(*value)));
    KeyReader keys(file, "[function.\"" + signature + "\"]", *one);
    auto& function = out.functions.emplace_back();
    function.signature = signature;
    keys.text("returns", function.returns);
    keys.text("body", function.body);
    keys.need("returns", function.returns);
    keys.need("body", function.body);
    keys.refuse_others();
    if (keys.error()) return keys.error();
  }
  return std::nullopt;
}

/// The lines from one heading to the next.
std::string lines_between(std::string_view text, int first, int behind) {
  std::string part;
  for (int line = 1; !text.empty(); ++line) {
    const auto length = std::min(text.find('\n'), text.size());
    if (line >= first && (behind == 0 || line < behind)) part += std::string(text.substr(0, length)) + '\n';
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return part;
}

}  // namespace

Result<DescriptionFile> read_descriptions(std::string_view text, std::string_view name) {
  const auto parsed = read_toml(text, name);
  if (!parsed) return parsed.error();
  DescriptionFile file{.name = std::string(name), .tables = {}, .functions = {}};
  for (const auto& [schema, node] : in_file_order(*parsed)) {
    const auto* tables = node->as_table();
    if (tables == nullptr) {
      return invalid(fmt::format("{}:{}: {} stands outside of a table: begin with [schema.table]", name, line_of(*node),
                                 leasehold::quoted(schema)));
    }
    if (schema == "function") {
      if (auto error = read_functions(file.name, *tables, file)) return std::move(*error);
      continue;
    }
    for (const auto& [table, keys] : in_file_order(*tables)) {
      if (!keys->is_table()) {
        return invalid(fmt::format("{}:{}: write [{}.TABLE], with the schema before the table (main on SQLite)", name,
                                   line_of(*keys), schema));
      }
      auto& one = file.tables.emplace_back();
      one.file = file.name;
      one.schema = schema;
      one.table = table;
      one.line = line_of(*keys);
      if (auto error = read_table(file.name, *keys->as_table(), one)) return std::move(*error);
    }
  }
  if (file.tables.empty()) return invalid(fmt::format("{}: it names no table: begin with [schema.table]", name));
  std::sort(file.tables.begin(), file.tables.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  for (std::size_t i = 0; i < file.tables.size(); ++i) {
    const int behind = i + 1 < file.tables.size() ? file.tables[i + 1].line : 0;
    file.tables[i].text = lines_between(text, file.tables[i].line, behind);
  }
  return file;
}

Error error_at(const Description& table, const std::string& key, std::string_view what) {
  const auto found = table.lines.find(key);
  const int line = found != table.lines.end() ? found->second : table.line;
  return invalid(fmt::format("{}:{}: {}{}{}", table.file, line, key, key.empty() ? "" : ": ", what));
}

std::string_view to_string(Shape shape) {
  for (const auto& [word, meaning] : shape_words) {
    if (meaning == shape) return word;
  }
  return "";
}

}  // namespace leasehold::adopt
