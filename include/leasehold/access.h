// API tokens of `leasehold serve`, the audit log, and HTTP requests that may be repeated.
//
//   auto access = store.access();
//   auto made = access.create_token({.name = "mailer", .scope = Scope::work, .only = {"queue:mail*"}});
//   print(made->secret);                                     // lht_...: shown once, the store keeps a digest of it
//
//   auto token = access.find_token(secret);                  // `unauthorized`: unknown, expired or revoked
//   if (token && may_touch(token->only, "queue", "mail-eu")) serve(*token);
//
// Access is a cheap handle: copy it freely, and call its methods from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/export.h"
#include "leasehold/limits.h"
#include "leasehold/page.h"
#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold {

/// What a database role or an API token may do. read: look. produce: also enqueue jobs. work: also acquire, claim,
/// heartbeat and settle. admin: also revoke, remove, prune and change settings.
enum class Scope { read, produce, work, admin };

/// What a pattern of a token can name. A job belongs to its queue, a chunk to its set, a claim to its item, a row to
/// its table.
inline constexpr std::string_view pattern_kinds[] = {"queue", "lock",     "chunks", "rate", "session",
                                                     "item",  "schedule", "path",   "table"};

/// Whether a token with these patterns may touch the thing. No pattern at all, and the pattern "*", allow everything.
/// "queue:mail*" allows the queues whose name begins with "mail": each "*" in a pattern stands for any characters,
/// also none. An empty name stands for all things of the kind: only "*" and "queue:*" allow that. An empty kind stands
/// for the whole store: only "*" allows that.
LEASEHOLD_EXPORT bool may_touch(std::span<const std::string> only, std::string_view kind, std::string_view name);

struct NewToken {
  std::string name{};  ///< unique among the active tokens
  Scope scope = Scope::read;
  std::vector<std::string> only{};       ///< patterns such as "queue:mail*"; empty: everything
  std::optional<Duration> expires_in{};  ///< unset: never
};

enum class TokenState { active, expired, revoked };
LEASEHOLD_EXPORT const char* to_string(TokenState value) noexcept;

struct TokenInfo {
  std::int64_t id = 0;
  std::string name;
  Scope scope = Scope::read;
  std::vector<std::string> only{};
  Timestamp created_at{};
  std::optional<Timestamp> expires_at{};
  std::optional<Timestamp> last_used_at{};  ///< give or take a minute
  std::optional<Timestamp> revoked_at{};
  TokenState state = TokenState::active;
  Timestamp store_now{};
};

struct CreatedToken {
  TokenInfo info;
  std::string secret;  ///< "lht_" and 43 letters and digits; the store cannot show it again
};

struct TokenFilter {
  std::optional<TokenState> state{};
  std::string name{};  ///< only this name; empty: all
  int max = defaults::list_max;
  std::string page{};  ///< Page::next of the previous page; empty: the first page
};

/// An entry of the audit log. It never contains payloads or secrets.
struct AuditEntry {
  std::int64_t id = 0;  ///< given by the store
  Timestamp at{};       ///< given by the store
  std::string by;       ///< the caller: the name of a token, or what else let it in
  std::string act;      ///< "queue.pause"
  std::string key;      ///< the name, id or key of what it touched; empty: the store
  std::string outcome;  ///< "done", or the code of the refusal
  std::string detail;
  std::string request_id;
};

struct AuditFilter {
  std::string by{};
  std::string act{};
  std::string key{};
  std::optional<Timestamp> since{};
  std::optional<Timestamp> until{};
  int max = defaults::audit_max;
  std::string page{};  ///< Page::next of the previous page; empty: the newest
};

/// A request that its caller may repeat, because it has a key (`Idempotency-Key`).
struct NewRequest {
  std::string key;
  std::string who;     ///< whose key it is: other callers have keys of their own
  std::string act;     ///< "job.claim"
  std::string digest;  ///< of the body: the same key with another act or body is another request
};

enum class RequestState {
  fresh,       ///< perform it, under the request id, and finish it
  replay,      ///< it was finished: send `status` and `answer` again
  running,     ///< another server has performed it since `since`
  other_body,  ///< the key belongs to a request with another act or body
};
LEASEHOLD_EXPORT const char* to_string(RequestState value) noexcept;

struct BegunRequest {
  RequestState state = RequestState::fresh;
  /// The same each time: an act with a request id then gives its first answer again.
  std::string request_id{};
  std::string turn{};       ///< of `fresh`: names this call, for drop_request()
  Timestamp since{};        ///< when the server began that performs it, or has finished it
  std::int64_t status = 0;  ///< of a replay
  std::string answer{};     ///< of a replay
};

class LEASEHOLD_EXPORT Access {
 public:
  /// `invalid_argument` if an active token has this name.
  Result<CreatedToken> create_token(const NewToken& token) const;
  /// In the order of their ids. A token that ended is listed as long as the store keeps its history.
  Result<Page<TokenInfo>> tokens(const TokenFilter& filter = {}) const;
  /// Returns the token as it is now. To revoke it again changes nothing.
  Result<TokenInfo> revoke_token(std::int64_t id) const;
  /// The active token with this secret. One answer for all others: `unauthorized`. Once a minute it also notes that
  /// the token was used.
  Result<TokenInfo> find_token(std::string_view secret) const;
  /// Whether a token is active.
  Result<bool> has_tokens() const;

  /// Adds an entry; the store sets its id and time.
  Result<void> record(const AuditEntry& entry) const;
  /// The newest first.
  Result<Page<AuditEntry>> audit(const AuditFilter& filter = {}) const;

  /// Of many calls with one key exactly one gets `fresh`. If its server does not finish the request within
  /// defaults::request_running, the next call gets `fresh`, with the same request id. The store forgets a request
  /// after defaults::request_kept.
  Result<BegunRequest> begin_request(const NewRequest& request) const;
  /// Keeps the answer for replays. False: an earlier answer is kept, or the store has forgotten the request. An answer
  /// longer than bounds::request_answer_bytes is refused: drop the request then.
  Result<bool> finish_request(std::string_view key, std::string_view who, int status, std::string_view answer) const;
  /// For answers that must not be kept, such as errors after which nothing has happened: the next call with the key
  /// gets `fresh`, with the same request id. False: it was finished, another call performs it, or the store has
  /// forgotten it.
  Result<bool> drop_request(std::string_view key, std::string_view who, std::string_view turn) const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Access(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
