// The options of commands that take locks: which locks, whole or a share, holder, ttl.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "leasehold/lock.h"

namespace leasehold::cli {

/// The requested locks, from the command line.
struct LockWords {
  std::vector<std::string> names;
  std::string holder;
  AcquireOptions acquire;
  int held_code = exit_code::held;

  // As written: see gather() and settle().
  std::string name;
  std::vector<std::string> more;
  bool shared = false;
  std::string permits;
  std::optional<std::int64_t> capacity;

  /// Collects all words that are names.
  void gather();
  /// Once `names` is complete: builds a share from the words. Throws CLI::ValidationError if they do not fit together.
  void settle();

  /// "deploy", "a, b and c": for messages.
  [[nodiscard]] std::string joined_names() const;
  /// "2 of 8 permits", "shared"; empty if nothing is shared.
  [[nodiscard]] std::string share() const;
};

/// NAME, MORE..., --ttl, --wait, --shared, --permits, --capacity, --lock-delay, --holder and -E.
void add_lock_words(CLI::App& command, LockWords& words);

/// A lock as named by its holder: else LEASEHOLD_LOCK and LEASEHOLD_LOCK_TOKEN, as `lock run` and `elect` set them.
struct HeldLock {
  std::string name;
  Token token;
};
void add_held_lock(CLI::App& command, Context& context, HeldLock& lock);

/// For commands with a single lock, such as an election.
CLI::Option* add_lock_delay(CLI::App& command, Duration& delay);

}  // namespace leasehold::cli
