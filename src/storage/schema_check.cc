#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/text.h"
#include "storage/migrations.h"
#include "storage/query.h"

namespace leasehold::storage {
namespace {

std::vector<Drift> check_history(const Applied& applied, std::span<const Migration> expected) {
  std::vector<Drift> drifts;
  for (const auto& migration : expected) {
    const auto* row = find_applied(applied, migration.version);
    const auto sum = checksum(migration.up);
    if (row == nullptr) {
      drifts.push_back({"migration " + label_of(migration), "missing"});
    } else if (row->checksum != sum) {
      drifts.push_back({"migration " + label_of(migration),
                        fmt::format("differs: expected checksum {}, found {}", sum, row->checksum)});
    }
  }
  return drifts;
}

Result<SchemaObjects> expected_objects(Backend& backend, std::span<const Migration> migrations, BootTime deadline) {
  auto scratch = backend.begin_scratch(deadline);
  if (!scratch) return std::move(scratch).error();
  for (const auto& migration : migrations) {
    auto ran = (*scratch)->run_script(migration.up);
    if (ran) continue;
    auto error = std::move(ran).error();
    error.message = fmt::format("trying out migration {}: {}", label_of(migration), error.message);
    return error;
  }
  return query(**scratch, sql::SchemaObjects{});
}

Result<SchemaObjects> found_objects(Backend& backend, BootTime deadline) {
  auto begun = backend.begin(deadline);
  if (!begun) return std::move(begun).error();
  return query(**begun, sql::SchemaObjects{});
}

}  // namespace

Result<std::vector<Drift>> check_schema(Backend& backend, const Applied& applied, BootTime deadline) {
  const auto known = backend.dialect().migrations;
  if (applied.empty()) return missing_schema(0, known);
  const auto version = applied.back().version;
  if (auto fit = require_known(version, known); !fit) return std::move(fit).error();
  const auto count = std::count_if(known.begin(), known.end(), [&](const auto& m) { return m.version <= version; });
  const auto expected_history = known.first(static_cast<std::size_t>(count));
  auto expected = expected_objects(backend, expected_history, deadline);
  if (!expected) return std::move(expected).error();
  auto found = found_objects(backend, deadline);
  if (!found) return std::move(found).error();
  auto drifts = check_history(applied, expected_history);
  for (auto& drift : compare_schemas(std::move(*expected), std::move(*found))) drifts.push_back(std::move(drift));
  return drifts;
}

namespace {

using Names = std::set<std::string, std::less<>>;
using ByName = std::map<std::string, sql::SchemaObjects::Row>;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Replaces the names of the two schemas by those of the default ones, and white space by one space.
std::string normalised(std::string_view text, const Names& schemas) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    auto end = at + 1;
    if (is_in_word(text[at])) {
      while (end < text.size() && is_in_word(text[end])) ++end;
      const auto word = text.substr(at, end - at);
      const bool is_schema = schemas.contains(word);
      // A name that is also a keyword is in double quotes.
      const bool in_quotes = is_schema && out.ends_with('"') && end < text.size() && text[end] == '"';
      if (in_quotes) out.pop_back();
      const auto default_name =
          word.ends_with("_internal") ? std::string_view("leasehold_internal") : std::string_view("leasehold");
      out += is_schema ? default_name : word;
      at = in_quotes ? end + 1 : end;
      continue;
    }
    if (!is_space(text[at]))
      out += text[at];
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
    at = end;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

// Drops the internal schema from a name.
std::string short_name(std::string_view text, const Names& schemas) {
  constexpr std::string_view prefix = "leasehold_internal.";
  auto name = normalised(text, schemas);
  for (auto at = name.find(prefix); at != std::string::npos; at = name.find(prefix, at)) name.erase(at, prefix.size());
  return name;
}

ByName by_name(SchemaObjects objects, const Names& schemas) {
  ByName all;
  for (auto& object : objects) {
    object.object = short_name(object.object, schemas);
    if (object.part_of) object.part_of = short_name(*object.part_of, schemas);
    object.definition = normalised(object.definition, schemas);
    all.emplace(object.object, std::move(object));
  }
  return all;
}

constexpr std::size_t context = 16;

// A few words around the first difference of two definitions.
std::string excerpt(std::string_view text, std::size_t from) {
  constexpr std::size_t max = 60;
  if (from >= text.size()) return "nothing more";
  const auto part = text.substr(from, max);
  return fmt::format("'{}{}{}'", from > 0 ? "..." : "", part, from + max < text.size() ? "..." : "");
}

std::string difference(std::string_view expected, std::string_view found) {
  if (expected.empty() || found.empty()) return "differs";
  const auto parted = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end()).first;
  auto from = static_cast<std::size_t>(parted - expected.begin());
  from -= std::min(from, context);
  while (from > 0 && expected[from - 1] != ' ') --from;
  return fmt::format("differs: expected {}, found {}", excerpt(expected, from), excerpt(found, from));
}

struct Finding {
  Drift drift;
  std::string part_of;
  bool differs = false;
};

/// leasehold sql --testing replaces the function that tells the time.
bool is_test_clock(const sql::SchemaObjects::Row& now) {
  return now.object == "function now()" && now.definition.find("_test.now()") != std::string::npos;
}

constexpr auto test_clock =
    "a test clock is installed; no production store may have it: SELECT leasehold_test.remove()";

std::vector<Finding> find_differences(const ByName& expected, const ByName& found) {
  std::vector<Finding> all;
  for (const auto& [name, object] : expected) {
    const auto there = found.find(name);
    if (there == found.end()) {
      all.push_back({{name, "missing"}, object.part_of.value_or("")});
    } else if (there->second.definition != object.definition) {
      auto problem = is_test_clock(there->second) ? std::string(test_clock)
                                                  : difference(object.definition, there->second.definition);
      all.push_back({{name, std::move(problem)}, object.part_of.value_or(""), true});
    }
  }
  for (const auto& [name, object] : found) {
    if (!expected.contains(name)) all.push_back({{name, "unexpected"}, object.part_of.value_or("")});
  }
  return all;
}

// Reports one drift once: a missing table implies missing columns, and a changed column implies a changed text of its
// table.
std::vector<Drift> without_echoes(std::vector<Finding> findings) {
  Names whole, with_columns;
  for (const auto& finding : findings) {
    if (!finding.differs) whole.insert(finding.drift.object);
    if (finding.drift.object.starts_with("column ")) with_columns.insert(finding.part_of);
  }
  std::vector<Drift> drifts;
  for (auto& finding : findings) {
    const bool echo =
        whole.contains(finding.part_of) || (finding.differs && with_columns.contains(finding.drift.object));
    if (!echo) drifts.push_back(std::move(finding.drift));
  }
  return drifts;
}

}  // namespace

std::vector<Drift> compare_schemas(SchemaObjects expected, SchemaObjects found) {
  // Both names apply to both lists: a schema may have the name of one of its tables.
  Names schemas;
  for (const auto* objects : {&expected, &found}) {
    for (const auto& object : *objects) schemas.insert(object.schema);
  }
  return without_echoes(find_differences(by_name(std::move(expected), schemas), by_name(std::move(found), schemas)));
}

}  // namespace leasehold::storage
