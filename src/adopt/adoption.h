// The state of an Adoption, and the parts that its operations share.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "adopt/emission.h"
#include "adopt/ledger.h"
#include "leasehold/adopt.h"
#include "storage/direct.h"

namespace leasehold {

struct Adoption::Impl {
  Impl(std::unique_ptr<storage::Direct> its_database, Duration timeout)
      : database(std::move(its_database)), call_timeout(timeout) {}

  std::unique_ptr<storage::Direct> database;
  Duration call_timeout;
  std::mutex mutex{};

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

namespace adopt {

/// "public.sync_jobs"
inline std::string full_name(const Description& table) { return table.schema + "." + table.table; }

std::string_view to_string(Phase phase);

std::vector<Finding> findings_of(const Description& table, const Emission& emission);

/// The facts that workers need besides the acts.
std::vector<std::pair<std::string, std::string>> facts_of(const Description& table, const Emission& emission);

/// The functions of a file that belong to this table, whose roles may call them. A function belongs to the last table
/// that its body names, since it may call the functions of all tables before. If its body names none, it belongs to the
/// last table with leases.
std::vector<WantedFunction> functions_beside(const DescriptionFile& file, const Description& table);

/// Keeps the definitions of all objects that were made, for verify().
Result<void> remember_objects(storage::Direct& database, const Adopted& table, BootTime deadline);

/// The description as it was applied.
Result<Description> adopted_description(storage::Direct& database, const Adopted& table, BootTime deadline);

}  // namespace adopt

}  // namespace leasehold
