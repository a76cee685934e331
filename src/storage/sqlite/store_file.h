// The file of a SQLite store: creates it privately, and checks that its name still leads to the open file.
//
// SQLite keeps writing to a file that was deleted or replaced, and finds the write-ahead log by the file's name. So a
// holder could keep its lease in a file that no other process opens any more, and a file with two names would have two
// logs. Every commit first calls check().
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "leasehold/result.h"

struct sqlite3;

namespace leasehold::sqlite {

class StoreFile {
 public:
  /// `given` may be relative or contain symbolic links; ":memory:" is not a file, and every check succeeds.
  explicit StoreFile(const std::string& given);

  /// The path that SQLite opens: absolute and without symbolic links, so that every user of the file has the same log
  /// and gate.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool in_memory() const { return path_ == ":memory:"; }

  /// Creates an empty file with owner-only access if there is none; SQLite gives its log the same mode. If this fails,
  /// opening the file reports why.
  void make_private() const;
  /// `unavailable` if the file has a second name.
  [[nodiscard]] Result<void> require_one_name() const;

  /// Remembers the file that the connection has opened.
  Result<void> remember(sqlite3* connection);
  /// Remembers the log and its index. Requires a begun transaction.
  Result<void> remember_log();
  [[nodiscard]] bool knows_log() const { return log_.has_value(); }

  /// Succeeds if the given name still leads to the remembered file, and the file has no second name. Otherwise
  /// `unavailable` with advice. May be called from any thread.
  [[nodiscard]] Result<void> check() const;
  /// The same for the log. Not while another thread calls remember_log().
  [[nodiscard]] Result<void> check_log() const;

  /// `denied` if a file beside this one is a link or not a regular file: it could make us write elsewhere.
  [[nodiscard]] Result<void> require_regular_beside(const std::string& suffix) const;
  /// For WriteGate: opens a file beside this one, creating it with the mode and the owner of this one. -1 on failure.
  [[nodiscard]] int open_beside(const std::string& suffix) const;

  /// Names and values for `leasehold doctor`.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> facts() const;

 private:
  struct Identity {
    dev_t device;
    ino_t inode;
    bool operator==(const Identity&) const = default;
  };
  struct Log {
    Identity frames;
    Identity index;
    bool operator==(const Log&) const = default;
  };
  static std::optional<Identity> identity_of(const std::string& path);
  [[nodiscard]] std::optional<Log> log_now() const;

  std::string given_;
  std::string path_;
  // Every commit checks them.
  std::string frames_path_;
  std::string index_path_;
  std::optional<Identity> open_;
  std::optional<Log> log_;
};

}  // namespace leasehold::sqlite
