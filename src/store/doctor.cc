// Finds settings and circumstances of the store that make leases unsafe, and advises what to do.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>

#include "base/time_text.h"
#include "leasehold/store.h"
#include "storage/migrations.h"
#include "storage/query.h"
#include "store/store.h"

namespace leasehold {
namespace {

using Facts = std::map<std::string, std::string>;
using Level = Finding::Level;

std::string fact(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() ? "" : found->second;
}

std::int64_t number(const Facts& facts, const std::string& name) {
  const auto text = fact(facts, name);
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Finding judge(const Facts& facts, const std::string& name, const std::string& wanted, Level otherwise,
              std::string advice) {
  const auto value = fact(facts, name);
  const auto what = fmt::format("{} = {}", name, value.empty() ? "(empty)" : value);
  if (value == wanted) return {Level::fine, what, ""};
  return {otherwise, what, std::move(advice)};
}

Finding judge_clock_difference(std::int64_t store_us, std::int64_t other_us, std::string_view other) {
  const Duration difference(store_us - other_us);
  const auto what = fmt::format("store clock and {} differ by {}", other,
                                format_duration(difference < Duration(0) ? -difference : difference));
  if (difference < std::chrono::seconds(2) && difference > std::chrono::seconds(-2)) return {Level::fine, what, ""};
  return {Level::advice, what,
          "leases do not depend on it, but the times shown will look wrong here; check the time service of both"};
}

Finding judge_permissions(const Facts& facts) {
  const auto mode = fact(facts, "file_mode");
  const auto what = fmt::format("file mode = {}", mode);
  if (mode.empty() || mode.back() == '0') return {Level::fine, what, ""};
  return {Level::advice, what,
          fmt::format("every user of this machine can open the store, and read payloads and tokens; stop its "
                      "users, then `chmod o= {0}*` (and `chmod g+rw {0}` for a group that shares it)",
                      fact(facts, "file"))};
}

Finding judge_mount(const Facts& facts) {
  if (fact(facts, "file_is_mount_point") != "true") return {Level::fine, "the file is not a mount of its own", ""};
  return {Level::danger, "the file is a mount of its own",
          "SQLite keeps a log beside the file, and other containers do not see this one's: two holders could have the "
          "same lock. Mount the folder that the file is in, never the file"};
}

/// Also for a file so damaged that it could not be read.
Finding judge_damage(const std::string& damage) {
  if (damage.empty()) return {Level::fine, "integrity_check = ok", ""};
  // SQLite's message begins with a line that names the database.
  return {Level::danger, fmt::format("the file is damaged: {}", damage.substr(damage.rfind('\n') + 1)),
          "grants may be forgotten or given twice: stop its users, and restore a backup, or recover what is "
          "readable with `sqlite3 FILE .recover`"};
}

std::vector<Finding> judge_sqlite(const Facts& facts) {
  std::vector<Finding> findings;
  findings.push_back({Level::fine, "sqlite " + fact(facts, "sqlite_version"), ""});
  findings.push_back(judge_damage(fact(facts, "damage")));
  findings.push_back(judge(facts, "journal_mode", "wal", Level::danger,
                           "without write-ahead logging readers block heartbeats; is this a network file system?"));
  findings.push_back(judge(facts, "synchronous", "full", Level::advice,
                           "a power cut may undo the last grants: two holders could follow. Use ?synchronous=full"));
  findings.push_back(
      judge_clock_difference(number(facts, "store_clock_us"), number(facts, "wall_clock_us"), "wall clock"));
  if (!fact(facts, "file").empty()) {
    findings.push_back(judge_permissions(facts));
    findings.push_back(judge_mount(facts));
  }
  return findings;
}

Finding judge_replication(const Facts& facts) {
  const auto standbys = fact(facts, "synchronous_standby_names");
  if (!standbys.empty()) return {Level::fine, "synchronous_standby_names = " + standbys, ""};
  return {Level::advice, "no synchronous standby",
          "a failover to an asynchronous standby may forget the last grants; tokens still never repeat, so fenced "
          "writes stay safe. Set synchronous_standby_names if grants must survive"};
}

Finding judge_old_transaction(const Facts& facts) {
  const auto seconds = number(facts, "oldest_transaction_seconds");
  const auto what = fmt::format("oldest open transaction: {}", format_duration(std::chrono::seconds(seconds)));
  if (seconds < 300) return {Level::fine, what, ""};
  return {Level::advice, what,
          "it keeps dead rows alive and slows every claim; find it in pg_stat_activity, and set "
          "idle_in_transaction_session_timeout"};
}

Finding judge_version(const Facts& facts) {
  const auto version = fact(facts, "server_version");
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (major >= storage::oldest_postgres) return {Level::fine, "postgresql " + version, ""};
  return {Level::danger, "postgresql " + version,
          fmt::format("leasehold is tested on PostgreSQL {} to {}: update the server", storage::oldest_postgres,
                      storage::newest_postgres)};
}

std::vector<Finding> judge_postgres(const Facts& facts) {
  std::vector<Finding> findings;
  findings.push_back(judge_version(facts));
  findings.push_back(
      judge(facts, "fsync", "on", Level::danger, "a crash of the server may lose or corrupt grants; set fsync = on"));
  findings.push_back(
      judge(facts, "full_page_writes", "on", Level::danger, "a crash may corrupt pages; set full_page_writes = on"));
  findings.push_back(judge(facts, "synchronous_commit", "on", Level::advice,
                           "leasehold turns it on for its own grants; your own fenced writes may still be lost"));
  findings.push_back(judge(facts, "in_recovery", "false", Level::danger,
                           "this is a standby: leases can only be taken on the primary"));
  findings.push_back(judge(facts, "default_transaction_read_only", "off", Level::danger,
                           "nothing can be granted or recorded; set it to off to allow writes"));
  findings.push_back(judge(facts, "default_transaction_isolation", "read committed", Level::fine,
                           "leasehold's own transactions are READ COMMITTED; in yours, fences and enqueues work at "
                           "every level, and everything else needs READ COMMITTED"));
  if (fact(facts, "test_clock") == "true") {
    findings.push_back({Level::danger, "a test clock is installed",
                        "leases end and jobs start when a test says so; no production store may have it: "
                        "`SELECT leasehold_test.remove()`"});
  }
  findings.push_back(judge_replication(facts));
  findings.push_back(judge_old_transaction(facts));
  const auto wall = std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds(1);
  findings.push_back(judge_clock_difference(number(facts, "wall_clock_us"), wall, "this machine's"));
  return findings;
}

Finding judge_retention(const Retention& kept) {
  const auto span = [](Duration keep) { return keep == Duration(0) ? "forever" : format_duration(keep); };
  const auto what = fmt::format("jobs are kept {}, failed jobs {}, other history {}", span(kept.keep_jobs),
                                span(kept.keep_failed), span(kept.keep_history));
  const auto shortest = std::min({kept.keep_jobs, kept.keep_failed, kept.keep_history});
  if (shortest > Duration(0)) return {Level::fine, what, ""};
  return {Level::advice, what, "the store grows until you prune it; see `leasehold retention set`"};
}

}  // namespace

Result<std::vector<Finding>> Store::doctor() const {
  auto rows = impl_->new_call().ask_rows(sql::StoreFacts{});
  if (!rows && rows.error().code == Errc::damaged) return std::vector{judge_damage(rows.error().message)};
  if (!rows) return std::move(rows).error();
  Facts facts;
  for (auto& row : *rows) facts[row.name] = row.value.value_or("");
  for (auto& [name, value] : impl_->backend->facts()) facts[name] = value;
  auto findings = backend() == "sqlite" ? judge_sqlite(facts) : judge_postgres(facts);
  auto shared = impl_->backend->shares_session(impl_->deadline());
  if (!shared) return std::move(shared).error();
  if (*shared) {
    findings.push_back({Level::advice, "a connection pooler is in use",
                        "locks work, but notifications do not pass it: waiters poll every half second"});
  }
  auto kept = retention();
  if (!kept) return std::move(kept).error();
  findings.push_back(judge_retention(*kept));
  auto drift = migrations().verify();
  if (!drift) {
    findings.push_back({Level::advice, "the schema could not be verified", drift.error().message});
  } else if (drift->empty()) {
    findings.push_back({Level::fine, "the schema is intact", ""});
  } else {
    findings.push_back({Level::danger, fmt::format("the schema has drifted in {} places", drift->size()),
                        "see `leasehold migrate verify`"});
  }
  return findings;
}

}  // namespace leasehold
