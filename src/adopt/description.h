// What a file says about the tables that it adopts: one Description for each table.
//
//   auto file = read_descriptions(text, "adopt.toml");
//   if (!file) return file.error();      // "adopt.toml:7: unknown key "claimble"; did you mean "claimable"?"
//
// Fragments are SQL of the user's database, and stay as they are: nothing here parses them. See docs/adopt.md for what
// each key means.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold::adopt {

enum class Shape {
  work,      ///< rows that are claimed, kept alive and finished, or claimed again and again
  lock,      ///< each row is a named lock
  schedule,  ///< a row becomes due at a time
  sessions,  ///< a row is a session, and one of its columns names what it holds
  keep,      ///< no leases: columns that must not be overwritten
};

/// What happens to a write of guarded columns that has no proof, while one of our leases lives on the row.
enum class Guard { deny, skip, off };

/// How the table's moments are stored.
enum class TimeForm { timestamptz, timestamp, unix_seconds, unix_milliseconds, iso };

/// A name and a fragment of SQL, in the order of the file: `final = { completed = "…", failed = "…" }`.
using Named = std::pair<std::string, std::string>;

struct LeaseColumns {
  std::string until = "locked_until";
  std::string holder = "locked_by";
  std::string token = "lease_token";
};

/// How a row looks while code without leases works on it.
struct HeldByOthers {
  std::string when;   ///< a condition on the row
  std::string until;  ///< an expression: until when
  std::string by;     ///< an expression: the holder's name
};

/// A one-row lock table that existing code reads: one row of the adopted table at a time.
struct SerialLock {
  std::string table;
  std::string holder;
  std::string acquired;
  std::string until;
};

/// What a session row holds, and the table of the things that can be held.
struct SessionHolds {
  std::string column;                ///< of the session row: names the thing, or is NULL
  std::string table;                 ///< the things
  std::vector<std::string> aliases;  ///< columns of the things by which a session may name one
  std::string flag;                  ///< boolean column of the things: a session works on it
  std::string owner;                 ///< column of the things: that session
  std::string since;                 ///< of the session row: since when it has the thing, for the view
};

struct SessionKeys {
  std::string id;         ///< the column that names a session
  std::string heartbeat;  ///< when the session was last heard
  std::string active;     ///< a condition: the session is open
  std::optional<SessionHolds> holds;
  std::string view;          ///< the view of sessions to replace
  std::string on_duplicate;  ///< "latest heartbeat", or empty: refuse
};

struct ScheduleKeys {
  std::string next;
  std::string last;
  std::string status;
  std::string succeeded = "success";  ///< what goes into `status`
  std::string failed = "failed";
  Duration every_least{}, every_most{};      ///< after a success
  Duration on_fail_least{}, on_fail_most{};  ///< after a failure
};

struct WantedIndex {
  std::string name;
  std::string on;     ///< columns or expressions
  std::string where;  ///< empty: all rows
};

/// A function under the user's own name, over the generated ones.
struct WantedFunction {
  std::string signature;  ///< "claim_sd(p_sd_id text, p_session_id text, p_track text)"
  std::string returns;
  std::string body;
};

struct Description {
  std::string file;    ///< the file's name, for messages
  std::string schema;  ///< "main" on SQLite
  std::string table;
  int line = 0;      ///< of the table's heading in the file
  std::string text;  ///< its part of the file, from heading to heading

  Shape shape = Shape::work;
  Duration ttl{};
  Duration heartbeat{};  ///< a third of the ttl, unless the file has another
  Duration max_ttl{};
  std::vector<std::string> key;  ///< empty: the primary key
  LeaseColumns lease;
  std::string order;
  std::string claimable;
  std::string due;
  std::vector<Named> finals;
  std::optional<HeldByOthers> held;
  std::map<std::string, std::string> on;  ///< claim, complete, fail, release, expire: lists of assignments
  Guard guard = Guard::deny;
  std::vector<std::string> roles;
  std::string crashes;  ///< a column that a takeover raises by one
  std::optional<TimeForm> time;
  std::string time_zone;  ///< for TimeForm::timestamp
  std::optional<SerialLock> serial;
  std::map<std::string, std::string> also;  ///< claim, complete, fail, release, expire: statements in the same commit
  std::vector<Named> refuse;                ///< refusal's code and the condition under which a claim is refused
  std::optional<SessionKeys> sessions;
  std::optional<ScheduleKeys> schedule;
  std::vector<WantedIndex> indexes;
  std::string trigger_name;       ///< of the trigger that keeps the flag; empty: our own name
  std::vector<std::string> keep;  ///< columns that keep their first value

  /// The line of a key in the file, for messages; 0 if the file does not have it.
  std::map<std::string, int> lines;
};

struct DescriptionFile {
  std::string name;  ///< for messages
  std::vector<Description> tables;
  std::vector<WantedFunction> functions;
};

/// `name` is for messages: each names the line and what to write instead.
Result<DescriptionFile> read_descriptions(std::string_view text, std::string_view name);

/// "adopt.toml:7: claimable: what is wrong": the line of the key, or of the table.
Error error_at(const Description& table, const std::string& key, std::string_view what);

std::string_view to_string(Shape shape);

}  // namespace leasehold::adopt
