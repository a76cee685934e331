// Lists, as every `ls` command prints them: a page as a table or as JSON; with --watch, drawn again in place on a
// terminal, elsewhere a line for every change.
//
//   return show_list(context, *store, {.what = "rates", .watch = options.watch, .look = [&] { return look(*store); }});
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "leasehold/page.h"
#include "model/json.h"

namespace leasehold::cli {

/// One look at a list.
struct ListPicture {
  std::vector<std::string> table;  ///< headings first
  /// By key, the text that is worth a line when it changes: without ages, which always change.
  std::map<std::string, std::string> entries;
  std::string json;
  std::optional<std::string> next;
};

/// `row_key` and `row_gist` return the key and the gist of an item. If several items have one key, the first counts.
template <typename T, typename Key, typename Gist>
ListPicture picture_of(const Page<T>& page, std::vector<std::string> table, Key row_key, Gist row_gist) {
  ListPicture picture{.table = std::move(table), .entries = {}, .json = model::to_json(page), .next = page.next};
  for (const auto& item : page) picture.entries.try_emplace(row_key(item), row_gist(item));
  return picture;
}

struct List {
  std::string_view what;  ///< "sessions"
  bool watch = false;
  std::function<Result<ListPicture>()> look;
};

/// Prints the list once, or with `watch` until this process is stopped, even while the store is unreachable. Returns
/// the exit code.
int show_list(const Context& context, const Store& store, const List& list);

/// The same for what lies outside of a store: with `watch` it looks about once a second.
int show_list(const Context& context, const List& list);

/// --watch
void add_watch(CLI::App& command, bool& watch);

/// --max and --page
void add_paging(CLI::App& command, int& max, std::string& page);

/// Shows how to get the next page, if there is one.
void say_next_page(const std::optional<std::string>& next);

}  // namespace leasehold::cli
