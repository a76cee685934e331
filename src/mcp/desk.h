// What the tools of one server share: the store, the agent, and what is kept alive for it.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "leasehold/store.h"
#include "mcp/keeper.h"

namespace leasehold::mcp {

/// Of sessions and locks that no process keeps alive.
inline constexpr Duration unkept_ttl = std::chrono::minutes(30);

using OpenStore = std::function<Result<Store>()>;

/// Threading: from any thread.
class Desk {
 public:
  /// `agent` is the process whose life the sessions share.
  Desk(OpenStore open, Holder agent, bool keeps = true)
      : open_(std::move(open)), agent_(std::move(agent)), keeper_(keeps) {}

  /// Opened by the first tool that needs it.
  Result<Store> store();
  [[nodiscard]] const Holder& agent() const { return agent_; }
  [[nodiscard]] Call call(std::stop_token stop) const { return {.holder = agent_, .stop = std::move(stop)}; }
  Keeper& keeper() { return keeper_; }
  /// Nothing if sessions and locks are kept alive.
  [[nodiscard]] std::optional<Duration> ttl_without_keeper() const {
    return keeper_.keeps() ? std::nullopt : std::optional<Duration>(unkept_ttl);
  }

  /// The session of a handle, kept alive from now on; an empty handle opens a new one. `doing` is for people who look
  /// at the sessions: the tool and its object.
  Result<SessionHandle> session(std::string_view handle, std::string_view doing, std::string_view label = {});

 private:
  OpenStore open_;
  Holder agent_;
  std::mutex opening_;
  std::optional<Store> store_;
  Keeper keeper_;
};

/// `invalid_argument` if the text is no handle.
Result<SessionHandle> handle_from(std::string_view text);

/// The refusal of a heartbeat: not an item is lost but the session, so the next step is another one.
Error session_over(Error error);

}  // namespace leasehold::mcp
