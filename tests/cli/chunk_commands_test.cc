// The chunk commands: what they print, where, and with which exit code.
#include "cli/chunk_tool.h"

namespace leasehold::support {
namespace {

using ChunkCommands = ChunkToolTest;
LEASEHOLD_ON_BOTH_STORES(ChunkCommands);

TEST_P(ChunkCommands, ClaimShowsTheChunkAndItsCursor) {
  plan("orders", {"a"});
  const auto first = tool({"chunk", "claim", "orders", "--holder", "ana", "--ttl", "5m"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(first.out.starts_with("claimed a  token "));
  EXPECT_TRUE(contains(first.out, "attempt 1  until "));
  EXPECT_TRUE(contains(first.out, "(5m)\n"));
  EXPECT_TRUE(contains(first.out, "  spec      {\"key\":\"a\"}\n"));
  EXPECT_FALSE(contains(first.out, "cursor"));
  const auto token = std::to_string(json({"chunk", "show", "orders", "a"}).at("token").as_int64());
  EXPECT_EQ(say("release", "orders", {"a", token}, {"--cursor", R"([1,"x"])", "--rows", "40"}).out,
            "returned a: it is available\n");
  const auto second = tool({"chunk", "claim", "orders"});
  for (const auto* part : {"attempt 2", "  cursor    [1,\"x\"]\n", "  rows      40\n", "  previous  ana (on "}) {
    EXPECT_TRUE(contains(second.out, part));
  }
}

TEST_P(ChunkCommands, ClaimAsJsonHasSpecsAndCursorsAsTheyWereGiven) {
  plan("orders", {"a", "b", "c"});
  const auto grant = json({"chunk", "claim", "orders", "-n", "2"});
  const auto& chunks = grant.at("chunks").as_array();
  ASSERT_EQ(chunks.size(), 2U);
  EXPECT_EQ(chunks[0].at("spec").at("key"), "a");
  EXPECT_TRUE(chunks[0].at("cursor").is_null());
  EXPECT_EQ(grant.at("ttl_seconds"), 120);
  const Held held = {"b", std::to_string(chunks[1].at("token").as_int64())};
  ASSERT_EQ(say("heartbeat", "orders", held, {"--cursor", "{\"page\":0.10}", "--rows", "7"}).exit_code, 0);
  EXPECT_TRUE(contains(tool({"chunk", "show", "orders", "b", "--json"}).out, R"("cursor":{"page":0.10})"));
}

TEST_P(ChunkCommands, RefusedClaimsDifferByTheirExitCode) {
  EXPECT_EQ(json({"chunk", "claim", "orders"}, 4).at("error").at("code"), "not_found");
  plan("orders", {"a", "b"}, {"--backoff", "1h"});
  EXPECT_EQ(tool({"chunk", "claim", "orders", "z"}).exit_code, 4);
  const auto a = claimed("orders", {"a", "--holder", "ana"});
  const auto held = tool({"chunk", "claim", "orders", "a"});
  EXPECT_EQ(held.exit_code, 75);
  EXPECT_TRUE(contains(held.err, "ana"));
  const auto b = claimed("orders");
  EXPECT_EQ(json({"chunk", "claim", "orders"}, 75).at("error").at("code"), "held");
  EXPECT_EQ(tool({"chunk", "claim", "orders", "-E", "0"}).exit_code, 0);
  EXPECT_EQ(tool({"chunk", "claim", "orders", "--wait", "10ms"}).exit_code, 75);
  say("complete", "orders", a);
  say("fail", "orders", b, {"--error", "no route"});
  const auto deferred = json({"chunk", "claim", "orders"}, 3).at("error");
  EXPECT_EQ(deferred.at("code"), "empty");
  EXPECT_TRUE(deferred.at("retry_at").is_string());
  EXPECT_EQ(json({"chunk", "claim", "orders", "a"}, 3).at("error").at("code"), "terminal");
  say("complete", "orders", claimed("orders", {"b"}));
  const auto final = json({"chunk", "claim", "orders", "--wait", "1h"}, 3).at("error");
  EXPECT_EQ(final.at("code"), "empty");
  EXPECT_EQ(tool({"chunk", "claim", "orders", "--older-than", "1h"}).exit_code, 3);
  EXPECT_EQ(claimed("orders", {"--older-than", "0"}).key, "a");
}

TEST_P(ChunkCommands, ARequestIdMakesRepeatingHarmless) {
  plan("orders", {"a", "b"});
  const auto first = claimed("orders", {"--request-id", "r1"});
  EXPECT_EQ(claimed("orders", {"--request-id", "r1"}).token, first.token);
}

TEST_P(ChunkCommands, AWaitingClaimGoesOnFromTheCursorAndTheLateSaveIs76) {
  plan("orders", {"a"});
  const auto late = claimed("orders", {"--ttl", "1h", "--holder", "ana"});
  ASSERT_EQ(say("heartbeat", "orders", late, {"--cursor", "17", "--rows", "1700", "--ttl", "50ms"}).exit_code, 0);
  const auto heir = json({"chunk", "claim", "orders", "--wait"}).at("chunks").at(0);
  EXPECT_EQ(heir.at("cursor"), 17);
  EXPECT_EQ(heir.at("rows"), 1700);
  EXPECT_EQ(heir.at("attempt"), 2);
  EXPECT_EQ(heir.at("previous_holder").at("name"), "ana");
  for (const auto* verdict : {"heartbeat", "complete", "fail", "release"}) {
    const auto refused = say(verdict, "orders", late, {"--cursor", "99", "--rows", "9900"});
    EXPECT_EQ(refused.exit_code, 76) << verdict << refused.err;
    EXPECT_EQ(refused.out, "");
  }
  const auto chunk = json({"chunk", "show", "orders", "a"});
  EXPECT_EQ(chunk.at("cursor"), 17);
  EXPECT_EQ(chunk.at("rows"), 1700);
  EXPECT_EQ(chunk.at("crashes"), 1);
  EXPECT_EQ(json({"chunk", "progress", "orders"}).at("rows"), 1700);
}

TEST_P(ChunkCommands, TheEnvironmentOfARunNamesTheChunk) {
  plan("orders", {"a", "b"});
  const auto held = claimed("orders");
  const Environment env = {{"LEASEHOLD_SET", "orders"}, {"LEASEHOLD_CHUNK", held.key}, {"LEASEHOLD_TOKEN", held.token}};
  const auto extended = tool({"chunk", "heartbeat", "--rows", "5", "--ttl", "1h"}, env);
  EXPECT_EQ(extended.exit_code, 0) << extended.err;
  EXPECT_TRUE(contains(extended.out, "extended a  until "));
  EXPECT_TRUE(contains(extended.out, "(1h)  5 rows\n"));
  // Of another chunk, the token at hand says nothing.
  EXPECT_EQ(tool({"chunk", "skip", "orders", "b", "--reason", "empty"}, env).out, "skipped b\n");
  const auto skipped = tool({"chunk", "skip", "--reason", "empty"}, env);
  EXPECT_EQ(skipped.out, "skipped a\n") << skipped.err;
  EXPECT_TRUE(contains(skipped.err, "orders is complete"));
}

TEST_P(ChunkCommands, VerdictsShowTheNewStateOfTheChunk) {
  plan("orders", {"a"}, {"--max-failures", "3", "--backoff", "1h"});
  const auto failed = say("fail", "orders", claimed("orders"), {"--error", "no route"});
  EXPECT_TRUE(failed.out.starts_with("deferred a until ")) << failed.out << failed.err;
  const auto at_once = say("fail", "orders", claimed("orders", {"a"}), {"--error", "still none", "--delay", "0"});
  EXPECT_EQ(at_once.out, "returned a: it is available\n");
  const auto held = claimed("orders");
  const auto final = say("fail", "orders", held, {"--final", "--error-file", "/dev/null"});
  EXPECT_EQ(final.out, "failed a: it is exhausted\n");
  EXPECT_TRUE(contains(final.err, "orders ends partial"));
  EXPECT_TRUE(contains(say("fail", "orders", held, {"--final"}).out, "(repeated)"));
  EXPECT_EQ(say("fail", "orders", held, {"--final", "--delay", "5s"}).exit_code, 2);
  EXPECT_EQ(json({"chunk", "progress", "orders"}).at("summary"), "partial 0/1 (1 exhausted)");
}

TEST_P(ChunkCommands, CursorsAreJsonAndRowsAreCounted) {
  plan("orders", {"a"});
  const auto held = claimed("orders");
  EXPECT_EQ(say("heartbeat", "orders", held, {"--cursor", "{page:1}"}).exit_code, 2);
  EXPECT_EQ(say("heartbeat", "orders", held, {"--rows", "-1"}).exit_code, 2);
  EXPECT_EQ(say("heartbeat", "orders", held, {"--rows", "many"}).exit_code, 2);
  EXPECT_EQ(say("heartbeat", "orders", held, {"--cursor", "null", "--rows", "3"}).exit_code, 0);
  EXPECT_EQ(say("complete", "orders", held, {"--rows", "9"}).out, "completed a\n");
  EXPECT_EQ(json({"chunk", "progress", "orders"}).at("rows"), 9);
}

TEST_P(ChunkCommands, AnOperatorSkipsOnlyFreeChunks) {
  plan("orders", {"a", "b"});
  const auto held = claimed("orders", {"--holder", "ana"});
  const auto refused = tool({"chunk", "skip", "orders", "a", "--reason", "old"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_TRUE(contains(refused.err, "orders/a is held by ana"));
  EXPECT_TRUE(contains(refused.err, ", frees at "));
  EXPECT_FALSE(contains(refused.err, "since")) << "not known";
  EXPECT_EQ(json({"chunk", "skip", "orders", "b", "--reason", "old"}).at("state"), "skipped");
  EXPECT_EQ(tool({"chunk", "skip", "orders", "b", "--reason", "old"}).exit_code, 3);
  EXPECT_EQ(tool({"chunk", "skip", "orders", "z", "--reason", "old"}).exit_code, 4);
  EXPECT_EQ(tool({"chunk", "skip", "orders", "a"}).exit_code, 2);
  EXPECT_EQ(say("skip", "orders", held, {"--reason", "no rows"}).out, "skipped a\n");
  EXPECT_EQ(json({"chunk", "show", "orders", "a"}).at("note"), "no rows");
}

TEST_P(ChunkCommands, ResetOpensTheGivenChunks) {
  plan("orders", {"a", "b", "c"});
  say("complete", "orders", claimed("orders"), {"--rows", "5"});
  say("fail", "orders", claimed("orders"), {"--final", "--cursor", "3", "--rows", "2"});
  claimed("orders");
  EXPECT_EQ(tool({"chunk", "reset", "orders"}).exit_code, 2);
  EXPECT_EQ(tool({"chunk", "reset", "orders", "--failed", "--all"}).exit_code, 2);
  EXPECT_EQ(tool({"chunk", "reset", "nothing", "--failed"}).exit_code, 4);
  EXPECT_EQ(tool({"chunk", "reset", "nothing", "--failed", "--dry-run"}).exit_code, 4);
  EXPECT_EQ(tool({"chunk", "reset", "orders", "--failed", "--dry-run"}).out, "would reset 1 chunk of orders\n");
  EXPECT_EQ(tool({"chunk", "reset", "orders", "--failed"}).out, "reset 1 chunk of orders\n");
  EXPECT_EQ(json({"chunk", "show", "orders", "b"}).at("cursor"), 3);
  for (const auto* consent : {"--dry-run", "--yes"}) {
    EXPECT_EQ(json({"chunk", "reset", "orders", "--older-than", "1h", consent}).at("reset"), 0);
  }
  EXPECT_EQ(json({"chunk", "reset", "orders", "--older-than", "0", "--dry-run"}).at("reset"), 1);
  EXPECT_EQ(json({"chunk", "reset", "orders", "--older-than", "0"}).at("reset"), 1);
  EXPECT_EQ(json({"chunk", "show", "orders", "a"}).at("rows"), 0);
  for (const auto* consent : {"--dry-run", "--yes"}) {
    const auto keys = json({"chunk", "reset", "orders", "a", "c", "z", consent}, 4);
    EXPECT_EQ(keys.at("reset"), 1);
    EXPECT_EQ(keys.at("running"), 1);
    EXPECT_EQ(keys.at("missing"), 1);
  }
  const auto held = tool({"chunk", "reset", "orders", "c"});
  EXPECT_EQ(held.exit_code, 75);
  EXPECT_TRUE(contains(held.err, "held and not reset: 1 chunk"));
  EXPECT_EQ(tool({"chunk", "reset", "orders", "--all"}).exit_code, 2);
  const auto all = tool({"chunk", "reset", "orders", "--all", "--from-start", "--yes"});
  EXPECT_EQ(all.out, "reset 2 chunks of orders\n");
  EXPECT_TRUE(contains(all.err, "not reset: 1 chunk"));
  EXPECT_TRUE(json({"chunk", "show", "orders", "b"}).at("cursor").is_null());
}

TEST_P(ChunkCommands, AKeyIsTakenAsItIs) {
  plan("odd", {"[a,b]", "--all", "with blanks"});
  EXPECT_EQ(tool({"chunk", "reset", "odd", "--", "with blanks", "--all"}).out, "reset 2 chunks of odd\n");
  EXPECT_EQ(claimed("odd", {"[a,b]"}).key, "[a,b]");
  EXPECT_EQ(claimed("odd", {"--wait", "--", "with blanks"}).key, "with blanks");
}

TEST_P(ChunkCommands, LsShowsSetsAndChunks) {
  EXPECT_TRUE(contains(tool({"chunk", "ls"}).err, "no sets"));
  EXPECT_EQ(tool({"chunk", "ls", "orders"}).exit_code, 4);
  plan("orders", {"a", "b", "c"});
  plan("other", {"a"});
  say("complete", "orders", claimed("orders"), {"--rows", "5"});
  say("fail", "orders", claimed("orders"), {"--final", "--error", "no route"});
  const auto sets = tool({"chunk", "ls"});
  EXPECT_TRUE(contains(sets.out, "SET     STATE    CHUNKS  ROWS  RUNNING  EXHAUSTED"));
  EXPECT_TRUE(contains(sets.out, "orders  running     1/3     5        0          1"));
  EXPECT_TRUE(contains(sets.out, "other   planned     0/1     0        0          0"));
  EXPECT_EQ(json({"chunk", "ls"}).at("items").as_array().size(), 2U);
  const auto chunks = tool({"chunk", "ls", "orders"});
  EXPECT_TRUE(contains(chunks.out, "KEY  STATE      ATTEMPTS  ROWS  WHAT\n"));
  EXPECT_TRUE(contains(chunks.out, "b    exhausted         1     0  no route\n"));
  EXPECT_EQ(json({"chunk", "ls", "orders", "--state", "available"}).at("items").at(0).at("key"), "c");
  EXPECT_TRUE(contains(tool({"chunk", "ls", "orders", "--max", "2"}).err, "there are more: continue with --page 2"));
  EXPECT_EQ(tool({"chunk", "ls", "--state", "available"}).exit_code, 2);
  EXPECT_EQ(tool({"chunk", "ls", "orders", "--state", "asleep"}).exit_code, 2);
}

TEST_P(ChunkCommands, ShowPrintsAllDetails) {
  plan("orders", {"a"});
  say("fail", "orders", claimed("orders", {"--holder", "ana"}), {"--error", "no route", "--delay", "0"});
  const auto held = claimed("orders", {"--holder", "ben"});
  say("heartbeat", "orders", held, {"--cursor", "{\"page\":4}", "--rows", "420"});
  const auto shown = tool({"chunk", "show", "orders", "a"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  for (const auto* part :
       {"chunk       a\n", "set         orders\n", "state       running\n", "cursor      {\"page\":4}\n",
        "rows        420\n", "holder      ben (on ", "attempts    2  (failures 1, crashes 0)\n",
        "error       no route\n", "planner     1  (position 0, hash ", "WHEN ", "claimed ", "failed "}) {
    EXPECT_TRUE(contains(shown.out, part));
  }
  const auto events = json({"chunk", "show", "orders", "a"}).at("events").as_array();
  ASSERT_GE(events.size(), 3U);
  EXPECT_EQ(events[0].at("what"), "claimed");
  EXPECT_EQ(events[1].at("detail"), "no route");
  EXPECT_EQ(tool({"chunk", "show", "orders", "z"}).exit_code, 4);
}

TEST_P(ChunkCommands, SettingsStayUntilTheyAreChanged) {
  plan("orders", {"a"}, {"--max-failures", "5"});
  const auto changed = tool({"chunk", "set", "orders", "--backoff", "1s..1m", "--ttl", "30s"});
  for (const auto* part :
       {"failures    at most 5\n", "crashes     at most 3\n", "backoff     1s..1m\n", "ttl         30s\n"}) {
    EXPECT_TRUE(contains(changed.out, part));
  }
  EXPECT_EQ(json({"chunk", "claim", "orders"}).at("ttl_seconds"), 30);
  EXPECT_EQ(json({"chunk", "set", "orders", "--backoff", "5s"}).at("backoff_max_seconds"), 5);
  EXPECT_EQ(tool({"chunk", "set", "orders"}).exit_code, 2);
  EXPECT_EQ(tool({"chunk", "set", "nothing", "--max-failures", "2"}).exit_code, 4);
}

TEST_P(ChunkCommands, RmRemovesAnIdleSet) {
  plan("orders", {"a", "b"});
  const auto held = claimed("orders");
  EXPECT_EQ(tool({"chunk", "rm", "orders"}).exit_code, 2);
  EXPECT_EQ(tool({"chunk", "rm", "orders", "--dry-run"}).exit_code, 75);
  EXPECT_EQ(tool({"chunk", "rm", "orders", "--yes"}).exit_code, 75);
  say("complete", "orders", held);
  EXPECT_EQ(tool({"chunk", "rm", "orders", "--dry-run"}).out,
            "would remove orders with 2 chunks, 1 of them completed\n");
  EXPECT_EQ(tool({"chunk", "rm", "orders", "--yes"}).out, "removed orders with 2 chunks\n");
  EXPECT_EQ(tool({"chunk", "rm", "orders", "--yes"}).exit_code, 4);
}

TEST_P(ChunkCommands, ShowHasTheWholeErrorAndListsItsFirstLine) {
  plan("orders", {"a"});
  const auto held = claimed("orders");
  ASSERT_EQ(say("fail", "orders", held, {"--final", "--error", "first line\nsecond line"}).exit_code, 0);
  EXPECT_TRUE(
      contains(tool({"chunk", "show", "orders", "a"}).out, "error       first line\n            second line\n"));
  const auto list = tool({"chunk", "ls", "orders"}).out;
  EXPECT_TRUE(contains(list, "first line\n"));
  EXPECT_FALSE(contains(list, "second"));
}

}  // namespace
}  // namespace leasehold::support
