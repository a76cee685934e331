// What the command line said for every command, and the exit codes they share.
#pragma once

#include <functional>
#include <string>

#include "leasehold/result.h"
#include "leasehold/store.h"

namespace leasehold::cli {

namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int failure = 1;
inline constexpr int usage = 2;
inline constexpr int nothing_to_do = 3;
inline constexpr int not_found = 4;
inline constexpr int unreachable = 69;
inline constexpr int held = 75;
inline constexpr int lost = 76;
}  // namespace exit_code

/// A store's URL without what is secret in it, and without options.
std::string shown_url(std::string url);

/// What the command line said for every command, and the command it chose.
struct Context {
  std::vector<std::string> words{};  ///< the command line as it was given
  std::string db;                    ///< --db as given; empty: see store_url()
  bool json = false;                 ///< --json: the result, errors too, as JSON on stdout
  std::function<int()> action;

  /// --db, else LEASEHOLD_DB, else a file in the user's state folder.
  [[nodiscard]] Result<std::string> store_url() const;
  /// The same for a store that is to be made where there is none: the state folder then is.
  [[nodiscard]] Result<std::string> store_url_to_make() const;

  /// The store that is there. A look at a path that was mistyped says so, and leaves no file behind.
  [[nodiscard]] Result<Store> open_store(OpenOptions options = {}) const;
  /// For what brings something in, or waits for it to come.
  [[nodiscard]] Result<Store> open_or_make_store(const OpenOptions& options = {}) const;
};

}  // namespace leasehold::cli
