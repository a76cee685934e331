// The backlog: adding, changing, ordering and removing items, with all that people write into them.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ItemBacklogTest : public SessionStoreTest {
 protected:
  Words listed(const ItemFilter& filter = {}) {
    Words keys;
    for (const auto& info : must(items().list(filter))) keys.push_back(info.key);
    return keys;
  }
};
LEASEHOLD_ON_BOTH_STORES(ItemBacklogTest);

TEST_P(ItemBacklogTest, AnItemIsAddedOnceAndThenChangedWhereSomethingIsGiven) {
  EXPECT_TRUE(must(items().add("SD-0")));
  EXPECT_TRUE(must(items().add("SD-1", {.title = "Parse", .parent = "SD-0", .metadata = R"({"size": 3})"})));
  const auto created_at = now();
  advance(1s);
  EXPECT_FALSE(must(items().add("SD-1"))) << "nothing given, nothing changed";
  EXPECT_FALSE(must(items().add("SD-1", {.title = "Parse comments"})));
  auto info = item("SD-1");
  EXPECT_EQ(info.title + " " + info.parent + " " + info.metadata, R"(Parse comments SD-0 {"size": 3})");
  EXPECT_EQ(info.created_at, created_at);
  EXPECT_EQ(info.state, ItemState::open);
  EXPECT_EQ(info.token, Token{});
  EXPECT_FALSE(info.done_at || info.held_by);
  must(items().add("SD-1", {.title = "", .parent = "", .metadata = "null"}));
  info = item("SD-1");
  EXPECT_EQ(info.title + info.parent + info.metadata, "null") << "empty is a value, too";
  EXPECT_EQ(item("SD-0").metadata, "{}");
  EXPECT_EQ(story("SD-1").front(), "added");
  EXPECT_TRUE(fails(items().show("SD-9"), Errc::not_found));
}

TEST_P(ItemBacklogTest, ConflictsAreMutualAndReplaceEarlierOnes) {
  backlog({"a", "b", "c"});
  must(items().add("a", {.conflicts = Words{"c", "b"}}));
  EXPECT_EQ(item("a").conflicts, (Words{"b", "c"}));
  EXPECT_EQ(item("b").conflicts, Words{"a"});
  must(items().add("a", {.title = "still"}));
  EXPECT_EQ(item("a").conflicts, (Words{"b", "c"})) << "not given, not changed";
  must(items().add("a", {.conflicts = Words{"b", "b"}}));
  EXPECT_EQ(item("a").conflicts, Words{"b"});
  EXPECT_EQ(item("c").conflicts, Words{});
  must(items().add("b", {.conflicts = Words{}}));
  EXPECT_EQ(item("a").conflicts, Words{}) << "taken away from the other side";
}

TEST_P(ItemBacklogTest, ParentsAndConflictsMustExistAndNoItemIsItsOwnAncestor) {
  must(items().add("a"));
  must(items().add("b", {.parent = "a"}));
  must(items().add("c", {.parent = "b"}));
  const auto before = dump();
  EXPECT_TRUE(fails(items().add("d", {.parent = "nothing"}), Errc::not_found));
  EXPECT_TRUE(fails(items().add("d", {.conflicts = Words{"a", "nothing"}}), Errc::not_found));
  EXPECT_TRUE(fails(items().add("b", {.title = "new", .parent = "nothing"}), Errc::not_found));
  EXPECT_TRUE(fails(items().add("a", {.parent = "c"}), Errc::invalid_argument));
  EXPECT_TRUE(fails(items().add("a", {.parent = "b"}), Errc::invalid_argument));
  EXPECT_TRUE(fails(items().add("a", {.parent = "a"}), Errc::invalid_argument));
  EXPECT_TRUE(fails(items().add("a", {.conflicts = Words{"a"}}), Errc::invalid_argument));
  EXPECT_EQ(dump(), before);
  must(items().add("c", {.parent = "a"}));
  must(items().add("b", {.parent = "c"}));
  EXPECT_EQ(item("b").parent, "c") << "moving about is fine where it makes no circle";
}

TEST_P(ItemBacklogTest, ItemsAreListedByKeyByStateByParentAndInPages) {
  backlog({"e", "c", "a"});
  must(items().add("b", {.parent = "a"}));
  must(items().add("d", {.parent = "a"}));
  join("ann");
  take("ann", "c");
  must(items().done("e"));
  join("bob");
  take("bob", "d");
  EXPECT_EQ(listed(), (Words{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(listed({.parent = "a"}), (Words{"b", "d"}));
  EXPECT_EQ(listed({.state = ItemState::claimed}), (Words{"c", "d"}));
  EXPECT_EQ(listed({.state = ItemState::open}), (Words{"a", "b"}));
  EXPECT_EQ(listed({.state = ItemState::done}), Words{"e"});
  EXPECT_EQ(listed({.max = 2, .page = "b"}), (Words{"c", "d"}));
  EXPECT_EQ(listed({.state = ItemState::claimed, .parent = "a"}), Words{"d"});
  advance(20s);
  must(beat({.key = "bob", .token = session("bob").token}));
  advance(10s);
  EXPECT_EQ(listed({.state = ItemState::stale}), Words{"c"});
  EXPECT_EQ(listed({.state = ItemState::claimed}), Words{"d"});
  EXPECT_EQ(listed({.parent = "nothing"}), Words{});
}

TEST_P(ItemBacklogTest, TheOrderOfKeysIsThatOfTheirBytes) {
  backlog({"b", "B", "a-1", "a1", "ä", "_", "A"});
  const Words sorted{"A", "B", "_", "a-1", "a1", "b", "ä"};
  EXPECT_EQ(listed(), sorted) << "whatever the locale of the database";
  Words paged;
  for (std::optional<std::string> next = ""; next;) {
    const auto page = must(items().list({.max = 2, .page = *next}));
    ASSERT_FALSE(page.empty());
    for (const auto& item : page) paged.push_back(item.key);
    next = page.next;
  }
  EXPECT_EQ(paged, sorted);
}

TEST_P(ItemBacklogTest, AFreeItemWithoutChildrenIsRemoved) {
  must(items().add("a", {.conflicts = Words{}}));
  must(items().add("b", {.parent = "a", .conflicts = Words{"a"}}));
  join("ann");
  take("ann", "b");
  const auto held = items().remove("b");
  ASSERT_TRUE(fails(held, Errc::held));
  EXPECT_EQ(owner_reported(held), "ann b");
  EXPECT_TRUE(fails(items().remove("a"), Errc::busy)) << "it has a child";
  advance(30s);
  EXPECT_TRUE(ok(items().remove("b"))) << "a stale session does not prevent it";
  EXPECT_EQ(item("a").conflicts, Words{});
  EXPECT_TRUE(fails(claims().show("b"), Errc::not_found));
  EXPECT_TRUE(ok(items().remove("a")));
  EXPECT_EQ(listed(), Words{});
  EXPECT_TRUE(fails(items().remove("a"), Errc::not_found));
  EXPECT_EQ(story("a"), (Words{"added", "removed"}));
  EXPECT_EQ(under_test().scalar("SELECT count(*) FROM " + under_test().table("claim")), "0");
}

TEST_P(ItemBacklogTest, TextsAreKeptByteForByte) {
  const std::string odd = "it's \"quoted\"; line\nbreak\ttab \\ %s $1 ä \xF0\x9F\x98\x80 {}";
  const std::string long_text(100 * 1024, 'x');
  const std::string metadata = "{\"text\": \"it's \\\"quoted\\\"\\n \xF0\x9F\x98\x80\",\n\t\"n\": 1.50, \"n\": 2}";
  const std::string long_metadata = "[\"" + long_text + "\"]";
  must(items().add("odd", {.title = odd, .metadata = metadata}));
  must(items().add("long", {.title = long_text + odd, .metadata = long_metadata}));
  EXPECT_EQ(item("odd").title, odd);
  EXPECT_EQ(item("odd").metadata, metadata);
  EXPECT_TRUE(item("long").title == long_text + odd);
  EXPECT_TRUE(item("long").metadata == long_metadata);
  must(sessions().open({.id = "ann", .label = odd, .codebase = odd, .track = odd, .metadata = long_metadata}));
  must(sessions().heartbeat("ann", session("ann").token, {.progress = odd}));
  const auto reported = session("ann");
  EXPECT_EQ(reported.label, odd);
  EXPECT_EQ(reported.codebase + reported.track + reported.progress, odd + odd + odd);
  EXPECT_TRUE(reported.metadata == long_metadata);
  const auto claim = take("ann", "long");
  join("bob");
  const auto refused = try_take("bob", "long");
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(refused.error().held_by->label, odd);
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos) << refused.error().message;
  EXPECT_LT(refused.error().message.size(), 1000U);
  EXPECT_TRUE(this->claim("long").title == long_text + odd);
  must(release(claim, odd));
  EXPECT_EQ(ending("long"), "released: " + odd);
}

TEST_P(ItemBacklogTest, KeysAndIdsMayBeAnythingPrintable) {
  const std::string name = "a'b\"c;d/e ä %s \\ \xF0\x9F\x98\x80";
  const std::string longest(512, 'k');
  must(items().add(name));
  must(items().add(longest, {.parent = name, .conflicts = Words{name}}));
  EXPECT_EQ(item(name).conflicts, Words{longest});
  join(name);
  must(release(take(name, longest)));
  const auto claim = take(name, name);
  EXPECT_EQ(item(name).session, name);
  EXPECT_TRUE(ok(items().done(name, claim.token)));
  EXPECT_EQ(item(name).done_by, name);
}

}  // namespace
}  // namespace leasehold::support
