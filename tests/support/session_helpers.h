// A store that sessions share, and short functions for them.
//
//   class ClaimTakeTest : public SessionStoreTest {};
//   LEASEHOLD_ON_BOTH_STORES(ClaimTakeTest);
//
//   TEST_P(ClaimTakeTest, AFreeItemIsTaken) {
//     backlog({"SD-1"});
//     join("ann");
//     EXPECT_EQ(take("ann", "SD-1").session, "ann");
//   }
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {

/// A session that is called as its holder is, and stale after 30 seconds.
inline SessionOptions session_of(const std::string& who) {
  return {.id = who, .ttl = std::chrono::seconds(30), .label = "work of " + who};
}

/// An act without an answer that must succeed: an error would be a mistake in the test.
inline void must(const Result<void>& result) {
  if (!result) throw std::runtime_error("unexpected: " + describe(result.error()));
}

using Words = std::vector<std::string>;

class SessionStoreTest : public StoreTest {
 protected:
  Sessions sessions() { return store().sessions(); }
  Items items() { return store().items(); }
  Claims claims() { return store().claims(); }

  /// Opens a session; see session_of.
  Grant join(const std::string& who) { return must(sessions().open(session_of(who), by(who))); }
  Grant join_exclusive(const std::string& who) {
    auto options = session_of(who);
    options.exclusive = true;
    return must(sessions().open(options, by(who)));
  }
  SessionInfo session(const std::string& id) { return must(sessions().show(id)); }
  SessionState status(const std::string& id) { return session(id).state; }
  Result<Grant> beat(const Grant& session) { return sessions().heartbeat(session.key, session.token); }
  Result<Grant> progress(const Grant& session, const std::string& text = {}) {
    return sessions().heartbeat(session.key, session.token, {.progress = text});
  }

  void backlog(std::initializer_list<std::string> keys) {
    for (const auto& key : keys) must(items().add(key));
  }
  ItemInfo item(const std::string& key) {
    auto info = must(items().show(key));
    expect_one_truth(info);
    return info;
  }
  ItemState state(const std::string& key) { return item(key).state; }

  Result<Claim> try_take(const std::string& who, const std::string& key) { return claims().take(key, who); }
  Claim take(const std::string& who, const std::string& key) { return must(try_take(who, key)); }
  Result<Claim> try_next(const Grant& session, const std::string& parent = {}) {
    return claims().next(session.key, {.session_token = session.token, .parent = parent});
  }
  Claim next(const Grant& session) { return must(try_next(session)); }
  Result<void> release(const Claim& claim, std::string_view reason = {}) {
    return claims().release(claim.key, claim.session, claim.token, reason);
  }
  ClaimInfo claim(const std::string& key) { return must(claims().show(key)); }
  /// "released: why": how the latest claim of an item ended.
  std::string ending(const std::string& key) { return claim(key).end_reason + ": " + claim(key).end_detail; }

  /// Everything that a session may try with a claim that it has lost: the answer is lost, and nothing changes.
  void everything_is_lost(const Claim& late, LostReason why, const std::string& to_item,
                          const std::string& to_session) {
    const auto before = dump();
    EXPECT_TRUE(lost(release(late, "late"), why));
    EXPECT_TRUE(lost(items().done(late.key, late.token), why));
    EXPECT_TRUE(lost(claims().switch_to(late.key, late.token, to_item), why));
    EXPECT_TRUE(lost(claims().transfer(late.key, to_session, late.token), why));
    EXPECT_EQ(dump(), before) << "a claim that is lost has moved something";
  }

  /// "claimed", "reclaimed", ...: what happened to an item or a session, in order.
  Words story(const std::string& key) {
    Words words;
    for (const auto& event : must(store().events({.key = key}))) words.push_back(event.what);
    return words;
  }
  Event last_event(const std::string& key) { return must(store().events({.key = key, .max = 1})).at(0); }
  RecoveryTotal recovered(const std::string& reason) {
    for (const auto& total : must(store().recovery_stats()).totals) {
      if (total.reason == reason) return total;
    }
    return {};
  }

 private:
  /// The flag, the session's id and the claim always say the same.
  static void expect_one_truth(const ItemInfo& info) {
    const bool claimed = info.state == ItemState::claimed;
    EXPECT_EQ(info.session, claimed ? info.held_by->session : "") << info.key;
    // An item whose session went stale can wait for others, too.
    if (info.state != ItemState::blocked) {
      EXPECT_EQ(info.held_by.has_value(), claimed || info.state == ItemState::stale) << info.key;
    }
  }
};

/// The owner that a refusal names, as "session item"; empty if it names none.
template <typename T>
std::string owner_reported(const Result<T>& refused) {
  if (refused.ok() || !refused.error().held_by) return {};
  return refused.error().held_by->session + " " + refused.error().held_by->key;
}

}  // namespace leasehold::support
