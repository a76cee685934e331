// What the commands that take locks are told: which ones, all of them or a share, for whom, for how long.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "leasehold/lock.h"

namespace leasehold::cli {

/// What the command line says of the locks that are wanted.
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

  /// All that stand where names do.
  void gather();
  /// Once `names` is right: makes a share of the words. Throws CLI::ValidationError where they do not fit together.
  void settle();

  /// "deploy", "a, b and c": for messages.
  [[nodiscard]] std::string joined_names() const;
  /// "2 of 8 permits", "shared"; empty where nothing is shared.
  [[nodiscard]] std::string share() const;
};

/// NAME, MORE..., --ttl, --wait, --shared, --permits, --capacity, --lock-delay, --holder and -E.
void add_lock_words(CLI::App& command, LockWords& words);

/// A lock as its holder names it: else LEASEHOLD_LOCK and LEASEHOLD_LOCK_TOKEN, as `lock run` and `elect` set them.
struct HeldLock {
  std::string name;
  Token token;
};
void add_held_lock(CLI::App& command, Context& context, HeldLock& lock);

/// Where only one lock can be meant, as in an election.
CLI::Option* add_lock_delay(CLI::App& command, Duration& delay);

}  // namespace leasehold::cli
