// Turns a description into the SQL for one database, with notes: what it finds there, and what a person should know.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "adopt/catalogue.h"
#include "adopt/description.h"
#include "adopt/template.h"
#include "leasehold/result.h"
#include "storage/direct.h"

namespace leasehold::adopt {

/// Something that `adopt plan` shows beside the SQL.
struct Note {
  enum class Level {
    fine,    ///< for information: "5 triggers of yours stay; zz_leasehold_guard runs after them"
    advice,  ///< worth a look: "table orders refers to this one: its inserts wait for a fence"
    danger,  ///< apply stops, unless it was called with consent
  };
  Level level = Level::fine;
  std::string text;
};

struct Emission {
  TableFacts facts;
  std::vector<Step> steps;  ///< in the order in which they run
  std::vector<Note> notes;
};

/// Reads the catalogue, checks the description against it, and renders the templates of the database's dialect.
/// `functions` are those that the file wants beside this table. Errors name the line and the key of the file.
Result<Emission> emit(storage::Direct& database, const Description& table, std::span<const WantedFunction> functions,
                      BootTime deadline);

// One for each dialect, as emit() chooses.
namespace postgres {
Result<Emission> emit(storage::Direct& database, const Description& table, std::span<const WantedFunction> functions,
                      BootTime deadline);
}  // namespace postgres
namespace sqlite {
Result<Emission> emit(storage::Direct& database, const Description& table, std::span<const WantedFunction> functions,
                      BootTime deadline);
}  // namespace sqlite

}  // namespace leasehold::adopt
