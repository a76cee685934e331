// Tools for the backlog: item_list, item_add, item_done.
#include <fmt/format.h>

#include <limits>
#include <random>

#include "mcp/tool.h"

namespace leasehold::mcp {
namespace {

struct ListItems {
  std::optional<ItemState> state{};
  std::string parent{};
  std::string page{};
  int max = defaults::tool_list_max;
};

Described describe(Type<ListItems>) {
  static constexpr auto fields = fields_of<ListItems>({
      field<&ListItems::state>("state"),
      field<&ListItems::parent>("parent").as_text(),
      field<&ListItems::page>("page").as_text().means("`next` of the previous page"),
      field<&ListItems::max>("max").at_least_one(),
  });
  static const ListItems fresh;
  return {"ListItems", fields, &fresh};
}

struct ListedItem {
  ItemInfo item{};
};

Described describe(Type<ListedItem>) {
  static constexpr auto fields = fields_of<ListedItem>({
      field<&ListedItem::item, &ItemInfo::key>("key"),
      field<&ListedItem::item, &ItemInfo::title>("title"),
      field<&ListedItem::item, &ItemInfo::state>("state"),
      field<&ListedItem::item, &ItemInfo::session>("session_id").or_null(),
  });
  return {"ListedItem", fields};
}

struct AddItem {
  std::string title{};
  std::string key{};
  std::string parent{};
  std::optional<int> priority{};
  std::optional<std::vector<std::string>> depends_on{};
  std::optional<std::string> note{};
};

Described describe(Type<AddItem>) {
  using Priority = std::numeric_limits<std::int16_t>;
  static constexpr auto fields = fields_of<AddItem>({
      field<&AddItem::title>("title").as_text(bounds::title_bytes).needed(),
      field<&AddItem::key>("key").as_name().or_null().means("left out: a new one"),
      field<&AddItem::parent>("parent").as_name().or_null(),
      field<&AddItem::priority>("priority").from(Priority::min(), Priority::max()).means("higher ones come first"),
      field<&AddItem::depends_on>("depends_on").as_name().up_to(bounds::max_item_links),
      field<&AddItem::note>("note").as_text(),
  });
  static const AddItem fresh;
  return {"AddItem", fields, &fresh};
}

struct AddedItem {
  std::string key{};
  bool created = false;
};

Described describe(Type<AddedItem>) {
  static constexpr auto fields =
      fields_of<AddedItem>({field<&AddedItem::key>("key"), field<&AddedItem::created>("created")});
  return {"AddedItem", fields};
}

struct FinishItem {
  std::string key{};
  std::string session{};
  std::optional<Token> token{};
  std::string note{};
};

Described describe(Type<FinishItem>) {
  static constexpr auto fields = fields_of<FinishItem>({
      field<&FinishItem::key>("key").as_name().needed(),
      field<&FinishItem::session>("session").means("or `token`"),
      field<&FinishItem::token>("token"),
      field<&FinishItem::note>("note").as_text().means("what you leave behind"),
  });
  static const FinishItem fresh;
  return {"FinishItem", fields, &fresh};
}

struct FinishedItem {
  std::string key{};
  ItemState state = ItemState::done;
};

Described describe(Type<FinishedItem>) {
  static constexpr auto fields =
      fields_of<FinishedItem>({field<&FinishedItem::key>("key"), field<&FinishedItem::state>("state")});
  return {"FinishedItem", fields};
}

Result<Page<ListedItem>> item_list(Desk& desk, const ListItems& given, const std::stop_token& /*stop*/) {
  const auto store = desk.store();
  if (!store) return store.error();
  const auto items =
      store->items().list({.state = given.state, .parent = given.parent, .max = given.max, .page = given.page});
  if (!items) return items.error();
  Page<ListedItem> page{.next = items->next};
  for (const auto& item : *items) page.items.push_back({item});
  return page;
}

/// Unlikely enough to exist: 40 random bits.
std::string new_key() {
  std::random_device random;
  return fmt::format("item-{:08x}{:02x}", random(), random() & 0xFFU);
}

Result<AddedItem> item_add(Desk& desk, const AddItem& given, const std::stop_token& /*stop*/) {
  const auto store = desk.store();
  if (!store) return store.error();
  const auto key = given.key.empty() ? new_key() : given.key;
  ItemOptions options{
      .title = given.title, .depends_on = given.depends_on, .priority = given.priority, .note = given.note};
  if (!given.parent.empty()) options.parent = given.parent;
  auto created = store->items().add(key, options);
  if (!created) return std::move(created).error();
  return AddedItem{key, *created};
}

Result<FinishedItem> item_done(Desk& desk, const FinishItem& given, const std::stop_token& /*stop*/) {
  if (given.session.empty() && !given.token) return no_proof();
  const auto store = desk.store();
  if (!store) return store.error();
  ItemDoneOptions options{.token = given.token, .note = given.note};
  if (!given.token) {
    const auto session = desk.session(given.session, "item_done " + given.key);
    if (!session) return session.error();
    options.session = session->id;
    options.session_token = session->token;
  }
  if (auto done = store->items().done(given.key, options); !done) return std::move(done).error();
  return FinishedItem{given.key};
}

}  // namespace

std::span<const Tool> item_tools() {
  static constexpr Tool tools[] = {
      tool<item_list>({
          .name = "item_list",
          .help = "List the items of the shared backlog.",
          .reads = true,
          .idempotent = true,
      }),
      tool<item_add>({
          .name = "item_add",
          .help = "Add an item to the backlog, or change it.",
          .idempotent = true,
      }),
      tool<item_done>({
          .name = "item_done",
          .help = "Mark your item done. Refused if you lost the claim: then another session may have finished it.",
          .idempotent = true,
      }),
  };
  return tools;
}

}  // namespace leasehold::mcp
