// Reads of acts on tables that have grown while the statistics still show them nearly empty.
#pragma once

#include <string>

#include "sql/sql_fixture.h"

namespace leasehold::support {

class IndexTest : public SqlTest {
 protected:
  IndexTest() : SqlTest({.recycled = false}) {}

  /// Sequential scans so far of the tables that grow: "'lock', 'lease'".
  std::string sequential_scans_of(const std::string& tables) {
    settle_statistics();
    return observer_.scalar(
        "SELECT string_agg(relname || ' ' || seq_scan, ', ' ORDER BY relname) FROM pg_stat_user_tables WHERE "
        "schemaname = '" +
        store_.schema() + "_internal' AND relname IN (" + tables + ")");
  }

  /// How many entries of indexes an act that is then rolled back looks at.
  std::int64_t read_by(const std::string& act) {
    const auto before = entries_read();
    alice_.run("BEGIN");
    alice_.run(here("SELECT leasehold_internal." + act));
    alice_.run("ROLLBACK");
    return entries_read() - before;
  }

  void settle_statistics() {
    alice_.run("SELECT pg_stat_force_next_flush()");
    observer_.run("SELECT pg_stat_clear_snapshot()");
  }

 private:
  std::int64_t entries_read() {
    settle_statistics();
    return std::stoll(observer_.scalar("SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = '" +
                                       store_.schema() + "_internal'"));
  }
};

}  // namespace leasehold::support
