#include "observe/log.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <thread>
#include <vector>

#include "base/json.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;
using observe::Log;
using observe::log_line;
using observe::LogForm;
using observe::LogKey;
using observe::LogLevel;
using observe::without_secrets;

const Timestamp noon = std::chrono::sys_days(std::chrono::year(2026) / 11 / 19) + 12h;

/// The output of a log with these settings.
template <typename Use>
std::string written(LogForm form, LogLevel least, Use use) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  Log log(ends[1], form, least);
  use(log);
  ::close(ends[1]);
  std::string all;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof(part))) > 0;)
    all.append(part, static_cast<std::size_t>(got));
  ::close(ends[0]);
  return all;
}

TEST(LogTest, ALineIsJson) {
  const auto line = log_line(true, noon, LogLevel::info, "request",
                             {{LogKey::method, "POST"}, {LogKey::status, 200}, {LogKey::took, 1500us}});
  EXPECT_EQ(line, R"({"at":"2026-11-19T12:00:00Z","level":"info","message":"request","method":"POST","status":200,)"
                  R"("took_seconds":0.0015})");
}

TEST(LogTest, ALineForPeopleIsLogfmt) {
  const auto line = log_line(false, noon, LogLevel::warning, "slow store",
                             {{LogKey::act, "job.claim"}, {LogKey::detail, "waited for a lock"}});
  EXPECT_EQ(line, R"(2026-11-19T12:00:00Z warning "slow store" act=job.claim detail="waited for a lock")");
}

TEST(LogTest, AnyBytesMakeOneLineOfJson) {
  for (const std::string text : {"a\"b\\c", "line\nbreak\r\t\x1b[31mred", "\xff\xfe broken", "\xc2\x9b", "", "\x7f"}) {
    const auto line = log_line(true, noon, LogLevel::info, text, {{LogKey::path, text}, {LogKey::detail, text}});
    EXPECT_TRUE(is_json_object(line)) << line;
    EXPECT_EQ(line.find_first_of("\n\r\t\x1b\x7f"), std::string::npos) << line;
    EXPECT_EQ(line.find("\xc2\x9b"), std::string::npos) << line;
    const auto for_people = log_line(false, noon, LogLevel::info, text, {{LogKey::path, text}});
    EXPECT_EQ(for_people.find_first_of("\n\r\t\x1b\x7f"), std::string::npos) << for_people;
  }
}

TEST(LogTest, NoTokenAppearsInALine) {
  const std::string secret = "lht_9f86d081884c7d659a2feaa0c55ad015";
  for (const auto* const key : {"Authorization: Bearer ", "cookie lht=", "refused ", "\"", "a/", "x="}) {
    for (const bool json : {true, false}) {
      const auto text = key + secret + "\" tail";
      const auto line = log_line(json, noon, LogLevel::error, text,
                                 {{LogKey::detail, text}, {LogKey::path, text}, {LogKey::actor, text}});
      EXPECT_EQ(line.find("9f86"), std::string::npos) << line;
      EXPECT_EQ(line.find("d015"), std::string::npos) << line;
      EXPECT_NE(line.find("tail"), std::string::npos) << line;
    }
  }
}

TEST(LogTest, NoFencingTokenAppearsInALine) {
  for (const std::string text :
       {"token 1794988961482798 is stale", "session ann.1794988961482798", "1794988961482798"}) {
    const auto line = log_line(true, noon, LogLevel::error, text, {{LogKey::detail, text}});
    EXPECT_EQ(line.find("482798"), std::string::npos) << line;
  }
  EXPECT_EQ(without_secrets("job 1234567 of 2026-11-19"), "job 1234567 of 2026-11-19");
}

TEST(LogTest, NoPasswordOfAUrlAppearsInALine) {
  EXPECT_EQ(without_secrets("cannot open postgresql://app:s3cr@t@db:5432/app?sslmode=require"),
            "cannot open postgresql://[removed]@db:5432/app?sslmode=require");
  EXPECT_EQ(without_secrets("postgresql://db/app?password=s3cret&x=1"), "postgresql://db/app?[removed]&x=1");
  EXPECT_EQ(without_secrets("http://127.0.0.1:7420/x"), "http://127.0.0.1:7420/x");
}

TEST(LogTest, TheQueryOfAPathDoesNotAppear) {
  const auto line = log_line(true, noon, LogLevel::info, "request",
                             {{LogKey::path, R"(/api/v1/job/search?text=my%20payload&queue=mail#x)"}});
  EXPECT_NE(line.find(R"("path":"/api/v1/job/search")"), std::string::npos) << line;
  EXPECT_EQ(line.find("payload"), std::string::npos) << line;
}

TEST(LogTest, LongTextsAreCut) {
  EXPECT_LE(without_secrets(std::string(100000, 'x')).size(), 300U);
  const auto at_the_cut = without_secrets(std::string(297, 'x') + "\xF0\x9F\x94\x92");
  EXPECT_EQ(at_the_cut, std::string(297, 'x'));
}

TEST(LogTest, LinesBelowTheLevelAreNotWritten) {
  const auto all = written(LogForm::json, LogLevel::warning, [](Log& log) {
    log.debug("one");
    log.info("two");
    log.warning("three");
    log.error("four");
    EXPECT_FALSE(log.writes(LogLevel::info));
  });
  EXPECT_EQ(all.find("two"), std::string::npos);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2);
}

TEST(LogTest, APipeGetsJsonUnlessSetOtherwise) {
  EXPECT_TRUE(written(LogForm::automatic, LogLevel::info, [](Log& log) { log.info("one"); }).starts_with('{'));
  EXPECT_FALSE(written(LogForm::logfmt, LogLevel::info, [](Log& log) { log.info("one"); }).starts_with('{'));
}

TEST(LogTest, LinesOfThreadsDoNotMix) {
  const auto all = written(LogForm::json, LogLevel::info, [](Log& log) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&log] {
        for (int i = 0; i < 50; ++i) log.info("a line", {{LogKey::detail, std::string(200, 'x')}});
      });
    }
    for (auto& thread : threads) thread.join();
  });
  std::istringstream lines(all);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_TRUE(is_json_object(line)) << line;
  EXPECT_EQ(count, 200);
}

}  // namespace
}  // namespace leasehold::support
