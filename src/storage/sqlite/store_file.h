// The file of a SQLite store as the folder has it: made private, and still the one that is open.
//
// SQLite goes on writing into a file that was deleted or replaced, and finds the write-ahead log by the file's name. So
// a holder could keep its lease in a file that nobody else opens any more, and a file with two names would have two
// logs. Every commit first asks here whether the name still leads to the open file.
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
  /// `given` may be relative or lead over symbolic links; ":memory:" is no file, and then nothing is ever wrong.
  explicit StoreFile(const std::string& given);

  /// What SQLite opens: absolute, and without symbolic links, so that every user of the file has the same log and gate.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool in_memory() const { return path_ == ":memory:"; }

  /// Makes an empty file that only its owner may read, where there is none; SQLite gives the same mode to its log.
  /// Where that fails, opening the file says why.
  void make_private() const;
  /// `unavailable` where the file has a second name.
  [[nodiscard]] Result<void> require_one_name() const;

  /// Remembers which file the connection has opened.
  Result<void> remember(sqlite3* connection);
  /// Remembers its log and the index of that: once a transaction has begun.
  Result<void> remember_log();
  [[nodiscard]] bool knows_log() const { return log_.has_value(); }

  /// Fine: the name given still leads to the remembered file, and the file has no second name. Otherwise `unavailable`,
  /// with what to do. From any thread.
  [[nodiscard]] Result<void> check() const;
  /// The same for the log. Not while another thread remembers it.
  [[nodiscard]] Result<void> check_log() const;

  /// `denied` where a file beside this one is a link, or no plain file: whoever put it there would have us write
  /// elsewhere.
  [[nodiscard]] Result<void> require_plain_beside(const std::string& suffix) const;
  /// For WriteGate: opens a file beside this one, making it with the mode and the owner of this one. -1: it cannot be.
  [[nodiscard]] int open_beside(const std::string& suffix) const;

  /// What `leasehold doctor` judges: name and value.
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
  std::optional<Identity> open_;
  std::optional<Log> log_;
};

}  // namespace leasehold::sqlite
