// Reads the user's SQL fragments. Nothing here understands SQL beyond quotes, parentheses and words.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/result.h"

namespace leasehold::adopt::sqlite {

/// "status = 'x', done_at = f(a, b)": column and expression of each.
using Assignments = std::vector<std::pair<std::string, std::string>>;

/// An error says which part is no assignment.
Result<Assignments> read_assignments(std::string_view fragment);

/// Replaces a placeholder such as ":now" outside of quotes and comments.
std::string with_placeholder(std::string_view fragment, std::string_view placeholder, std::string_view value);

/// True if the word occurs, in any case. It may occur within quotes: better a column too many than one too few.
bool mentions(std::string_view fragment, std::string_view word);

/// The texts with `between` in between.
std::string joined(const std::vector<std::string>& texts, std::string_view between);

}  // namespace leasehold::adopt::sqlite
