// Keeps the sessions and locks of an agent alive while the server runs.
//
//   keeper.keep_session(store, handle);     // heartbeats it from now on
//   keeper.end_all("the agent's process is gone");
//
// A session or lock that is lost is forgotten: the next call that names it learns why.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include "leasehold/store.h"

namespace leasehold::mcp {

/// Threading: from any thread.
class Keeper {
 public:
  /// Over HTTP it keeps nothing, since the agent's process cannot be seen: a session lives as long as its ttl.
  explicit Keeper(bool keeps = true) : keeps_(keeps) {}
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  [[nodiscard]] bool keeps() const { return keeps_; }

  /// A heartbeat now, then every third of the ttl. A call counts as progress, every half minute at most; `note`
  /// replaces the session's latest note. `lost`, `not_found`: the session is over.
  Result<Grant> keep_session(const Store& store, const SessionHandle& session, std::optional<std::string> note = {},
                             std::string_view doing = {});
  /// Whether this server heartbeats it.
  bool keeps_session(const SessionHandle& session);
  /// Releases its locks, and heartbeats it no more.
  void end_session(const std::string& id);

  /// `session` is an id; empty: the lock belongs to no session.
  void keep_lock(const Store& store, const std::string& session, const Grant& grant);
  /// The token of a lock that this server keeps.
  std::optional<Token> token_of_lock(const std::string& session, const std::string& name);
  void forget_lock(const std::string& session, const std::string& name);

  /// Releases the locks and closes the sessions.
  void end_all(std::string_view reason);

 private:
  struct Kept {
    std::optional<Store> store{};
    Token token{};
    Duration ttl{};
    BootTime next{};         ///< when the next heartbeat is due
    BootTime progress_at{};  ///< of a session
    std::string note{};      ///< of a session: the last one that the agent gave
  };
  struct Key {
    std::string session;  ///< its id
    std::string lock{};   ///< empty: the session itself
    friend bool operator<(const Key& a, const Key& b) {
      return std::tie(a.session, a.lock) < std::tie(b.session, b.lock);
    }
  };

  void keep(const Key& key, Kept kept);
  std::map<Key, Kept> taken_out(const std::string& session);
  void run();
  void beat(const Key& key, const Kept& kept);

  const bool keeps_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Kept> all_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace leasehold::mcp
