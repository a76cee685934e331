// Tools for locks: lock_acquire, lock_release.
#include <fmt/format.h>

#include <atomic>

#include "base/text.h"
#include "mcp/tool.h"

namespace leasehold::mcp {
namespace {

struct AcquireLock {
  std::string name{};
  std::string session{};
  std::optional<Duration> ttl{};
  Duration wait{0};
};

Described describe(Type<AcquireLock>) {
  static constexpr auto fields = fields_of<AcquireLock>({
      field<&AcquireLock::name>("name").as_name().needed(),
      field<&AcquireLock::session>("session"),
      field<&AcquireLock::ttl>("ttl_seconds")
          .from(bounds::min_ttl, bounds::max_ttl)
          .means("left out: until you release it or end"),
      field<&AcquireLock::wait>("wait_seconds").from(Duration(0), bounds::max_tool_wait),
  });
  static const AcquireLock fresh;
  return {"AcquireLock", fields, &fresh};
}

struct AcquiredLock {
  Grant grant{};
};

Described describe(Type<AcquiredLock>) {
  static constexpr auto fields = fields_of<AcquiredLock>({
      field<&AcquiredLock::grant, &Grant::key>("name"),
      field<&AcquiredLock::grant, &Grant::token>("token"),
      field<&AcquiredLock::grant, &Grant::expires_at>("until"),
  });
  return {"AcquiredLock", fields};
}

struct ReleaseLock {
  std::string name{};
  std::string session{};
  std::optional<Token> token{};
};

Described describe(Type<ReleaseLock>) {
  static constexpr auto fields = fields_of<ReleaseLock>({
      field<&ReleaseLock::name>("name").as_name().needed(),
      field<&ReleaseLock::session>("session"),
      field<&ReleaseLock::token>("token").means("as lock_acquire returned it"),
  });
  static const ReleaseLock fresh;
  return {"ReleaseLock", fields, &fresh};
}

struct ReleasedLock {
  std::string name{};
  bool released = true;
};

Described describe(Type<ReleasedLock>) {
  static constexpr auto fields = fields_of<ReleasedLock>({
      field<&ReleasedLock::name>("name"),
      field<&ReleasedLock::released>("released"),
  });
  return {"ReleasedLock", fields};
}

/// The id of the session, which is checked and kept alive; empty without one.
Result<std::string> session_of(Desk& desk, const std::string& given, const std::string& doing) {
  if (given.empty()) return std::string();
  const auto session = desk.session(given, doing);
  if (!session) return session.error();
  return session->id;
}

/// Two callers on one connection are two holders: one must not be refused as if it were the other. The session's id in
/// the name shows people which one it is.
Call call_of(Desk& desk, const std::string& session, const std::stop_token& stop) {
  static std::atomic<int> count = 0;
  auto call = desk.call(stop);
  if (!session.empty()) call.holder->name = session;
  call.holder->instance += session.empty() ? fmt::format("/{}", ++count) : "/" + session;
  return call;
}

Result<AcquiredLock> lock_acquire(Desk& desk, const AcquireLock& given, const std::stop_token& stop) {
  const auto store = desk.store();
  if (!store) return store.error();
  const auto session = session_of(desk, given.session, "lock_acquire " + given.name);
  if (!session) return session.error();
  AcquireOptions options{.wait = given.wait};
  if (const auto ttl = given.ttl ? given.ttl : desk.ttl_without_keeper()) options.ttl = *ttl;
  auto grant = store->locks().acquire(given.name, options, call_of(desk, *session, stop));
  if (!grant) return std::move(grant).error();
  if (!given.ttl) desk.keeper().keep_lock(*store, *session, *grant);
  return AcquiredLock{std::move(*grant)};
}

Result<ReleasedLock> lock_release(Desk& desk, const ReleaseLock& given, const std::stop_token& /*stop*/) {
  const auto store = desk.store();
  if (!store) return store.error();
  const auto session = session_of(desk, given.session, "lock_release " + given.name);
  if (!session) return session.error();
  const auto token = given.token ? given.token : desk.keeper().token_of_lock(*session, given.name);
  if (!token) return invalid("this server does not keep lock " + quoted(given.name) + " for you: give its token");
  if (auto released = store->locks().release(given.name, *token); !released) return std::move(released).error();
  desk.keeper().forget_lock(*session, given.name);
  return ReleasedLock{given.name};
}

}  // namespace

std::span<const Tool> lock_tools() {
  static constexpr Tool tools[] = {
      tool<lock_acquire>({
          .name = "lock_acquire",
          .help = "Acquire a named lock, such as `deploy`.",
          .waits = true,
          .asks = true,
      }),
      tool<lock_release>({
          .name = "lock_release",
          .help = "Release a lock.",
          .idempotent = true,
      }),
  };
  return tools;
}

}  // namespace leasehold::mcp
