// Sessions, items and claims as text for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "leasehold/item.h"
#include "leasehold/result.h"
#include "leasehold/session.h"

namespace leasehold::cli {

/// "active", "idle", "stale", each in its colour.
std::string coloured(SessionState status);
/// "open", "blocked", "claimed", "stale", "done", each in its colour.
std::string coloured(ItemState state);

/// Prints a claim, or why it was refused: "claimed SD-1  token 1763200000000000  by session s-81f". `quiet`: only item
/// and token. Returns the exit code.
int report_claim(const Context& context, const Result<Claim>& claim, bool quiet, int held_code = exit_code::held);

/// The state of the session behind a claim, as far as its lease shows it.
SessionState health_of(const LeaseInfo& owner);

/// A title, a label or a note on one line of a table: escaped, and shortened. --json has the full text.
std::string on_one_line(std::string_view text);

/// The same for a single field, which has more room.
std::string shown_field(std::string_view text);
/// Prints that field unless it is empty.
void print_text(std::string_view name, std::string_view text);

/// "pts/3" of "/dev/pts/3"; "-" without a terminal.
std::string shown_terminal(const Holder& holder);

/// "2m ago (134 s)"
std::string age_in_words_and_seconds(Duration age);

/// When a session goes stale, which also frees its claims: "in 4m 48s", "now".
std::string shown_end_of(const SessionInfo& session);
std::string shown_end_of(const LeaseInfo& owner);

/// The details about an owner, each a name and a value.
struct Field {
  std::string_view name;
  std::string value;
};
std::vector<Field> fields_of_owner(const LeaseInfo& owner);

}  // namespace leasehold::cli
