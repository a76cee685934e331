// Descriptions of chunks, their sets and rates.
#include <fmt/format.h>

#include "leasehold/limits.h"
#include "model/describe.h"

namespace leasehold {

std::string ChunkSetInfo::summary() const {
  if (state != ChunkSetState::partial) return to_string(state);
  return fmt::format("partial {}/{} ({} exhausted)", completed + skipped, total, exhausted);
}

}  // namespace leasehold

namespace leasehold::model {

Described describe(Type<ChunkSetSettings>) {
  static constexpr auto fields = fields_of<ChunkSetSettings>({
      field<&ChunkSetSettings::max_failures>("max_failures").from(1, bounds::max_budget),
      field<&ChunkSetSettings::max_crashes>("max_crashes").from(1, bounds::max_budget),
      field<&ChunkSetSettings::backoff_base>("backoff_base_seconds").from(Duration(0), bounds::max_delay),
      field<&ChunkSetSettings::backoff_max>("backoff_max_seconds").from(Duration(0), bounds::max_delay),
      field<&ChunkSetSettings::default_ttl>("default_ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
  });
  static const ChunkSetSettings fresh;
  return {"ChunkSetSettings", fields, &fresh};
}

Described describe(Type<ChunkClaimOptions>) {
  static constexpr auto fields = fields_of<ChunkClaimOptions>({
      field<&ChunkClaimOptions::key>("key").or_null().as_name(),
      field<&ChunkClaimOptions::max>("max").from(1, bounds::max_claim),
      field<&ChunkClaimOptions::ttl>("ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
      field<&ChunkClaimOptions::wait>("wait_seconds").from(Duration(0), Duration::max()),
      field<&ChunkClaimOptions::keep_waiting>("keep_waiting"),
      field<&ChunkClaimOptions::older_than>("older_than_seconds").from(Duration(0), bounds::max_delay),
      field<&ChunkClaimOptions::request_id>("request_id").or_null().as_name(),
  });
  static const ChunkClaimOptions fresh;
  return {"ChunkClaimOptions", fields, &fresh};
}

Described describe(Type<ChunkSave>) {
  static constexpr auto fields = fields_of<ChunkSave>({
      field<&ChunkSave::cursor>("cursor").as_json(bounds::chunk_json_bytes),
      field<&ChunkSave::rows>("rows").from(0, bounds::max_rows),
  });
  static const ChunkSave fresh;
  return {"ChunkSave", fields, &fresh};
}

Described describe(Type<PlannedChunk>) {
  static constexpr auto fields = fields_of<PlannedChunk>({
      field<&PlannedChunk::key>("key").as_name().called("chunk key"),
      field<&PlannedChunk::spec>("spec").as_json(bounds::chunk_json_bytes),
  });
  static const PlannedChunk fresh;
  return {"PlannedChunk", fields, &fresh};
}

Described describe(Type<PlanOptions>) {
  static constexpr auto fields = fields_of<PlanOptions>({
      field<&PlanOptions::planner>("planner").as_name().called("planner version"),
      field<&PlanOptions::settings>("settings").called("set"),
  });
  static const PlanOptions fresh;
  return {"PlanOptions", fields, &fresh};
}

Described describe(Type<ChunkReset>) {
  static constexpr auto fields = fields_of<ChunkReset>({
      field<&ChunkReset::which>("which"),
      field<&ChunkReset::keys>("keys").as_name().called("chunk keys"),
      field<&ChunkReset::older_than>("older_than_seconds").from(Duration(0), bounds::max_delay),
      field<&ChunkReset::from_start>("from_start"),
  });
  static const ChunkReset fresh;
  return {"ChunkReset", fields, &fresh};
}

Described describe(Type<ChunkFilter>) {
  static constexpr auto fields = fields_of<ChunkFilter>({
      field<&ChunkFilter::state>("state"),
      field<&ChunkFilter::max>("max").at_least_one(),
      field<&ChunkFilter::page>("page").or_null().as_text(),
  });
  static const ChunkFilter fresh;
  return {"ChunkFilter", fields, &fresh};
}

Described describe(Type<Chunk>) {
  static constexpr auto fields = fields_of<Chunk>({
      field<&Chunk::set>("set"),
      field<&Chunk::key>("key").means("the chunk's key, unique in its set"),
      field<&Chunk::token>("token"),
      field<&Chunk::position>("position"),
      field<&Chunk::hash>("hash"),
      field<&Chunk::attempt>("attempt"),
      field<&Chunk::rows>("rows"),
      field<&Chunk::previous_holder>("previous_holder"),
      field<&Chunk::synced_at>("synced_at"),
      field<&Chunk::spec>("spec").as(Kind::json),
      field<&Chunk::cursor>("cursor").as(Kind::json),
  });
  return {"Chunk", fields};
}

Described describe(Type<ChunkGrant>) {
  static constexpr auto fields = fields_of<ChunkGrant>({
      field<&ChunkGrant::lease_id>("lease_id"),
      field<&ChunkGrant::holder>("holder"),
      field<&ChunkGrant::ttl>("ttl_seconds"),
      field<&ChunkGrant::expires_at>("until"),
      field<&ChunkGrant::trusted_until>("trusted_for_seconds"),
      field<&ChunkGrant::solo>("solo"),
      field<&ChunkGrant::replayed>("replayed"),
      field<&ChunkGrant::chunks>("chunks").means("the claimed chunks, under one lease"),
  });
  return {"ChunkGrant", fields};
}

Described describe(Type<ChunkHeartbeat>) {
  static constexpr auto fields = fields_of<ChunkHeartbeat>({
      field<&ChunkHeartbeat::set>("set"),
      field<&ChunkHeartbeat::key>("key").means("the chunk's key, unique in its set"),
      field<&ChunkHeartbeat::rows>("rows"),
      field<&ChunkHeartbeat::ttl>("ttl_seconds"),
      field<&ChunkHeartbeat::expires_at>("until"),
      field<&ChunkHeartbeat::trusted_until>("trusted_for_seconds"),
  });
  return {"ChunkHeartbeat", fields};
}

Described describe(Type<ChunkSettled>) {
  static constexpr auto fields = fields_of<ChunkSettled>({
      field<&ChunkSettled::set>("set"),
      field<&ChunkSettled::key>("key").means("the chunk's key, unique in its set"),
      field<&ChunkSettled::state>("state"),
      field<&ChunkSettled::due_at>("due_at"),
      field<&ChunkSettled::set_state>("set_state"),
      field<&ChunkSettled::replayed>("replayed"),
  });
  return {"ChunkSettled", fields};
}

Described describe(Type<ChunkInfo>) {
  static constexpr auto fields = fields_of<ChunkInfo>({
      field<&ChunkInfo::set>("set"),
      field<&ChunkInfo::key>("key").means("the chunk's key, unique in its set"),
      field<&ChunkInfo::position>("position"),
      field<&ChunkInfo::state>("state"),
      field<&ChunkInfo::planner>("planner"),
      field<&ChunkInfo::hash>("hash"),
      field<&ChunkInfo::token>("token").is_proof(),
      field<&ChunkInfo::attempts>("attempts"),
      field<&ChunkInfo::failures>("failures"),
      field<&ChunkInfo::crashes>("crashes"),
      field<&ChunkInfo::due_at>("due_at"),
      field<&ChunkInfo::started_at>("started_at"),
      field<&ChunkInfo::finished_at>("finished_at"),
      field<&ChunkInfo::synced_at>("synced_at"),
      field<&ChunkInfo::saved_at>("saved_at"),
      field<&ChunkInfo::rows>("rows"),
      field<&ChunkInfo::holder>("holder"),
      field<&ChunkInfo::heartbeat_at>("heartbeat_at"),
      field<&ChunkInfo::expires_at>("until"),
      field<&ChunkInfo::error>("error").or_null(),
      field<&ChunkInfo::note>("note").or_null(),
      field<&ChunkInfo::store_now>("store_now"),
      field<&ChunkInfo::spec>("spec").as(Kind::json),
      field<&ChunkInfo::cursor>("cursor").as(Kind::json),
  });
  return {"ChunkInfo", fields};
}

Described describe(Type<ChunkSetInfo>) {
  static constexpr auto fields = fields_of<ChunkSetInfo>({
      field<&ChunkSetInfo::name>("name"),
      field<&ChunkSetInfo::state>("state"),
      field<&ChunkSetInfo::summary>("summary"),
      field<&ChunkSetInfo::planner>("planner"),
      field<&ChunkSetInfo::planned_at>("planned_at"),
      field<&ChunkSetInfo::total>("total"),
      field<&ChunkSetInfo::available>("available"),
      field<&ChunkSetInfo::deferred>("deferred"),
      field<&ChunkSetInfo::running>("running"),
      field<&ChunkSetInfo::expired>("expired"),
      field<&ChunkSetInfo::completed>("completed"),
      field<&ChunkSetInfo::skipped>("skipped"),
      field<&ChunkSetInfo::exhausted>("exhausted"),
      field<&ChunkSetInfo::rows>("rows"),
      field<&ChunkSetInfo::attempts>("attempts"),
      field<&ChunkSetInfo::started_at>("started_at"),
      field<&ChunkSetInfo::finished_at>("finished_at"),
      field<&ChunkSetInfo::oldest_sync>("oldest_sync"),
      field<&ChunkSetInfo::job_id>("job_id").or_null(),
      field<&ChunkSetInfo::max_failures>("max_failures"),
      field<&ChunkSetInfo::max_crashes>("max_crashes"),
      field<&ChunkSetInfo::backoff_base>("backoff_base_seconds"),
      field<&ChunkSetInfo::backoff_max>("backoff_max_seconds"),
      field<&ChunkSetInfo::default_ttl>("default_ttl_seconds"),
      field<&ChunkSetInfo::store_now>("store_now"),
  });
  return {"ChunkSetInfo", fields};
}

Described describe(Type<PlanOutcome>) {
  static constexpr auto fields = fields_of<PlanOutcome>({
      field<&PlanOutcome::set>("set"),
      field<&PlanOutcome::created>("created"),
      field<&PlanOutcome::added>("added"),
      field<&PlanOutcome::replaced>("replaced"),
      field<&PlanOutcome::removed>("removed"),
      field<&PlanOutcome::kept>("kept"),
      field<&PlanOutcome::differing>("differing"),
      field<&PlanOutcome::left>("left"),
      field<&PlanOutcome::total>("total"),
      field<&PlanOutcome::state>("state"),
  });
  return {"PlanOutcome", fields};
}

Described describe(Type<ChunkResetOutcome>) {
  static constexpr auto fields = fields_of<ChunkResetOutcome>({
      field<&ChunkResetOutcome::set>("set"),
      field<&ChunkResetOutcome::reset>("reset"),
      field<&ChunkResetOutcome::running>("running").means("chunks that are held, and therefore were not reset"),
      field<&ChunkResetOutcome::missing>("missing"),
  });
  return {"ChunkResetOutcome", fields};
}

Described describe(Type<RateTakeOptions>) {
  static constexpr auto fields = fields_of<RateTakeOptions>({
      field<&RateTakeOptions::every>("every_seconds").from(bounds::min_rate_interval, bounds::max_rate_interval),
      field<&RateTakeOptions::burst>("burst").from(1, bounds::max_burst),
      field<&RateTakeOptions::wait>("wait_seconds").from(Duration(0), Duration::max()),
  });
  static const RateTakeOptions fresh;
  return {"RateTakeOptions", fields, &fresh};
}

Described describe(Type<RateInfo>) {
  static constexpr auto fields = fields_of<RateInfo>({
      field<&RateInfo::name>("name"),
      field<&RateInfo::every>("every_seconds"),
      field<&RateInfo::burst>("burst"),
      field<&RateInfo::next_at>("next_at"),
      field<&RateInfo::taken>("taken"),
      field<&RateInfo::taken_at>("taken_at").means("when the latest turn begins"),
      field<&RateInfo::holder>("holder").means("the caller that took the latest turn"),
      field<&RateInfo::store_now>("store_now"),
  });
  return {"RateInfo", fields};
}

Described describe(Type<RateTurn>) {
  static constexpr auto fields = fields_of<RateTurn>({
      field<&RateTurn::name>("name"),
      field<&RateTurn::at>("at").means("when the turn begins, on the store's clock"),
      field<&RateTurn::waited>("waited_seconds"),
      field<&RateTurn::every>("every_seconds"),
  });
  return {"RateTurn", fields};
}

}  // namespace leasehold::model
