// What the programs of bench/run share: their options, and figures of leasehold over raw SQL.
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
  std::string folder;        ///< an empty one, on the disk to measure
  std::string postgres_url;  ///< of a server of its own
  std::string only;          ///< one store
  double seconds = 1;
  int rounds = 5;
  bool json = false;
  bool check = false;

  void add_to(CLI::App& app);
  /// Ends the program where it was not told where to measure.
  void need_places() const;
  [[nodiscard]] bool wants(std::string_view store) const { return only.empty() || only == store; }
  [[nodiscard]] Duration span() const;
};

/// Something that is measured. What `prepare` does is not.
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

  /// Each of ours over the same raw SQL, by 1 caller and by many.
  void add(const Subject& raw, const std::vector<Subject>& ours);

 private:
  /// Gives the series' name.
  std::string add_series(int callers, const Subject& subject);

  Report& report_;
  std::string store_;
};

/// Measures all series of a report, and prints it. Gives the exit code.
int measure(Report& report, const Options& options);

/// The same for what is compared alike on both stores: a bench of each is made of where leasehold's store is, where raw
/// SQL has its own, and `more`.
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
