// leasehold chunk plan: from a range or a file, again and anew, and with a job that waits.
#include <fstream>

#include "cli/chunk_tool.h"

namespace leasehold::support {
namespace {

using ChunkPlan = ChunkToolTest;
LEASEHOLD_ON_BOTH_STORES(ChunkPlan);

TEST_P(ChunkPlan, ARangeIsPlannedOnceHoweverOftenItIsRequested) {
  const Arguments arguments = {"chunk", "plan", "orders", "--range", "1..100", "--size", "30"};
  EXPECT_EQ(tool(arguments).out, "planned orders: 4 added; 4 chunks in all\n");
  EXPECT_EQ(tool(arguments).out, "planned orders: 4 kept; 4 chunks in all\n");
  const auto chunks = json({"chunk", "ls", "orders"}).at("items").as_array();
  ASSERT_EQ(chunks.size(), 4U);
  EXPECT_EQ(chunks[0].at("key"), "1-30");
  EXPECT_EQ(chunks[3].at("spec").at("from"), 91);
  EXPECT_EQ(chunks[3].at("spec").at("to"), 100);
  EXPECT_EQ(json({"chunk", "plan", "below", "--range", "-5..5", "--size", "11"}).at("added"), 1);
}

TEST_P(ChunkPlan, AFileIsAChunkPerLineAndItsKeyIsInItOrMadeOfIt) {
  const auto file = folder().file("plan.jsonl");
  std::ofstream(file) << "{\"key\":\"2024\",\"n\":1.50}\r\n\n[1, 2]\n{\"key\":7}\n";
  EXPECT_EQ(json({"chunk", "plan", "files", "--file", file}).at("added"), 3);
  const auto chunks = json({"chunk", "ls", "files"}).at("items").as_array();
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks[0].at("key"), "2024");
  // printf '[1, 2]' | sha256sum
  EXPECT_EQ(chunks[1].at("key"), "3a316d6d3226f84c");
  EXPECT_EQ(chunks[2].at("key").as_string().size(), 16U);
  EXPECT_TRUE(contains(tool({"chunk", "show", "files", "2024"}).out, R"(spec        {"key":"2024","n":1.50})"));
}

TEST_P(ChunkPlan, ABadLineIsNamedAndNothingIsPlanned) {
  struct Case {
    std::string line;
    std::string reported;
  };
  for (const auto& [line, reported] :
       std::vector<Case>{{"{\"key\":", "line 3: it is not JSON"},
                         {"{\"key\":\"\"}", "line 3: "},
                         {"{\"key\":\"a\"}", "line 3: key \"a\" is already on line 1"},
                         {"\"" + std::string(70'000, 'x') + "\"", "line 3: it has more"}}) {
    const auto finished = tool({"chunk", "plan", "files", "--file", "-"}, {}, "{\"key\":\"a\"}\n2\n" + line + "\n");
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_TRUE(contains(finished.err, reported));
    EXPECT_TRUE(contains(finished.err, "nothing was planned"));
    EXPECT_EQ(finished.out, "");
  }
  EXPECT_EQ(tool({"chunk", "progress", "files"}).exit_code, 4);
}

TEST_P(ChunkPlan, APlanSaysEitherAFileOrARange) {
  for (const Arguments& more : std::vector<Arguments>{{},
                                                      {"--range", "1..10"},
                                                      {"--size", "10"},
                                                      {"--file", "-", "--size", "3"},
                                                      {"--range", "10..1", "--size", "1"},
                                                      {"--range", "1-10", "--size", "1"},
                                                      {"--range", "1..10", "--size", "0"},
                                                      {"--range", "1..10", "--size", "5", "--file", "-"},
                                                      {"--range", "1..10", "--size", "5", "--backoff", "soon"},
                                                      {"--file", "no such file"}}) {
    Arguments arguments = {"chunk", "plan", "orders"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(tool(arguments).exit_code, 2);
  }
}

TEST_P(ChunkPlan, ANewPlannerVersionReplacesWhatWasNotStarted) {
  plan("files", {"a", "b", "c"});
  say("complete", "files", claimed("files", {"a"}), {"--rows", "3"});
  const auto held = claimed("files", {"b"});
  const auto other = tool({"chunk", "plan", "files", "--file", "-"}, {}, "{\"key\":\"c\",\"n\":2}\n");
  EXPECT_TRUE(contains(other.err, "kept with a different spec: 1 chunk"));
  const auto replaced = tool({"chunk", "plan", "files", "--file", "-", "--planner", "2"}, {},
                             "{\"key\":\"a\"}\n{\"key\":\"b\",\"n\":2}\n{\"key\":\"d\"}\n");
  EXPECT_EQ(replaced.out, "planned files: 1 added, 1 removed, 1 kept; 3 chunks in all\n") << replaced.err;
  EXPECT_TRUE(contains(replaced.err, "plan again when"));
  EXPECT_EQ(state_of("files", "a"), "completed");
  EXPECT_EQ(say("complete", "files", held).exit_code, 0);
}

TEST_P(ChunkPlan, AJobWaitsForItsSet) {
  const auto add = [&] { return std::to_string(std::stoll(tool({"job", "add", "sync", "x"}).out)); };
  const auto waiting = add();
  const auto planned = tool({"chunk", "plan", "orders", "--range", "1..2", "--size", "1", "--job", waiting});
  EXPECT_TRUE(contains(planned.out, "job " + waiting + " waits for it\n")) << planned.err;
  EXPECT_EQ(json({"chunk", "progress", "orders"}).at("job_id").as_int64(), std::stoll(waiting));
  say("complete", "orders", claimed("orders"), {"--rows", "3"});
  EXPECT_EQ(json({"job", "show", waiting}).at("state"), "blocked");
  say("complete", "orders", claimed("orders"), {"--rows", "4"});
  EXPECT_EQ(json({"job", "show", waiting}).at("state"), "completed");
  EXPECT_TRUE(contains(tool({"job", "result", waiting}).out, "\"rows\":7"));

  const auto own = add();
  const auto claim = json({"job", "claim", "sync"});
  const Environment env = {{"LEASEHOLD_JOB_ID", own},
                           {"LEASEHOLD_TOKEN", std::to_string(claim.at("token").as_int64())}};
  const auto tied = tool({"chunk", "plan", "more", "--range", "1..1", "--size", "1", "--job", own}, env);
  EXPECT_EQ(tied.exit_code, 0) << tied.err;
  say("fail", "more", claimed("more"), {"--final"});
  EXPECT_EQ(json({"job", "show", own}).at("state"), "failed");
  EXPECT_EQ(json({"job", "show", own}).at("error"), "partial 0/1 (1 exhausted)");
  EXPECT_EQ(tool({"chunk", "plan", "more", "--range", "1..1", "--size", "1", "--job", "999999"}).exit_code, 4);
}

}  // namespace
}  // namespace leasehold::support
