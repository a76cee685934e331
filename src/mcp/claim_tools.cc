// Tools that claim items: claim_next, claim_take, claim_release, claim_show.
#include "mcp/tool.h"

namespace leasehold::mcp {
namespace {

struct NextItem {
  std::string session{};
  std::string parent{};
};

Described describe(Type<NextItem>) {
  static constexpr auto fields = fields_of<NextItem>({
      field<&NextItem::session>("session"),
      field<&NextItem::parent>("parent").as_name().or_null().means("only its children"),
  });
  static const NextItem fresh;
  return {"NextItem", fields, &fresh};
}

struct TakeItem {
  std::string key{};
  std::string session{};
  bool create = false;
  Duration wait{0};
};

Described describe(Type<TakeItem>) {
  static constexpr auto fields = fields_of<TakeItem>({
      field<&TakeItem::key>("key").as_name().needed(),
      field<&TakeItem::session>("session"),
      field<&TakeItem::create>("create").means("add the item if it does not exist"),
      field<&TakeItem::wait>("wait_seconds").from(Duration(0), bounds::max_tool_wait),
  });
  static const TakeItem fresh;
  return {"TakeItem", fields, &fresh};
}

/// An item that the session holds now.
struct TakenItem {
  std::string session{};
  Claim claim{};
  std::string title{};
};

Described describe(Type<TakenItem>) {
  static constexpr auto fields = fields_of<TakenItem>({
      field<&TakenItem::session>("session"),
      field<&TakenItem::claim, &Claim::key>("key"),
      field<&TakenItem::title>("title"),
      field<&TakenItem::claim, &Claim::token>("token"),
      field<&TakenItem::claim, &Claim::expires_at>("until"),
      field<&TakenItem::claim, &Claim::previous_session>("previous_session").or_null(),
  });
  return {"TakenItem", fields};
}

struct ReleaseItem {
  std::string key{};
  std::string session{};
  std::optional<Token> token{};
  std::string reason{};
};

Described describe(Type<ReleaseItem>) {
  static constexpr auto fields = fields_of<ReleaseItem>({
      field<&ReleaseItem::key>("key").as_name().needed(),
      field<&ReleaseItem::session>("session").means("or `token`"),
      field<&ReleaseItem::token>("token"),
      field<&ReleaseItem::reason>("reason").as_text(),
  });
  static const ReleaseItem fresh;
  return {"ReleaseItem", fields, &fresh};
}

struct ReleasedItem {
  std::string key{};
  bool released = true;
};

Described describe(Type<ReleasedItem>) {
  static constexpr auto fields = fields_of<ReleasedItem>({
      field<&ReleasedItem::key>("key"),
      field<&ReleasedItem::released>("released"),
  });
  return {"ReleasedItem", fields};
}

struct ShownKey {
  std::string key{};
};

Described describe(Type<ShownKey>) {
  static constexpr auto fields = fields_of<ShownKey>({field<&ShownKey::key>("key").as_name().needed()});
  static const ShownKey fresh;
  return {"ShownKey", fields, &fresh};
}

/// What people ask about an item. The owner's token is not among it.
struct ShownItem {
  ItemInfo item{};
};

Described describe(Type<ShownItem>) {
  static constexpr auto fields = fields_of<ShownItem>({
      field<&ShownItem::item, &ItemInfo::key>("key"),
      field<&ShownItem::item, &ItemInfo::title>("title"),
      field<&ShownItem::item, &ItemInfo::state>("state"),
      field<&ShownItem::item, &ItemInfo::parent>("parent").or_null(),
      field<&ShownItem::item, &ItemInfo::held_by>("held_by"),
  });
  return {"ShownItem", fields};
}

Result<TakenItem> taken(const Store& store, const SessionHandle& session, Result<Claim> claim) {
  if (!claim) return with_session(std::move(claim).error(), session);
  const auto item = store.items().show(claim->key);
  return TakenItem{session.text(), std::move(*claim), item ? item->title : std::string()};
}

Result<TakenItem> claim_next(Desk& desk, const NextItem& given, const std::stop_token& stop) {
  const auto session = desk.session(given.session, "claim_next");
  if (!session) return session.error();
  const auto store = desk.store();
  if (!store) return store.error();
  const ClaimNextOptions options{.session_token = session->token, .parent = given.parent};
  return taken(*store, *session, store->claims().next(session->id, options, desk.call(stop)));
}

Result<TakenItem> claim_take(Desk& desk, const TakeItem& given, const std::stop_token& stop) {
  const auto session = desk.session(given.session, "claim_take " + given.key);
  if (!session) return session.error();
  const auto store = desk.store();
  if (!store) return store.error();
  const ItemTakeOptions options{.session_token = session->token, .create = given.create, .wait = given.wait};
  return taken(*store, *session, store->claims().take(given.key, session->id, options, desk.call(stop)));
}

Result<ReleasedItem> claim_release(Desk& desk, const ReleaseItem& given, const std::stop_token& /*stop*/) {
  if (given.session.empty() && !given.token) return no_proof();
  const auto store = desk.store();
  if (!store) return store.error();
  const auto claims = store->claims();
  Result<void> released;
  if (given.token) {
    const auto claim = claims.show(given.key);
    if (!claim) return claim.error();
    released = claims.release(given.key, claim->session, *given.token, given.reason);
  } else {
    const auto session = desk.session(given.session, "claim_release " + given.key);
    if (!session) return session.error();
    released = claims.release(given.key, *session, given.reason);
  }
  if (!released) return std::move(released).error();
  return ReleasedItem{given.key};
}

Result<ShownItem> claim_show(Desk& desk, const ShownKey& given, const std::stop_token& /*stop*/) {
  const auto store = desk.store();
  if (!store) return store.error();
  auto item = store->items().show(given.key);
  if (!item) return std::move(item).error();
  if (item->held_by) item->held_by->token = {};
  return ShownItem{std::move(*item)};
}

}  // namespace

std::span<const Tool> claim_tools() {
  static constexpr Tool tools[] = {
      tool<claim_next>({
          .name = "claim_next",
          .help =
              "Claim the first open item, of the highest priority. Without `session` a new one is opened and returned.",
          .asks = true,
      }),
      tool<claim_take>({
          .name = "claim_take",
          .help = "Claim this item before you work on it. `granted: false` names the owner and when to ask again.",
          .idempotent = true,
          .waits = true,
          .asks = true,
      }),
      tool<claim_release>({
          .name = "claim_release",
          .help = "Give an item back without finishing it.",
          .idempotent = true,
      }),
      tool<claim_show>({
          .name = "claim_show",
          .help = "Show an item and its owner.",
          .reads = true,
          .idempotent = true,
      }),
  };
  return tools;
}

}  // namespace leasehold::mcp
