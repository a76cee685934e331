#include "mcp/desk.h"

#include "base/text.h"
#include "model/errors.h"

namespace leasehold::mcp {

Result<SessionHandle> handle_from(std::string_view text) {
  auto handle = SessionHandle::parse(text);
  if (handle) return std::move(*handle);
  return invalid("a session is given as ID.TOKEN, as session_open returned it: " + quoted(text));
}

Error session_over(Error error) {
  if (ends_lease(error.code)) error.code = Errc::unregistered;
  return error;
}

Result<Store> Desk::store() {
  const std::lock_guard lock(opening_);
  if (store_) return *store_;
  auto opened = open_();
  if (opened) store_ = *opened;
  return opened;
}

Result<SessionHandle> Desk::session(std::string_view handle, std::string_view doing, std::string_view label) {
  const auto opened = store();
  if (!opened) return opened.error();
  if (!handle.empty()) {
    auto given = handle_from(handle);
    if (!given) return given;
    if (auto kept = keeper_.keep_session(*opened, *given, {}, doing); !kept)
      return session_over(std::move(kept).error());
    return given;
  }
  const auto ttl = ttl_without_keeper().value_or(defaults::session_ttl);
  const auto grant = opened->sessions().open({.ttl = ttl, .label = std::string(label)}, {.holder = agent_});
  if (!grant) return grant.error();
  SessionHandle made{grant->key, grant->token};
  if (auto kept = keeper_.keep_session(*opened, made, {}, doing); !kept) return std::move(kept).error();
  return made;
}

}  // namespace leasehold::mcp
