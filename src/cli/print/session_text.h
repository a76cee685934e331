// Sessions, items and claims in words, for people.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "leasehold/item.h"
#include "leasehold/session.h"

namespace leasehold::cli {

/// "active", "idle", "stale", each in its colour.
std::string coloured(SessionStatus status);
/// "open", "claimed", "stale", "done", each in its colour.
std::string coloured(ItemState state);

/// "claimed SD-1  token 1763200000000000  by session s-81f", and what else there is to say about it.
std::string told(const Claim& claim);

/// How the session behind a claim is doing, as far as its lease tells.
SessionStatus health_of(const LeaseInfo& owner);

/// A title, a label or a note on one line of a table: escaped, and not longer than people read. Who wants it all asks
/// for --json.
std::string on_one_line(std::string_view text);

/// The same for one field of one thing, which has more room.
std::string shown_field(std::string_view text);
/// Prints that field, if there is anything to say.
void print_text(std::string_view name, std::string_view text);

/// "pts/3" of "/dev/pts/3"; "-" where there is none.
std::string shown_terminal(const Holder& holder);

/// "2m ago (134 s)"
std::string age_in_words_and_seconds(Duration age);

/// When a session goes stale, and with it what it has claimed frees: "in 4m 48s", "now".
std::string shown_end_of(const SessionInfo& session);
std::string shown_end_of(const LeaseInfo& owner);

/// What a person asks about an owner: each a name and a value.
struct Field {
  std::string_view name;
  std::string value;
};
std::vector<Field> fields_of_owner(const LeaseInfo& owner);

// A list that is looked at again and again: drawn in place on a terminal, elsewhere a line for everything that changes.

/// One look at a list.
struct ListPicture {
  std::vector<std::string> table;  ///< headings first
  /// By key, what is worth a line when it changes: without ages, which always do.
  std::map<std::string, std::string> entries;
  std::string json;
};

struct WatchedList {
  std::string_view what;  ///< "sessions"
  int limit = 0;          ///< no look gives more than this
  std::function<Result<ListPicture>()> look;
};

/// Goes on until this process is told to stop, also while the store cannot be reached; gives the exit code.
int watch_list(const Context& context, const Store& store, const WatchedList& list);

/// The same once: the table, or the JSON.
int print_list(const Context& context, const WatchedList& list);

}  // namespace leasehold::cli
