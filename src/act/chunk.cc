// Acts on chunks: claim, save, settle. Sets are in chunk_set.cc.
#include "act/act.h"
#include "act/answers.h"
#include "act/arguments.h"
#include "act/confirmations.h"

namespace leasehold::act {
namespace {

struct ChunkClaim {
  std::string set{};
  std::string holder{};
  ChunkClaimOptions options{};
};

Described describe(Type<ChunkClaim>) {
  static constexpr auto fields = fields_of<ChunkClaim>({
      field<&ChunkClaim::set>("set").as_name().needed(),
      inlined<&ChunkClaim::options>(),
      field<&ChunkClaim::holder>("holder").as_name().or_null().means("the name that other callers see"),
  });
  static const ChunkClaim fresh;
  return {"ChunkClaim", fields, &fresh};
}

struct ChunkByKey {
  std::string set{};
  std::string key{};
};

Described describe(Type<ChunkByKey>) {
  static constexpr auto fields = fields_of<ChunkByKey>({
      field<&ChunkByKey::set>("set").as_name().needed(),
      field<&ChunkByKey::key>("key").as_name().needed().means("the chunk's key, unique in its set"),
  });
  static const ChunkByKey fresh;
  return {"ChunkByKey", fields, &fresh};
}

struct ChunkHeld {
  ChunkByKey chunk{};
  Token token{};
  ChunkSave save{};
};

Described describe(Type<ChunkHeld>) {
  static constexpr auto fields = fields_of<ChunkHeld>({
      inlined<&ChunkHeld::chunk>(),
      field<&ChunkHeld::token>("token").needed(),
      inlined<&ChunkHeld::save>(),
  });
  static const ChunkHeld fresh;
  return {"ChunkHeld", fields, &fresh};
}

struct ChunkBeat {
  ChunkHeld held{};
  std::optional<Duration> ttl{};
};

Described describe(Type<ChunkBeat>) {
  static constexpr auto fields = fields_of<ChunkBeat>({
      inlined<&ChunkBeat::held>(),
      field<&ChunkBeat::ttl>("ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
  });
  static const ChunkBeat fresh;
  return {"ChunkBeat", fields, &fresh};
}

struct ChunkFail {
  ChunkHeld held{};
  std::string error{};
  bool retryable = true;
  std::optional<Duration> delay{};
};

Described describe(Type<ChunkFail>) {
  static constexpr auto fields = fields_of<ChunkFail>({
      inlined<&ChunkFail::held>(),
      field<&ChunkFail::error>("error").means("what went wrong; kept with the chunk"),
      field<&ChunkFail::retryable>("retryable"),
      field<&ChunkFail::delay>("delay_seconds")
          .from(Duration(0), bounds::max_delay)
          .means("retry after this time instead of the backoff"),
  });
  static const ChunkFail fresh;
  return {"ChunkFail", fields, &fresh};
}

struct ChunkSkip {
  ChunkByKey chunk{};
  std::optional<Token> token{};
  std::string reason{};
};

Described describe(Type<ChunkSkip>) {
  static constexpr auto fields = fields_of<ChunkSkip>({
      inlined<&ChunkSkip::chunk>(),
      field<&ChunkSkip::token>("token").means("of the caller's claim; null: no loader holds the chunk"),
      field<&ChunkSkip::reason>("reason").as_text().needed(),
  });
  static const ChunkSkip fresh;
  return {"ChunkSkip", fields, &fresh};
}

Result<ChunkGrant> chunk_claim(const Store& store, const ChunkClaim& given, const Call& call) {
  return store.chunks().claim(given.set, given.options, as_holder(call, given.holder));
}

Result<ChunkHeartbeat> chunk_heartbeat(const Store& store, const ChunkBeat& given, const Call& /*call*/) {
  const auto& [chunk, token, save] = given.held;
  return store.chunks().heartbeat(chunk.set, chunk.key, token, save, given.ttl);
}

Result<ChunkSettled> chunk_complete(const Store& store, const ChunkHeld& given, const Call& /*call*/) {
  return store.chunks().complete(given.chunk.set, given.chunk.key, given.token, given.save);
}

Result<ChunkSettled> chunk_fail(const Store& store, const ChunkFail& given, const Call& /*call*/) {
  const auto& [chunk, token, save] = given.held;
  return store.chunks().settle({chunk.set,
                                chunk.key,
                                token,
                                {.kind = Verdict::Kind::fail,
                                 .text = given.error,
                                 .retryable = given.retryable,
                                 .delay = given.delay,
                                 .cursor = save.cursor,
                                 .rows = save.rows}});
}

Result<ChunkSettled> chunk_release(const Store& store, const ChunkHeld& given, const Call& /*call*/) {
  return store.chunks().release(given.chunk.set, given.chunk.key, given.token, given.save);
}

Result<ChunkSkipped> chunk_skip(const Store& store, const ChunkSkip& given, const Call& /*call*/) {
  const auto& [set, key] = given.chunk;
  if (given.token) {
    auto settled = store.chunks().skip(set, key, *given.token, given.reason);
    if (!settled) return std::move(settled).error();
    return ChunkSkipped{set, key, settled->state};
  }
  auto state = store.chunks().skip(set, key, std::string_view(given.reason));
  if (!state) return std::move(state).error();
  return ChunkSkipped{set, key, *state};
}

Result<ChunkDetails> chunk_show(const Store& store, const ChunkByKey& given, const Call& /*call*/) {
  auto chunk = store.chunks().show(given.set, given.key);
  if (!chunk) return std::move(chunk).error();
  auto events = store.events({.key = given.set + "/" + given.key});
  if (!events) return std::move(events).error();
  return ChunkDetails{std::move(*chunk), std::move(events->items)};
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table.
std::span<const Act> chunk_acts() {
  static constexpr Act acts[] = {
      act<chunk_claim>({
          .name = "chunk.claim",
          .help = "Claim chunks of a set under one lease",
          .scope = Scope::work,
          .sql = "chunk_claim",
          .waits = true,
          .refusals = refusals<Errc::empty, Errc::held, Errc::busy, Errc::not_found, Errc::terminal, Errc::lost>,
          .example = R"({"set":"orders","ttl_seconds":120})",
      }),
      act<chunk_heartbeat>({
          .name = "chunk.heartbeat",
          .help = "Extend the lease of a chunk, and save its cursor and rows in the same step",
          .scope = Scope::work,
          .sql = "chunk_heartbeat",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"set":"orders","key":"1-100","token":1763200000000000,"cursor":{"page":4},"rows":40})",
      }),
      act<chunk_complete>({
          .name = "chunk.complete",
          .help = "Complete a chunk",
          .scope = Scope::work,
          .sql = "chunk_complete",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"set":"orders","key":"1-100","token":1763200000000000,"rows":100})",
      }),
      act<chunk_fail>({
          .name = "chunk.fail",
          .help = "Fail a chunk; it is retried after a backoff until its budget is spent",
          .scope = Scope::work,
          .sql = "chunk_fail",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"set":"orders","key":"1-100","token":1763200000000000,"error":"timeout"})",
      }),
      act<chunk_release>({
          .name = "chunk.release",
          .help = "Release a chunk; it is available at once, and no budget is charged",
          .scope = Scope::work,
          .sql = "chunk_release",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"set":"orders","key":"1-100","token":1763200000000000})",
      }),
      act<chunk_skip>({
          .name = "chunk.skip",
          .help = "Skip a chunk: it need not be loaded",
          .scope = Scope::admin,
          .sql = "chunk_skip",
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::held, Errc::terminal, Errc::busy>,
          .example = R"({"set":"orders","key":"1-100","reason":"the month is closed"})",
      }),
      act<chunk_show>({
          .name = "chunk.show",
          .help = "Show a chunk and its events",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"set":"orders","key":"1-100"})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
