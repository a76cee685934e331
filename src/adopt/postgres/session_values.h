// From the description of a table of sessions to the values of its templates (sessions*.sql).
//
//   auto facts = inspect_sessions(database, table, deadline);
//   Values values;
//   if (auto added = add_session_values(values, table, sessions, *facts); !added) return added.error();
//   auto steps = render_sessions(values);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adopt/catalogue.h"
#include "adopt/description.h"
#include "adopt/emission.h"
#include "adopt/template.h"
#include "leasehold/result.h"
#include "leasehold/time.h"
#include "storage/direct.h"

namespace leasehold::adopt::postgres {

/// The view as it was before it was replaced.
struct OldView {
  std::string saved;  ///< all of this as JSON, for the ledger
  std::string definition;
  std::string options;  ///< "security_invoker=true"
  std::vector<ColumnFacts> columns;
};

struct SessionFacts {
  TableFacts things;
  std::optional<OldView> view;
};

/// Schema and name of "table" or "schema.table"; without a schema it is that of the sessions.
std::pair<std::string, std::string> split_name(const Description& table, std::string_view name);

/// Errors name the line and the key of the file.
Result<SessionFacts> inspect_sessions(storage::Direct& database, const Description& table, BootTime deadline);

/// Checks the description against the facts. Errors name the line and the key of the file.
Result<void> add_session_values(Values& values, const Description& table, const TableFacts& sessions,
                                const SessionFacts& facts);

/// The columns of the replaced view, and everything else that restores it.
Result<void> add_view_values(Values& values, const Description& table, const OldView& view);

/// All steps of the shape, in the order in which they run.
Result<std::vector<Step>> render_sessions(Values& values);

/// What a person should know before it is applied: claims and flags that it would clear.
Result<std::vector<Note>> session_notes(storage::Direct& database, const Description& table, const Values& values,
                                        BootTime deadline);

/// All of it: `emission` has the facts of the sessions' table, and gets steps and notes.
Result<void> emit_sessions(storage::Direct& database, const Description& table, Emission& emission, BootTime deadline);

}  // namespace leasehold::adopt::postgres
