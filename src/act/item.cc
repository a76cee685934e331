// Acts on the items of a backlog. Claims on them are in claim.cc.
#include "act/act.h"
#include "act/arguments.h"
#include "act/confirmations.h"

namespace leasehold::act {
namespace {

struct ItemByKey {
  std::string key{};
};

Described describe(Type<ItemByKey>) {
  static constexpr auto fields =
      fields_of<ItemByKey>({field<&ItemByKey::key>("key").as_name().needed().means("the item's key")});
  static const ItemByKey fresh;
  return {"ItemByKey", fields, &fresh};
}

struct ItemAdd {
  ItemByKey item{};
  ItemOptions options{};
};

Described describe(Type<ItemAdd>) {
  static constexpr auto fields = fields_of<ItemAdd>({inlined<&ItemAdd::item>(), inlined<&ItemAdd::options>()});
  static const ItemAdd fresh;
  return {"ItemAdd", fields, &fresh};
}

struct ItemDone {
  ItemByKey item{};
  std::optional<Token> token{};
  std::string session{};
  std::optional<Token> session_token{};
  std::string note{};
};

Described describe(Type<ItemDone>) {
  static constexpr auto fields = fields_of<ItemDone>({
      inlined<&ItemDone::item>(),
      field<&ItemDone::token>("token").means(
          "of the caller's claim; null: the session proves itself, or no session holds the item"),
      field<&ItemDone::session>("session").or_null().as_name().means(
          "instead of the claim's token: the session that holds the item"),
      field<&ItemDone::session_token>("session_token"),
      field<&ItemDone::note>("note").or_null().as_text().means("appended to the item, if this call finishes it"),
  });
  static const ItemDone fresh;
  return {"ItemDone", fields, &fresh};
}

struct ItemRemark {
  ItemByKey item{};
  std::string text{};
  std::string author{};
};

Described describe(Type<ItemRemark>) {
  static constexpr auto fields = fields_of<ItemRemark>({
      inlined<&ItemRemark::item>(),
      field<&ItemRemark::text>("text").as_text().needed().means("the note"),
      field<&ItemRemark::author>("author").or_null().as_name().means("for people; null: the name of this process"),
  });
  static const ItemRemark fresh;
  return {"ItemRemark", fields, &fresh};
}

Result<ItemAdded> item_add(const Store& store, const ItemAdd& given, const Call& /*call*/) {
  auto created = store.items().add(given.item.key, given.options);
  if (!created) return std::move(created).error();
  return ItemAdded{given.item.key, *created};
}

Result<ItemInfo> item_show(const Store& store, const ItemByKey& given, const Call& /*call*/) {
  return store.items().show(given.key);
}

Result<Page<ItemInfo>> item_list(const Store& store, const ItemFilter& given, const Call& /*call*/) {
  return store.items().list(given);
}

Result<ItemChanged> item_done(const Store& store, const ItemDone& given, const Call& /*call*/) {
  const ItemDoneOptions options{
      .token = given.token, .session = given.session, .session_token = given.session_token, .note = given.note};
  if (auto done = store.items().done(given.item.key, options); !done) return std::move(done).error();
  return ItemChanged{given.item.key, ItemState::done};
}

Result<ItemNoted> item_note(const Store& store, const ItemRemark& given, const Call& /*call*/) {
  if (auto noted = store.items().note(given.item.key, given.text, given.author); !noted) {
    return std::move(noted).error();
  }
  return ItemNoted{given.item.key};
}

Result<ItemChanged> item_reopen(const Store& store, const ItemByKey& given, const Call& /*call*/) {
  if (auto reopened = store.items().reopen(given.key); !reopened) return std::move(reopened).error();
  return ItemChanged{given.key, ItemState::open};
}

Result<ItemRemoved> item_remove(const Store& store, const ItemByKey& given, const Call& /*call*/) {
  if (auto removed = store.items().remove(given.key); !removed) return std::move(removed).error();
  return ItemRemoved{given.key};
}

}  // namespace

std::span<const Act> item_acts() {
  static constexpr Act acts[] = {
      act<item_add>({
          .name = "item.add",
          .help = "Add an item to the backlog, or change one; what is left out stays as it is",
          .scope = Scope::work,
          .sql = "item_add",
          .idempotent = true,
          .refusals = refusals<Errc::not_found, Errc::busy>,
          .example = R"({"key":"SD-1","title":"Parse nested comments"})",
      }),
      act<item_show>({
          .name = "item.show",
          .help = "Show an item",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"key":"SD-1"})",
      }),
      act<item_list>({
          .name = "item.list",
          .help = "List items",
          .idempotent = true,
          .example = R"({"state":"open","max":20})",
      }),
      act<item_done>({
          .name = "item.done",
          .help = "Mark an item done; its claim ends with it",
          .scope = Scope::work,
          .sql = "item_done",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::held, Errc::not_found, Errc::busy, Errc::unregistered>,
          .example = R"({"key":"SD-1","session":"agent-1","session_token":1763200000000000,"note":"see parser.cc"})",
      }),
      act<item_note>({
          .name = "item.note",
          .help = "Append a note to an item",
          .scope = Scope::work,
          .sql = "item_add",
          .refusals = refusals<Errc::not_found, Errc::busy>,
          .example = R"({"key":"SD-1","text":"the tests are red on main"})",
      }),
      act<item_reopen>({
          .name = "item.reopen",
          .help = "Open an item again that was done",
          .scope = Scope::work,
          .sql = "item_done",
          .idempotent = true,
          .refusals = refusals<Errc::not_found, Errc::busy>,
          .example = R"({"key":"SD-1"})",
      }),
      act<item_remove>({
          .name = "item.remove",
          .help = "Remove an item with the history of its claims",
          .scope = Scope::admin,
          .sql = "item_remove",
          .refusals = refusals<Errc::held, Errc::busy, Errc::not_found>,
          .example = R"({"key":"SD-1"})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
