// Descriptions of sessions, items and claims. Ages appear three times: as a moment, in seconds and in words.
#include <algorithm>
#include <limits>

#include "base/time_text.h"
#include "model/describe.h"

namespace leasehold::model {
namespace {

/// A dead process of this host makes its session stale early; a closed session never becomes stale.
constexpr auto until_stale = [](const SessionInfo& session) -> std::optional<Duration> {
  if (session.state == SessionState::released) return std::nullopt;
  if (session.state == SessionState::stale) return std::min(session.until_stale(), Duration::zero());
  return session.until_stale();
};

/// Of the items the session holds, the one it took last.
constexpr auto minutes_of_latest_claim = [](const SessionInfo& session) -> std::optional<std::int64_t> {
  if (!session.item_taken_at) return std::nullopt;
  return whole_minutes(session.store_now - *session.item_taken_at);
};

constexpr auto minutes_of_claim = [](const ClaimInfo& claim) {
  return whole_minutes(claim.ended_at.value_or(claim.store_now) - claim.taken_at);
};

}  // namespace

Described describe(Type<SessionOptions>) {
  static constexpr auto fields = fields_of<SessionOptions>({
      field<&SessionOptions::id>("id").or_null().as_name(),
      field<&SessionOptions::ttl>("ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
      field<&SessionOptions::label>("label").as_text(),
      field<&SessionOptions::codebase>("codebase").as_text(),
      field<&SessionOptions::track>("track").as_text(),
      field<&SessionOptions::metadata>("metadata").as_json(bounds::metadata_bytes),
      field<&SessionOptions::exclusive>("exclusive"),
      field<&SessionOptions::max_age>("max_age_seconds").from(bounds::min_ttl, bounds::max_delay),
      field<&SessionOptions::request_id>("request_id").or_null().as_name(),
  });
  static const SessionOptions fresh;
  return {"SessionOptions", fields, &fresh};
}

Described describe(Type<SessionHeartbeat>) {
  static constexpr auto fields = fields_of<SessionHeartbeat>({
      field<&SessionHeartbeat::progress>("progress").as_text(),
      field<&SessionHeartbeat::ttl>("ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
  });
  static const SessionHeartbeat fresh;
  return {"SessionHeartbeat", fields, &fresh};
}

Described describe(Type<SessionFilter>) {
  static constexpr auto fields = fields_of<SessionFilter>({
      field<&SessionFilter::state>("state"),
      field<&SessionFilter::host>("host").or_null().as_text(),
      field<&SessionFilter::codebase>("codebase").or_null().as_text(),
      field<&SessionFilter::track>("track").or_null().as_text(),
      field<&SessionFilter::released>("released"),
      field<&SessionFilter::max>("max").at_least_one(),
      field<&SessionFilter::page>("page").or_null().as_text(),
  });
  static const SessionFilter fresh;
  return {"SessionFilter", fields, &fresh};
}

Described describe(Type<ItemOptions>) {
  using Priority = std::numeric_limits<std::int16_t>;
  static constexpr auto fields = fields_of<ItemOptions>({
      field<&ItemOptions::title>("title").as_text(bounds::title_bytes),
      field<&ItemOptions::parent>("parent").or_null().as_name(),
      field<&ItemOptions::metadata>("metadata").as_json(bounds::metadata_bytes),
      field<&ItemOptions::conflicts>("conflicts").as_name().up_to(bounds::max_item_links),
      field<&ItemOptions::depends_on>("depends_on").as_name().up_to(bounds::max_item_links),
      field<&ItemOptions::priority>("priority").from(Priority::min(), Priority::max()),
      field<&ItemOptions::note>("note").as_text(),
      field<&ItemOptions::author>("author").or_null().as_name(),
  });
  static const ItemOptions fresh;
  return {"ItemOptions", fields, &fresh};
}

Described describe(Type<ItemDoneOptions>) {
  static constexpr auto fields = fields_of<ItemDoneOptions>({
      field<&ItemDoneOptions::token>("token"),
      field<&ItemDoneOptions::session>("session").or_null().as_name(),
      field<&ItemDoneOptions::session_token>("session_token"),
      field<&ItemDoneOptions::note>("note").or_null().as_text(),
  });
  static const ItemDoneOptions fresh;
  return {"ItemDoneOptions", fields, &fresh};
}

Described describe(Type<ItemFilter>) {
  static constexpr auto fields = fields_of<ItemFilter>({
      field<&ItemFilter::state>("state"),
      field<&ItemFilter::parent>("parent").or_null().as_text(),
      field<&ItemFilter::max>("max").at_least_one(),
      field<&ItemFilter::page>("page").or_null().as_text(),
  });
  static const ItemFilter fresh;
  return {"ItemFilter", fields, &fresh};
}

Described describe(Type<ItemTakeOptions>) {
  static constexpr auto fields = fields_of<ItemTakeOptions>({
      field<&ItemTakeOptions::session_token>("session_token"),
      field<&ItemTakeOptions::create>("create"),
      field<&ItemTakeOptions::wait>("wait_seconds").from(Duration(0), Duration::max()),
  });
  static const ItemTakeOptions fresh;
  return {"ItemTakeOptions", fields, &fresh};
}

Described describe(Type<ClaimNextOptions>) {
  static constexpr auto fields = fields_of<ClaimNextOptions>({
      field<&ClaimNextOptions::session_token>("session_token"),
      field<&ClaimNextOptions::parent>("parent").or_null().as_name(),
      field<&ClaimNextOptions::wait>("wait_seconds").from(Duration(0), Duration::max()),
      field<&ClaimNextOptions::request_id>("request_id").or_null().as_name(),
  });
  static const ClaimNextOptions fresh;
  return {"ClaimNextOptions", fields, &fresh};
}

Described describe(Type<PathOptions>) {
  static constexpr auto fields = fields_of<PathOptions>({
      field<&PathOptions::directory>("directory").or_null().as_text(),
      field<&PathOptions::repo_wide>("repo_wide"),
  });
  static const PathOptions fresh;
  return {"PathOptions", fields, &fresh};
}

Described describe(Type<PathFilter>) {
  static constexpr auto fields = fields_of<PathFilter>({
      field<&PathFilter::session>("session").or_null().as_text(),
      field<&PathFilter::max>("max").at_least_one(),
      field<&PathFilter::page>("page").or_null().as_text(),
  });
  static const PathFilter fresh;
  return {"PathFilter", fields, &fresh};
}

Described describe(Type<ClaimFilter>) {
  static constexpr auto fields = fields_of<ClaimFilter>({
      field<&ClaimFilter::item>("item").or_null().as_text(),
      field<&ClaimFilter::session>("session").or_null().as_text(),
      field<&ClaimFilter::ended>("ended"),
      field<&ClaimFilter::max>("max").at_least_one(),
      field<&ClaimFilter::page>("page").or_null().as_text(),
  });
  static const ClaimFilter fresh;
  return {"ClaimFilter", fields, &fresh};
}

Described describe(Type<SessionInfo>) {
  static constexpr auto fields = fields_of<SessionInfo>({
      field<&SessionInfo::id>("id").means("the session's id"),
      field<&SessionInfo::state>("state"),
      field<&SessionInfo::token>("token").is_proof(),
      field<&SessionInfo::holder>("holder"),
      field<&SessionInfo::label>("label"),
      field<&SessionInfo::codebase>("codebase"),
      field<&SessionInfo::track>("track"),
      field<&SessionInfo::exclusive>("exclusive"),
      field<&SessionInfo::ttl>("ttl_seconds"),
      field<&SessionInfo::opened_at>("opened_at"),
      field<&SessionInfo::heartbeat_at>("heartbeat_at"),
      field<&SessionInfo::heartbeat_age>("heartbeat_age_seconds"),
      field<[](const SessionInfo& session) { return format_age(session.heartbeat_age()); }>("heartbeat_age_human"),
      field<[](const SessionInfo& session) { return whole_minutes(session.heartbeat_age()); }>("heartbeat_age_minutes"),
      field<&SessionInfo::progress_at>("progress_at"),
      field<&SessionInfo::progress_age>("progress_age_seconds"),
      field<[](const SessionInfo& session) { return format_age(session.progress_age()); }>("progress_age_human"),
      field<[](const SessionInfo& session) { return whole_minutes(session.progress_age()); }>("progress_age_minutes"),
      field<&SessionInfo::progress>("progress").or_null(),
      field<&SessionInfo::expires_at>("until"),
      field<until_stale>("seconds_until_stale"),
      field<&SessionInfo::parked_until>("parked_until"),
      field<&SessionInfo::ends_by>("ends_by"),
      field<&SessionInfo::ended_at>("ended_at"),
      field<&SessionInfo::end_reason>("end_reason").or_null(),
      field<&SessionInfo::end_detail>("end_detail").or_null(),
      field<&SessionInfo::claims>("claims").means("how many items the session holds"),
      field<&SessionInfo::item>("item").or_null(),
      field<&SessionInfo::item_taken_at>("item_taken_at"),
      field<minutes_of_latest_claim>("claim_duration_minutes"),
      field<&SessionInfo::store_now>("store_now"),
      field<&SessionInfo::metadata>("metadata").as(Kind::json),
  });
  return {"SessionInfo", fields};
}

Described describe(Type<SessionClosed>) {
  static constexpr auto fields = fields_of<SessionClosed>({
      field<&SessionClosed::id>("id").means("the session's id"),
      field<&SessionClosed::items>("items").means("the items whose claims were released with it"),
  });
  return {"SessionClosed", fields};
}

Described describe(Type<OwnSession>) {
  static constexpr auto fields = fields_of<OwnSession>({
      field<&OwnSession::handle>("handle"),
      inlined<&OwnSession::session>(),
  });
  return {"OwnSession", fields};
}

Described describe(Type<PathsTaken>) {
  static constexpr auto fields = fields_of<PathsTaken>({
      field<&PathsTaken::session>("session"),
      field<&PathsTaken::paths>("paths"),
      field<&PathsTaken::added>("added").means("how many of the paths the session did not have before"),
      field<&PathsTaken::expires_at>("until"),
  });
  return {"PathsTaken", fields};
}

Described describe(Type<PathInfo>) {
  static constexpr auto fields = fields_of<PathInfo>({
      field<&PathInfo::path>("path"),
      field<&PathInfo::host>("host"),
      field<&PathInfo::repository>("repository").or_null(),
      field<&PathInfo::session>("session"),
      field<&PathInfo::taken_at>("since"),
      field<&PathInfo::held_by>("held_by"),
      field<&PathInfo::store_now>("store_now"),
  });
  return {"PathInfo", fields};
}

Described describe(Type<ItemNote>) {
  static constexpr auto fields = fields_of<ItemNote>({
      field<&ItemNote::at>("at"),
      field<&ItemNote::author>("author"),
      field<&ItemNote::text>("text"),
  });
  return {"ItemNote", fields};
}

Described describe(Type<ItemInfo>) {
  static constexpr auto fields = fields_of<ItemInfo>({
      field<&ItemInfo::key>("key").means("the item's key"),
      field<&ItemInfo::title>("title"),
      field<&ItemInfo::parent>("parent").or_null(),
      field<&ItemInfo::priority>("priority").means("claim next takes higher ones first"),
      field<&ItemInfo::conflicts>("conflicts"),
      field<&ItemInfo::depends_on>("depends_on").means("the items that must be done before a session can take it"),
      field<&ItemInfo::waits_for>("waits_for"),
      field<&ItemInfo::state>("state"),
      field<&ItemInfo::session>("session").or_null(),
      field<&ItemInfo::token>("token").is_proof(),
      field<&ItemInfo::created_at>("created_at"),
      field<&ItemInfo::done_at>("done_at"),
      field<&ItemInfo::done_by>("done_by").or_null(),
      field<&ItemInfo::held_by>("held_by"),
      field<&ItemInfo::note_count>("note_count"),
      field<&ItemInfo::notes>("notes"),
      field<&ItemInfo::store_now>("store_now"),
      field<&ItemInfo::metadata>("metadata").as(Kind::json),
  });
  return {"ItemInfo", fields};
}

Described describe(Type<Claim>) {
  static constexpr auto fields = fields_of<Claim>({
      field<&Claim::key>("key").means("the item's key"),
      field<&Claim::token>("token"),
      field<&Claim::session>("session"),
      field<&Claim::taken_at>("since"),
      field<&Claim::expires_at>("until"),
      field<&Claim::previous_session>("previous_session").or_null(),
      field<&Claim::previous_holder>("previous_holder"),
      field<&Claim::created>("created").means("whether the item is new"),
      field<&Claim::replayed>("replayed"),
  });
  return {"Claim", fields};
}

Described describe(Type<ClaimInfo>) {
  static constexpr auto fields = fields_of<ClaimInfo>({
      field<&ClaimInfo::key>("key").means("the item's key"),
      field<&ClaimInfo::title>("title"),
      field<&ClaimInfo::token>("token").is_proof(),
      field<&ClaimInfo::session>("session"),
      field<&ClaimInfo::active>("active"),
      field<&ClaimInfo::taken_at>("since"),
      field<minutes_of_claim>("claim_duration_minutes"),
      field<&ClaimInfo::ended_at>("ended_at"),
      field<&ClaimInfo::end_reason>("end_reason").or_null(),
      field<&ClaimInfo::end_detail>("end_detail").or_null(),
      field<&ClaimInfo::held_by>("held_by"),
      field<&ClaimInfo::store_now>("store_now"),
  });
  return {"ClaimInfo", fields};
}

}  // namespace leasehold::model
