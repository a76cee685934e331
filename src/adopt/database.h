// The user's database, as `adopt` and `row` open it: leasehold's own tables need not be there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "leasehold/result.h"
#include "leasehold/time.h"
#include "storage/direct.h"

namespace leasehold::adopt {

/// `not_found` if a SQLite file is missing; an in-memory store is refused.
Result<std::unique_ptr<storage::Direct>> open_database(std::string_view url, BootTime deadline);

/// Runs `work` in a transaction and commits it; an error of `work` rolls back.
Result<void> in_transaction(storage::Direct& database, BootTime deadline, const std::function<Result<void>()>& work);

/// Replaces :name by the argument's literal, outside of quotes and comments; ::type stays. nullopt is NULL.
using Arguments = std::vector<std::pair<std::string_view, std::optional<std::string>>>;
/// `rows`, if any, replaces :rows as it is: a list of tuples.
std::string with_arguments(std::string_view sql, const Arguments& arguments, std::string_view rows = {});

}  // namespace leasehold::adopt
