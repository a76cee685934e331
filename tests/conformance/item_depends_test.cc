// Items that wait for others, their priority, and what people note about them.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ItemDependsTest : public SessionStoreTest {
 protected:
  Words listed(ItemState state) {
    Words keys;
    for (const auto& info : must(items().list({.state = state}))) keys.push_back(info.key);
    return keys;
  }
};
LEASEHOLD_ON_BOTH_STORES(ItemDependsTest);

TEST_P(ItemDependsTest, AnItemIsBlockedUntilAllThatItDependsOnIsDone) {
  backlog({"lexer", "grammar"});
  must(items().add("parser", {.depends_on = Words{"lexer", "grammar"}}));
  EXPECT_EQ(item("parser").depends_on, (Words{"grammar", "lexer"}));
  EXPECT_EQ(item("parser").waits_for, (Words{"grammar", "lexer"}));
  EXPECT_EQ(listed(ItemState::blocked), Words{"parser"});
  EXPECT_EQ(listed(ItemState::open), (Words{"grammar", "lexer"}));
  join("ann");
  auto refused = try_take("ann", "parser");
  EXPECT_TRUE(fails(refused, Errc::blocked));
  EXPECT_NE(refused.error().message.find("\"grammar\", which it depends on, is not done"), std::string::npos)
      << refused.error().message;
  join("bob");
  const auto grammar = take("bob", "grammar");
  refused = try_take("ann", "parser");
  EXPECT_EQ(owner_reported(refused), "bob grammar") << "its owner says when it may go on";
  must(items().done("grammar", grammar.token));
  EXPECT_EQ(item("parser").waits_for, Words{"lexer"});
  EXPECT_TRUE(fails(try_take("ann", "parser"), Errc::blocked));
  must(items().done("lexer"));
  EXPECT_EQ(state("parser"), ItemState::open);
  const auto claim = take("ann", "parser");
  must(items().reopen("lexer"));
  EXPECT_EQ(state("parser"), ItemState::claimed) << "its owner keeps it";
  must(release(claim));
  EXPECT_EQ(state("parser"), ItemState::blocked);
}

TEST_P(ItemDependsTest, AStaleItemThatWaitsForAnotherIsBlocked) {
  backlog({"lexer", "parser"});
  join("ann");
  take("ann", "parser");
  must(items().add("parser", {.depends_on = Words{"lexer"}}));
  EXPECT_EQ(state("parser"), ItemState::claimed);
  advance(31s);
  EXPECT_EQ(state("parser"), ItemState::blocked);
  EXPECT_EQ(listed(ItemState::blocked), Words{"parser"});
  EXPECT_EQ(listed(ItemState::stale), Words{});
  join("bob");
  EXPECT_TRUE(fails(try_take("bob", "parser"), Errc::blocked));
}

TEST_P(ItemDependsTest, DependenciesMustExistAndNeverLeadBack) {
  backlog({"a"});
  must(items().add("b", {.depends_on = Words{"a"}}));
  must(items().add("c", {.depends_on = Words{"b"}}));
  const auto before = dump();
  EXPECT_TRUE(fails(items().add("d", {.depends_on = Words{"nothing"}}), Errc::not_found));
  EXPECT_TRUE(fails(items().add("d", {.depends_on = Words{"d"}}), Errc::invalid_argument));
  EXPECT_TRUE(fails(items().add("a", {.depends_on = Words{"a"}}), Errc::invalid_argument));
  EXPECT_TRUE(fails(items().add("a", {.depends_on = Words{"c"}}), Errc::invalid_argument));
  EXPECT_TRUE(fails(items().add("a", {.depends_on = Words{"nothing", "c"}}), Errc::invalid_argument));
  EXPECT_EQ(dump(), before) << "a refused item has changed something";
  must(items().add("c", {.depends_on = Words{}}));
  must(items().add("a", {.depends_on = Words{"c"}}));
  EXPECT_EQ(item("b").depends_on, Words{"a"}) << "not given, not changed";
}

TEST_P(ItemDependsTest, ARemovedItemBlocksNothing) {
  backlog({"a"});
  must(items().add("b", {.depends_on = Words{"a"}, .note = "waits"}));
  must(items().remove("a"));
  EXPECT_EQ(state("b"), ItemState::open);
  EXPECT_EQ(item("b").depends_on, Words{});
  must(items().remove("b"));
  must(items().add("b"));
  EXPECT_EQ(item("b").note_count, 0) << "notes go with their item";
}

TEST_P(ItemDependsTest, NotesAreKeptInOrderWithAuthorAndTime) {
  must(items().add("SD-1", {.note = "see the grammar", .author = "ann"}));
  const auto first = now();
  advance(5s);
  must(items().note("SD-1", "half done", "bob"));
  join("cid");
  const auto claim = take("cid", "SD-1");
  must(items().done("SD-1", ItemDoneOptions{.token = claim.token, .note = "in commit 1f3c"}));
  must(items().done("SD-1", ItemDoneOptions{.token = claim.token, .note = "in commit 1f3c"}));
  const auto info = item("SD-1");
  ASSERT_EQ(info.notes.size(), 3U) << "a repeated call notes nothing";
  EXPECT_EQ(info.note_count, 3);
  EXPECT_EQ(info.notes[0].author + ": " + info.notes[0].text, "ann: see the grammar");
  EXPECT_EQ(info.notes[1].author + ": " + info.notes[1].text, "bob: half done");
  EXPECT_EQ(info.notes[2].author + ": " + info.notes[2].text, "cid: in commit 1f3c");
  EXPECT_EQ(info.notes[0].at, first);
  EXPECT_EQ(info.notes[1].at, first + 5s);
  EXPECT_EQ(must(items().list()).at(0).note_count, 3);
  EXPECT_TRUE(fails(items().note("SD-9", "what"), Errc::not_found));
  EXPECT_TRUE(fails(items().note("SD-1", ""), Errc::invalid_argument));
  EXPECT_TRUE(fails(items().note("SD-1", std::string(bounds::text_bytes + 1, 'x')), Errc::invalid_argument));
}

TEST_P(ItemDependsTest, TheSessionThatHoldsAnItemFinishesItWithItsOwnToken) {
  backlog({"SD-1", "SD-2"});
  const auto ann = join("ann");
  const auto bob = join("bob");
  take("ann", "SD-1");
  const auto by = [&](const Grant& session) {
    return ItemDoneOptions{.session = session.key, .session_token = session.token};
  };
  const auto refused = items().done("SD-1", by(bob));
  EXPECT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(owner_reported(refused), "ann SD-1");
  auto wrong = by(ann);
  wrong.session_token = Token{ann.token.value - 1};
  EXPECT_TRUE(fails(items().done("SD-1", wrong), Errc::unregistered));
  EXPECT_TRUE(fails(items().done("SD-1", ItemDoneOptions{.session = "ann"}), Errc::invalid_argument));
  EXPECT_EQ(state("SD-1"), ItemState::claimed);
  EXPECT_TRUE(ok(items().done("SD-1", by(ann))));
  EXPECT_EQ(item("SD-1").done_by, "ann");
  EXPECT_TRUE(ok(items().done("SD-1", by(ann)))) << "repeating is harmless";
  EXPECT_TRUE(ok(items().done("SD-2", by(bob)))) << "a free item needs no claim";
  EXPECT_EQ(item("SD-2").done_by, "bob");
}

TEST_P(ItemDependsTest, Promise04_ASessionThatLostTheItemCannotFinishIt) {
  backlog({"SD-1"});
  const auto ann = join("ann");
  take("ann", "SD-1");
  advance(31s);
  join("bob");
  take("bob", "SD-1");
  const auto before = dump();
  const auto late = ItemDoneOptions{.session = "ann", .session_token = ann.token};
  EXPECT_TRUE(lost(items().done("SD-1", late), LostReason::superseded));
  EXPECT_TRUE(lost(claims().release("SD-1", SessionHandle{"ann", ann.token}), LostReason::superseded));
  EXPECT_EQ(dump(), before);
}

TEST_P(ItemDependsTest, ASessionReleasesItsItemWithItsOwnToken) {
  backlog({"SD-1"});
  const auto ann = join("ann");
  const auto bob = join("bob");
  take("ann", "SD-1");
  EXPECT_TRUE(fails(claims().release("SD-1", SessionHandle{"bob", bob.token}), Errc::lost));
  EXPECT_TRUE(fails(claims().release("SD-1", SessionHandle{"ann", Token{1}}), Errc::lost));
  EXPECT_EQ(state("SD-1"), ItemState::claimed);
  EXPECT_TRUE(ok(claims().release("SD-1", SessionHandle{"ann", ann.token}, "later")));
  EXPECT_EQ(ending("SD-1"), "released: later");
  EXPECT_TRUE(ok(claims().release("SD-1", SessionHandle{"ann", ann.token})));
}

}  // namespace
}  // namespace leasehold::support
