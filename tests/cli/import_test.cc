// leasehold job import, settle: a job, or a verdict, per line.
#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

class Import : public StoreToolTest {
 protected:
  std::string file_of(const std::string& text) {
    auto file = folder().file("jobs.jsonl");
    std::ofstream(file) << text;
    return file;
  }
  std::int64_t available(const std::string& queue) { return json({"queue", "show", queue}).at("available").as_int64(); }
};
LEASEHOLD_ON_BOTH_STORES(Import);

TEST_P(Import, EveryLineIsAPayloadInOrder) {
  std::ostringstream lines;
  for (int i = 0; i < 2345; ++i) lines << "{\"n\":" << i << "}\n";
  const auto finished = tool({"job", "import", "mail", file_of(lines.str()), "--priority", "3"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, "enqueued 2345 jobs into mail\n");
  EXPECT_EQ(finished.err, "");
  EXPECT_EQ(available("mail"), 2345);
  const auto first = json({"job", "claim", "mail"}).at("jobs").at(0);
  EXPECT_EQ(first.at("payload").at("n"), 0);
  EXPECT_EQ(first.at("priority"), 3);
}

TEST_P(Import, StandardInputWorksTooAndEmptyLinesAreLeftOut) {
  const auto imported = tool({"job", "import", "mail", "-"}, {}, "one\r\n\ntwo");
  EXPECT_EQ(imported.out, "enqueued 2 jobs into mail\n") << imported.err;
  const auto grant = json({"job", "claim", "mail", "-n", "9"});
  EXPECT_EQ(grant.at("jobs").at(0).at("payload_base64"), "b25l");
  EXPECT_EQ(grant.at("jobs").at(1).at("payload_base64"), "dHdv");
}

TEST_P(Import, AnEnvelopeHasAllSettingsOfAJob) {
  const auto finished = tool({"job", "import", "mail", "-", "--envelope", "--tag", "all"}, {},
                             R"({"payload":{"to":"ann"},"priority":5,"dedupe_key":"ann","group":"k"})"
                             "\n"
                             R"({"payload_base64":"/w==","tags":["one","two"],"backoff":"1s..1m","max_crashes":7})"
                             "\n"
                             R"({"payload":"text","delay":"1h"})"
                             "\n"
                             R"({"payload":"again","dedupe_key":"ann"})"
                             "\n");
  EXPECT_EQ(finished.out, "enqueued 3 jobs into mail; duplicates: 1\n") << finished.err;
  const auto grant = json({"job", "claim", "mail", "-n", "9"});
  ASSERT_EQ(grant.at("jobs").as_array().size(), 2U);
  EXPECT_EQ(grant.at("jobs").at(0).at("payload").at("to"), "ann");
  EXPECT_EQ(grant.at("jobs").at(1).at("payload_base64"), "/w==");
  const auto second = json({"job", "show", std::to_string(grant.at("jobs").at(1).at("id").as_int64())});
  EXPECT_EQ(second.at("tags").as_array().size(), 2U);
  EXPECT_EQ(second.at("max_crashes"), 7);
  EXPECT_EQ(json({"job", "ls", "--tag", "all"}).at("items").as_array().size(), 2U);
}

TEST_P(Import, ABadLineIsNamedAndWhatCameBeforeIsIn) {
  const std::string good = "{\"payload\":\"x\"}\n";
  struct Case {
    std::string line;
    std::string reported;
  };
  for (const auto& [line, reported] : std::vector<Case>{{"{\"payload\":", "not JSON"},
                                                        {"[1]", "not a JSON object"},
                                                        {"{\"paylod\":1}", "did you mean payload?"},
                                                        {"{\"delay\":5}", "\"delay\" is not a string"},
                                                        {"{\"delay\":\"5 parsecs\"}", "not a duration"},
                                                        {"{\"priority\":99999}", "priority"},
                                                        {"{\"payload_base64\":\"!\"}", "base64"}}) {
    const auto finished = tool({"job", "import", "mail", "-", "--envelope"}, {}, good + good + line + "\n" + good);
    EXPECT_EQ(finished.exit_code, 1) << line;
    EXPECT_TRUE(contains(finished.err, "line 3: "));
    EXPECT_TRUE(contains(finished.err, reported));
    EXPECT_TRUE(contains(finished.err, "enqueued before it: 2 jobs; continue with --from-line 3"));
    EXPECT_EQ(finished.out, "");
  }
  EXPECT_EQ(available("mail"), 14);
}

TEST_P(Import, APayloadInAnEnvelopeStaysAsItWasWritten) {
  const std::string payload = R"({"id": 12345678901234567890123, "rate": 0.10, "max": 1e999})";
  const auto finished = tool({"job", "import", "mail", "-", "--envelope"}, {}, R"({"payload": )" + payload + "}\n");
  EXPECT_EQ(finished.out, "enqueued 1 job into mail\n") << finished.err;
  EXPECT_TRUE(contains(tool({"job", "claim", "mail", "--json"}).out, R"("payload":)" + payload));
}

TEST_P(Import, GoingOnFromALineLeavesOutWhatIsThere) {
  EXPECT_EQ(tool({"job", "import", "mail", "-", "--from-line", "3"}, {}, "a\nb\nc\nd\n").out,
            "enqueued 2 jobs into mail\n");
  EXPECT_EQ(json({"job", "import", "mail", file_of("a\nb\n")}).at("last_line"), 2);
  EXPECT_EQ(tool({"job", "import", "mail", folder().file("none")}).exit_code, 2);
}

TEST_P(Import, ALineThatIsTooLongIsABadLine) {
  const auto finished = tool({"job", "import", "mail", "-"}, {}, "ok\n" + std::string(1024 * 1024 + 1, 'x') + "\n");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_TRUE(contains(finished.err, "line 2: it has more than 1048576 bytes; enqueued before it: 1 job; "));
}

TEST_P(Import, AnInterruptedImportShowsWhereToContinue) {
  auto importing = Process::start({LEASEHOLD_TOOL, "job", "import", "mail", "-", "--db", url()});
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "x\n";
  importing.write(lines);
  ASSERT_TRUE(eventually([&] { return tool({"queue", "show", "mail"}).exit_code == 0; }));
  importing.signal(SIGINT);
  // Its input stays open until it has ended: the end of that would be as good a reason.
  while (importing.read_line(20s)) {
  }
  const auto finished = importing.finish(20s);
  EXPECT_EQ(finished.exit_code, 128 + SIGINT);
  EXPECT_TRUE(contains(finished.err, "continue with --from-line"));
  EXPECT_GE(available("mail"), 1000);
}

TEST_P(Import, EveryLineIsAVerdict) {
  tool({"job", "import", "mail", "-"}, {}, "1\n2\n3\n");
  const auto grant = json({"job", "claim", "mail", "-n", "3"});
  const auto line = [&](std::size_t i, const std::string& rest) {
    const auto& job = grant.at("jobs").at(i);
    return fmt::format("{{\"id\":{},\"token\":{},{}}}\n", job.at("id").as_int64(), job.at("token").as_int64(), rest);
  };
  const auto first = line(0, R"("verdict":"complete","result":{"sent":true})");
  const auto settled = tool({"job", "settle", file_of(first + "\n" + line(1, R"("verdict":"snooze","delay":"10m")"))});
  EXPECT_EQ(settled.out, "settled 2 jobs\n") << settled.err;
  EXPECT_EQ(settled.exit_code, 0);
  EXPECT_EQ(tool({"job", "result", std::to_string(grant.at("jobs").at(0).at("id").as_int64())}).out,
            R"({"sent":true})");
  const auto last = line(2, R"("verdict":"release")");
  const auto late = tool({"job", "settle", "-"}, {},
                         R"({"id":999,"token":5,"verdict":"complete"})"
                         "\n" +
                             last);
  EXPECT_EQ(late.exit_code, 4) << late.err;
  EXPECT_EQ(late.out, "settled 1 job; refused: 1\n");
  EXPECT_NE(late.err.find("job 999: "), std::string::npos) << late.err;
}

TEST_P(Import, ABadVerdictIsNamedByItsLine) {
  tool({"job", "add", "mail", "1"});
  const auto grant = json({"job", "claim", "mail"});
  const auto good = fmt::format(R"({{"id":{},"token":{},"verdict":"complete"}})",
                                grant.at("jobs").at(0).at("id").as_int64(), grant.at("token").as_int64());
  const auto bad = tool({"job", "settle", "-"}, {}, good + "\n" + R"({"id":2,"token":1,"verdict":"snooze"})");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.err.find(R"(line 2: "delay_seconds" is missing; settled before it: 1 job)"), std::string::npos)
      << bad.err;
}

}  // namespace
}  // namespace leasehold::support
