// The schema and its versions: numbered, checksummed, one transaction per migration.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/export.h"
#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold {

struct OpenOptions;  // store.h

struct MigrationInfo {
  int version = 0;
  std::string name;
  std::string checksum;  ///< of the text in this binary
  std::optional<Timestamp> applied_at;
  bool changed = false;  ///< applied with a text that differs from the one in this binary
};

/// One difference between the actual and the expected schema.
struct Drift {
  std::string object;   ///< "index lease_check", "column lock.token"
  std::string problem;  ///< "missing", "unexpected", "differs: ..."
};

class LEASEHOLD_EXPORT Migrations {
 public:
  /// For a store with a missing, older or newer schema, which Store::open would refuse. Migrates nothing; of the
  /// options, `create` decides whether to create a missing SQLite file.
  static Result<Migrations> open(std::string_view url, const OpenOptions& options);

  /// The whole schema as SQL, without a connection, for a hosted editor or a migration tool. Of the URL only the kind
  /// of store and `?schema=` count: "postgresql:///", "sqlite:any.db".
  static Result<std::string> script(std::string_view url);

  /// The test clock of a PostgreSQL store as SQL, without a connection; see docs/testing.md. `invalid_argument` for
  /// SQLite: there, C++ tests use testing.h.
  static Result<std::string> testing_script(std::string_view url);

  /// Every migration that this binary knows, with its state in the store.
  Result<std::vector<MigrationInfo>> status() const;
  /// Applies missing migrations; safe when ten processes do it at once. Returns what this call applied.
  Result<std::vector<MigrationInfo>> up() const;
  /// Undoes migrations down to `version`; 0 removes everything of leasehold, including leases and tokens.
  Result<std::vector<MigrationInfo>> down(int version) const;
  /// Compares object by object. Empty: the schema is as expected.
  Result<std::vector<Drift>> verify() const;
  /// The SQL that up() would run, to paste into a hosted editor.
  Result<std::string> plan() const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Migrations(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
