// leasehold_adopted: a table beside the adopted ones, which records the changes to them, so that revert can undo these.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adopt/template.h"
#include "leasehold/result.h"
#include "storage/direct.h"

namespace leasehold::adopt {

/// A step that was applied.
struct Done {
  std::string name;  ///< "function public.sync_jobs_release(bigint, bigint)"
  std::string up;
  std::string down;
};

/// "function public.sync_jobs_release(bigint, bigint)"
std::string label_of(const Step& step);

/// The ledger of one adopted table.
class Ledger {
 public:
  Ledger(storage::Direct& database, std::string schema, std::string table)
      : database_(database), schema_(std::move(schema)), table_(std::move(table)) {}

  Result<bool> exists(BootTime deadline);
  /// Creates the ledger. Only its owner may read and write it.
  Result<void> create(BootTime deadline);
  /// Removes the table's rows, and the ledger itself once it is empty.
  Result<void> forget(BootTime deadline);

  /// The part of the file that was applied; nothing if the table is not adopted.
  Result<std::optional<std::string>> description(BootTime deadline);
  Result<void> set_description(std::string_view text, BootTime deadline);

  /// In the order in which they were applied.
  Result<std::vector<Done>> steps(BootTime deadline);
  /// The definitions of the objects as they were right after apply(): label and definition, in `up`.
  Result<std::vector<Done>> objects(BootTime deadline);
  Result<void> set_objects(const std::vector<Done>& objects, BootTime deadline);

  // SQL that writes the ledger, for the transaction of a step, or for a script.
  [[nodiscard]] std::string create_sql(bool on_postgres) const;
  [[nodiscard]] std::string describe_sql(std::string_view text) const;
  [[nodiscard]] std::string forget_sql() const;
  [[nodiscard]] std::string drop_if_empty_sql(bool on_postgres) const;
  [[nodiscard]] std::string publish_sql(const std::vector<Step>& steps,
                                        const std::vector<std::pair<std::string, std::string>>& facts,
                                        const std::vector<std::string>& roles) const;
  [[nodiscard]] std::string note(const Step& step) const;
  /// The step ran again, in place: its text is new, and the SQL that undoes it stays.
  [[nodiscard]] std::string renew(const Step& step) const;
  [[nodiscard]] std::string strike(std::string_view label) const;

  /// Publishes what workers read: the statements that they run, the key, the pace. Replaces earlier values.
  Result<void> publish(const std::vector<Step>& steps, const std::vector<std::pair<std::string, std::string>>& facts,
                       const std::vector<std::string>& roles, BootTime deadline);

  /// The adopted tables of a schema.
  static Result<std::vector<std::string>> tables(storage::Direct& database, const std::string& schema,
                                                 BootTime deadline);
  /// The schemas with a ledger.
  static Result<std::vector<std::string>> schemas(storage::Direct& database, BootTime deadline);

 private:
  [[nodiscard]] std::string ledger() const;
  Result<std::vector<Done>> entries(std::string_view kind, BootTime deadline);

  storage::Direct& database_;
  std::string schema_;
  std::string table_;
};

/// A table that was adopted earlier: where its ledger is.
struct Adopted {
  std::string schema;
  std::string table;
};
/// By its name with or without the schema; `not_found` names the adopted tables, `invalid_argument` if two schemas have
/// one of that name.
Result<Adopted> find_adopted(storage::Direct& database, std::string_view name, BootTime deadline);
Result<std::vector<Adopted>> all_adopted(storage::Direct& database, BootTime deadline);

/// What a ledger publishes of one table.
struct Published {
  struct Entry {
    std::string kind;  ///< "act", "fact"
    std::string name;
    std::string up;
    std::string down;
  };
  std::string schema;
  std::string table;
  std::vector<Entry> entries;
};
/// The value of a fact in microseconds.
Duration duration_in(std::string_view microseconds);
/// By the table's name with or without the schema; `not_found` names the tables that are adopted.
Result<Published> find_published(storage::Direct& database, std::string_view wanted, BootTime deadline);

}  // namespace leasehold::adopt
