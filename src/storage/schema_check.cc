#include "storage/schema_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/checksum.h"
#include "storage/query.h"
#include "storage/schema_compare.h"

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

}  // namespace leasehold::storage
