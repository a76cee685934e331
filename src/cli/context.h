// What the command line said for every command.
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

/// A store's URL without what is secret in it, and without options.
std::string shown_url(std::string url);

/// What the command line said for every command, and the command it chose.
struct Context {
  std::vector<std::string> words{};  ///< the command line as it was given
  std::string db;                    ///< --db as given; empty: see store_url()
  bool json = false;                 ///< --json: the result, errors too, as JSON on stdout
  std::function<int()> action;
  /// By command: what is settled when its whole command line is known; see after_parsing().
  std::map<const CLI::App*, std::vector<std::function<void()>>> after_parsing;

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
