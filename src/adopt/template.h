// Templates of the SQL that adopting generates: the .sql files in src/adopt/postgres and src/adopt/sqlite.
//
// A template is SQL with lines that begin with "--:" for us:
//
//   --: step prepare function {schema}.{table}_release({key_types}, bigint)
//   CREATE FUNCTION {schema}.{table}_release({key_params}, token bigint) ...
//   --: if on_release
//     ... {on_release} ...
//   --: else
//   --: end
//
// "step PHASE KIND NAME" starts a step: PHASE is when it runs (see Phase), KIND and NAME are the object that it makes.
// "DROP KIND NAME" undoes it, unless a line "--: down SQL" gives another statement; "--: down" alone: there is nothing
// to undo. "if VALUE" keeps the lines up to "else" or "end" if that value is not empty, "if not VALUE" if it is; they
// nest, and may surround steps. The value of a name replaces {name}; a value that spans lines is indented like its
// line. Braces around anything but a word of small letters, digits and underscores stay as they are.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"

namespace leasehold::adopt {

/// When a step runs while a live table is adopted.
enum class Phase {
  prepare,       ///< in a short transaction of its own, under a lock_timeout: columns, functions, views
  concurrently,  ///< outside of a transaction: indexes
  cutover,       ///< all of them in one short transaction: triggers, and live holders taken over
  act,           ///< does not run when adopting: a statement that `row …` runs later, with its arguments as :name
};

struct Step {
  Phase phase = Phase::prepare;
  std::string kind;  ///< "column", "function", "view", "index", "trigger", "rights", "rows", "store"; of an act "read"
                     ///< or "write"
  std::string name;
  std::string up;
  std::string down;
};

using Values = std::map<std::string, std::string, std::less<>>;

/// `internal` with file and line if a template is wrong: an unknown value, an `end` without `if`.
Result<std::vector<Step>> render(std::string_view text, std::string_view file, const Values& values);

}  // namespace leasehold::adopt
