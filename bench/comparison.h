// Shared by the programs of bench/run: their options, and figures of leasehold over raw SQL.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure.h"
#include "report.h"

namespace leasehold::bench {

struct Options {
  std::string folder;        ///< an empty folder on the disk to measure
  std::string postgres_url;  ///< of a server of its own
  std::string only;          ///< one store
  double seconds = 1;
  int rounds = 5;
  bool json = false;
  bool check = false;

  void add_to(CLI::App& app);
  /// Ends the program if the places to measure are missing.
  void need_places() const;
  [[nodiscard]] bool wants(std::string_view store) const { return only.empty() || only == store; }
  [[nodiscard]] Duration span() const;
};

/// One measured act. `prepare` is not measured.
struct Subject {
  std::string what;
  Act act;
  std::function<void()> prepare = [] {};
};

/// Adds the series of one store to a report, with the ratios between them.
class Comparison {
 public:
  static constexpr int many = 16;

  Comparison(Report& report, std::string store) : report_(report), store_(std::move(store)) {}

  /// Adds each of ours over the same raw SQL, for 1 caller and for many.
  void add(const Subject& raw, const std::vector<Subject>& ours);

 private:
  /// Returns the name of the series.
  std::string add_series(int callers, const Subject& subject);

  Report& report_;
  std::string store_;
};

/// Measures all series of a report, and prints it. Returns the exit code.
int measure(Report& report, const Options& options);

/// The same for comparisons that are alike on both stores: constructs a bench from the location of leasehold's store,
/// that of raw SQL, and `more`.
template <typename OnSqlite, typename OnPostgres, typename... More>
int measure_on_both(const Options& options, const More&... more) {
  Report report;
  std::optional<OnSqlite> sqlite;
  std::optional<OnPostgres> postgres;
  if (options.wants("sqlite")) {
    sqlite.emplace("sqlite:" + options.folder + "/leasehold.db", options.folder + "/raw.db", more...);
    sqlite->add_to({report, "sqlite"});
  }
  if (options.wants("postgresql")) {
    postgres.emplace(options.postgres_url, options.postgres_url, more...);
    postgres->add_to({report, "postgresql"});
  }
  return measure(report, options);
}

}  // namespace leasehold::bench
