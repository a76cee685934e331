// The schema and its versions: numbered, checksummed, one transaction each.
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
  std::string checksum;  ///< of the text this binary carries
  std::optional<Timestamp> applied_at;
  bool changed = false;  ///< applied with another text than this binary carries
};

/// One difference between the schema there is and the one there should be.
struct Drift {
  std::string object;   ///< "index lease_check", "column lock.token"
  std::string problem;  ///< "missing", "unexpected", "differs: ..."
};

class LEASEHOLD_EXPORT Migrations {
 public:
  /// For a store whose schema may be missing, older or newer: Store::open would refuse it. Nothing is migrated; of the
  /// options, `create` says whether a missing SQLite file is made.
  static Result<Migrations> open(std::string_view url, const OpenOptions& options);

  /// Every migration this binary knows, with what the store says of it.
  Result<std::vector<MigrationInfo>> status() const;
  /// Applies what is missing; safe when ten processes do it at once. Gives what this call applied.
  Result<std::vector<MigrationInfo>> up() const;
  /// Undoes down to `version`; 0 leaves nothing of leasehold behind, leases and tokens included.
  Result<std::vector<MigrationInfo>> down(int version) const;
  /// Compares object by object. Empty: all is as it should be.
  Result<std::vector<Drift>> verify() const;
  /// The SQL that up() would run, to paste into a hosted editor.
  Result<std::string> plan() const;

  /// For the library: nobody else has an Impl.
  struct Impl;
  explicit Migrations(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
