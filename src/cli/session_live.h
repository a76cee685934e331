// A list that is looked at again and again: drawn in place on a terminal, elsewhere a line for everything that changes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"

namespace leasehold::cli {

/// One look at a list.
struct ListPicture {
  std::vector<std::string> table;  ///< headings first
  /// By key, what is worth a line when it changes: without ages, which always do.
  std::map<std::string, std::string> entries;
  std::string json;
};

struct WatchedList {
  std::string_view what;  ///< "sessions"
  int limit = 0;          ///< no look gives more than this
  std::function<Result<ListPicture>()> look;
};

/// Goes on until this process is told to stop, also while the store cannot be reached; gives the exit code.
int watch_list(const Context& context, const Store& store, const WatchedList& list);

/// The same once: the table, or the JSON.
int print_list(const Context& context, const WatchedList& list);

}  // namespace leasehold::cli
