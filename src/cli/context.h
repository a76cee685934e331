// The common options of every command.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/store.h"
#include "model/errors.h"

namespace CLI {
class App;
}  // namespace CLI

namespace leasehold::cli {

/// A store's URL without its secrets and options.
std::string shown_url(std::string url);

/// The common options of every command, and the chosen command.
struct Context {
  std::vector<std::string> words{};  ///< the command line as given
  std::string db;                    ///< --db as given; empty: see store_url()
  bool json = false;                 ///< --json: the result and errors as JSON on stdout
  std::function<int()> action;
  /// By command: runs once its whole command line is known; see after_parsing().
  std::map<const CLI::App*, std::vector<std::function<void()>>> after_parsing;

  /// --db, else LEASEHOLD_DB, else the nearest .leasehold.toml, else a file in the user's state folder.
  [[nodiscard]] Result<std::string> store_url() const;
  /// The same for a store that may have to be created: creates the state folder if it is missing.
  [[nodiscard]] Result<std::string> store_url_to_make() const;

  /// Opens an existing store. A mistyped path is an error, and leaves no file behind.
  [[nodiscard]] Result<Store> open_store(OpenOptions options = {}) const;
  /// For commands that add something, or wait for it.
  [[nodiscard]] Result<Store> open_or_make_store(const OpenOptions& options = {}) const;
};

}  // namespace leasehold::cli
