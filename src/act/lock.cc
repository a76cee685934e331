// Acts on locks. An election is the lock of its name: lock.acquire campaigns, lock.release resigns.
#include "act/act.h"
#include "act/answers.h"
#include "act/arguments.h"
#include "act/confirmations.h"

namespace leasehold::act {
namespace {

struct LockAcquire {
  std::string name{};
  std::string holder{};
  AcquireOptions options{};
};

Described describe(Type<LockAcquire>) {
  static constexpr auto fields = fields_of<LockAcquire>({
      field<&LockAcquire::name>("name").as_name().needed(),
      inlined<&LockAcquire::options>(),
      field<&LockAcquire::holder>("holder").as_name().or_null().means("the name that other callers see"),
  });
  static const LockAcquire fresh;
  return {"LockAcquire", fields, &fresh};
}

struct LocksAcquire {
  std::vector<std::string> names{};
  std::string holder{};
  AcquireOptions options{};
};

Described describe(Type<LocksAcquire>) {
  static constexpr auto fields = fields_of<LocksAcquire>({
      field<&LocksAcquire::names>("names")
          .as_name()
          .from(1, bounds::max_locks_together)
          .needed()
          .means("the locks, all or none"),
      inlined<&LocksAcquire::options>(),
      field<&LocksAcquire::holder>("holder").as_name().or_null().means("the name that other callers see"),
  });
  static const LocksAcquire fresh;
  return {"LocksAcquire", fields, &fresh};
}

struct LockRevoke {
  std::string name{};
  std::string reason{};
  std::optional<Token> token{};
};

Described describe(Type<LockRevoke>) {
  static constexpr auto fields = fields_of<LockRevoke>({
      field<&LockRevoke::name>("name").as_name().needed(),
      field<&LockRevoke::reason>("reason").as_text().needed(),
      field<&LockRevoke::token>("token").means("only this grant; null: every holder loses the lock"),
  });
  static const LockRevoke fresh;
  return {"LockRevoke", fields, &fresh};
}

Result<LockGrant> lock_acquire(const Store& store, const LockAcquire& given, const Call& call) {
  auto grant = store.locks().acquire(given.name, given.options, as_holder(call, given.holder));
  if (!grant) return std::move(grant).error();
  return LockGrant{std::move(*grant), {given.name}, given.options.share};
}

Result<LockGrant> lock_acquire_all(const Store& store, const LocksAcquire& given, const Call& call) {
  auto grant = store.locks().acquire_all(given.names, given.options, as_holder(call, given.holder));
  if (!grant) return std::move(grant).error();
  return LockGrant{std::move(*grant), given.names, given.options.share};
}

Result<LockGrant> lock_heartbeat(const Store& store, const HeartbeatOf& given, const Call& /*call*/) {
  auto grant = store.locks().heartbeat(given.name, given.token, given.ttl);
  if (!grant) return std::move(grant).error();
  return LockGrant{std::move(*grant), {given.name}, {}};
}

Result<Released> lock_release(const Store& store, const ByNameAndToken& given, const Call& /*call*/) {
  if (auto released = store.locks().release(given.name, given.token); !released) return std::move(released).error();
  return Released{given.name, given.token};
}

Result<EndedLock> lock_revoke(const Store& store, const LockRevoke& given, const Call& /*call*/) {
  const auto before = store.locks().show(given.name);
  auto ended = store.locks().revoke(given.name, given.reason, given.token);
  if (!ended) return std::move(ended).error();
  return EndedLock{std::move(*ended), before ? before->together : std::vector<std::string>()};
}

Result<LockDetails> lock_show(const Store& store, const ByName& given, const Call& /*call*/) {
  auto lock = store.locks().show(given.name);
  if (!lock) return std::move(lock).error();
  auto leases = store.locks().holders(given.name);
  if (!leases) return std::move(leases).error();
  return LockDetails{std::move(*lock), std::move(*leases)};
}

Result<Page<LockInfo>> lock_list(const Store& store, const LockFilter& given, const Call& /*call*/) {
  return store.locks().list(given);
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table.
std::span<const Act> lock_acts() {
  static constexpr Act acts[] = {
      act<lock_acquire>({
          .name = "lock.acquire",
          .help = "Acquire a lock, or a share of it",
          .scope = Scope::work,
          .sql = "lock_acquire",
          .waits = true,
          .refusals = refusals<Errc::held, Errc::busy, Errc::reentry, Errc::mismatch, Errc::lost>,
          .example = R"({"name":"deploy","ttl_seconds":300})",
      }),
      act<lock_acquire_all>({
          .name = "lock.acquire_all",
          .help = "Acquire several locks in one step, all or none, under one token",
          .scope = Scope::work,
          .sql = "lock_acquire_all",
          .waits = true,
          .refusals = refusals<Errc::held, Errc::busy, Errc::reentry, Errc::mismatch, Errc::lost>,
          .example = R"({"names":["account/7","account/9"]})",
      }),
      act<lock_heartbeat>({
          .name = "lock.heartbeat",
          .help = "Extend the lease of a lock",
          .scope = Scope::work,
          .sql = "lock_heartbeat",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"name":"deploy","token":1763200000000000})",
      }),
      act<lock_show>({
          .name = "lock.show",
          .help = "Show a lock and every lease on it",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"name":"deploy"})",
      }),
      act<lock_list>({
          .name = "lock.list",
          .help = "List locks by name",
          .idempotent = true,
          .example = R"({"only_held":true})",
      }),
      act<lock_release>({
          .name = "lock.release",
          .help = "Release a lock",
          .scope = Scope::work,
          .sql = "lock_release",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"name":"deploy","token":1763200000000000})",
      }),
      act<lock_revoke>({
          .name = "lock.revoke",
          .help = "End a live lease on a lock, as an operator",
          .scope = Scope::admin,
          .sql = "lock_revoke",
          .refusals = refusals<Errc::not_found, Errc::busy, Errc::lost>,
          .example = R"({"name":"deploy","reason":"the host is being replaced"})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
