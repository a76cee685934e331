// Reads the placeholders and assignments of the user's SQL fragments. It understands nothing else of SQL.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "adopt/description.h"
#include "leasehold/result.h"
#include "leasehold/time.h"
#include "storage/direct.h"

namespace leasehold::adopt {

/// What each :name stands for.
using Placeholders = std::map<std::string, std::string, std::less<>>;

/// The names of all placeholders, each once, in the order of the text. ::type and text in quotes are no placeholders.
std::vector<std::string> placeholders_of(std::string_view sql);

/// Replaces each placeholder; those without a meaning stay.
std::string with_placeholders(std::string_view sql, const Placeholders& meanings);

/// "status = 'x', done_at = f(a, b)": column and expression of each. An error names the part that is no assignment.
Result<std::vector<Named>> assignments_of(std::string_view sql);

/// True if the word occurs in the text.
bool has_word(std::string_view sql, std::string_view word);

// Asks the database whether the fragments are SQL that fits the table. The database plans each fragment and runs none.

struct FragmentPlace {
  /// The text after FROM: the table as it will be, with the columns that are still missing.
  std::string rows;
  /// A fragment with a value in place of each :name.
  std::function<std::string(std::string_view)> filled;
  /// The assignments of a list: column and expression.
  std::function<Result<std::vector<Named>>(std::string_view)> assignments;
};

/// An error names the line and the key of the file.
Result<void> check_fragments(storage::Direct& database, const Description& table, const FragmentPlace& place,
                             BootTime deadline);

}  // namespace leasehold::adopt
