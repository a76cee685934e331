// leasehold item ls, show.
#include <memory>

#include "base/time_text.h"
#include "cli/bind/session_options.h"
#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/session_text.h"
#include "cli/print/table.h"
#include "model/json.h"
#include "model/words.h"

namespace leasehold::cli {

// leasehold item ls: the backlog, and the owners of its items.
namespace {

struct ItemLsOptions {
  ItemFilter filter;
  std::string state;
  bool watch = false;
};

std::vector<std::string> row_of(const ItemInfo& item) {
  const auto since = item.held_by ? item.held_by->taken_at : item.done_at;
  return {printable(item.key),
          coloured(item.state),
          on_one_line(item.title),
          item.parent.empty() ? "-" : printable(item.parent),
          item.held_by ? printable(item.held_by->session) : "-",
          since ? format_age(item.store_now - *since) : "-"};
}

std::vector<std::string> table_of(const std::vector<ItemInfo>& items) {
  Table table({{"ITEM", Column::may_be_cut},
               {"STATE", Column::as_it_is, 3},
               {"TITLE", Column::may_be_cut, 2},
               {"PARENT", Column::may_be_cut},
               {"SESSION", Column::may_be_cut, 1},
               "SINCE"});
  for (const auto& item : items) table.add(row_of(item));
  return table.lines();
}

std::string gist_of(const ItemInfo& item) {
  auto text = fmt::format("{}, {}", to_string(item.state), on_one_line(item.title));
  return item.held_by ? fmt::format("{}, session {}", text, printable(item.held_by->session)) : text;
}

Result<ListPicture> look_at(const Store& store, const ItemFilter& filter) {
  const auto items = store.items().list(filter);
  if (!items) return items.error();
  return picture_of(
      *items, table_of(items->items), [](const auto& item) { return item.key; },
      [](const auto& each) { return gist_of(each); });
}

int list(const Context& context, ItemLsOptions& options) {
  options.filter.state = from_word<ItemState>(options.state);
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return show_list(context, *store,
                   {.what = "items", .watch = options.watch, .look = [&] { return look_at(*store, options.filter); }});
}

}  // namespace

void add_item_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List items and their owners, in the order of keys",
                              {"leasehold item ls --state open", "leasehold item ls --parent SD-1",
                               "leasehold item ls --json | jq -r '.items[] | select(.state == \"claimed\") | .key'"});
  auto options = std::make_shared<ItemLsOptions>();
  add_choice(*command, "--state", options->state, {"open", "blocked", "claimed", "stale", "done"},
             "Only items in this state");
  command->add_option("--parent", options->filter.parent, "Only the children of this item")
      ->check(not_empty)
      ->type_name("ITEM");
  add_paging(*command, options->filter.max, options->filter.page);
  add_watch(*command, options->watch);
  set_action(*command, context, [&context, options] { return list(context, *options); });
}

// leasehold item show: one item and its owner.
namespace {

void print_item(const ItemInfo& item) {
  print_field("item", printable(item.key));
  print_field("state", coloured(item.state));
  print_text("title", item.title);
  print_text("parent", item.parent);
  if (item.priority != 0) print_field("priority", std::to_string(item.priority));
  if (!item.conflicts.empty()) print_text("conflicts", fmt::format("{}", fmt::join(item.conflicts, " ")));
  if (!item.depends_on.empty()) print_text("depends on", fmt::format("{}", fmt::join(item.depends_on, " ")));
  if (!item.waits_for.empty()) print_text("waits for", fmt::format("{}", fmt::join(item.waits_for, " ")));
  if (item.metadata != "{}") print_text("metadata", item.metadata);
  print_field("added", with_distance(item.created_at, item.store_now));
  if (item.done_at) print_field("done", with_distance(*item.done_at, item.store_now));
  print_text("done by", item.done_by);
  if (item.held_by) {
    for (const auto& field : fields_of_owner(*item.held_by)) {
      if (field.name != "item") print_field(field.name, field.value);
    }
  }
  if (item.token.value != 0) print_field("token", std::to_string(item.token.value));
  for (const auto& note : item.notes) {
    print_field("note", fmt::format("{}, {}: {}", printable(note.author), format_age(item.store_now - note.at),
                                    shown_field(note.text)));
  }
}

int show_item(const Context& context, const std::string& key) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto item = store->items().show(key);
  if (!item) return report_refusal(context, item.error());
  if (context.json) {
    print_line(model::to_json(*item));
  } else {
    print_item(*item);
  }
  return exit_code::ok;
}

}  // namespace

void add_item_show(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "show", "Show an item and its owner (exit code 4: unknown)",
                              {"leasehold item show SD-1", "leasehold item show SD-1 --json | jq .session"});
  auto key = std::make_shared<std::string>();
  add_item_key(*command, *key);
  set_action(*command, context, [&context, key] { return show_item(context, *key); });
}

}  // namespace leasehold::cli
