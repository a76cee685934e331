#include "storage/combiner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>

#include "storage/statements.h"
#include "support/results.h"

namespace leasehold::storage {
namespace {

using namespace std::chrono_literals;

/// Answers every call with its own first parameter.
void echo(std::span<PendingCall* const> calls) {
  for (auto* call : calls) {
    call->answer = Rows{Row{Cell(std::string(std::get<std::string_view>(call->params.front())))}};
  }
}

template <typename RunBatch>
Result<Rows> run_one(Combiner& combiner, PendingCall& call, RunBatch&& run_batch) {
  combiner.run(std::span(&call, 1), run_batch);
  return std::move(call.answer);
}

TEST(CombinerTest, ALoneCallerGetsItsAnswer) {
  Combiner combiner;
  const std::array<Param, 1> params{Param(std::string_view("deploy"))};
  PendingCall call{&sql::statement_at(0), params, BootClock::now() + 1s};
  const auto answer = run_one(combiner, call, echo);
  ASSERT_TRUE(support::ok(answer));
  EXPECT_EQ(std::get<std::string>(answer->front().front()), "deploy");
}

TEST(CombinerTest, ManyCallersGetTheirOwnAnswersFromFewerBatches) {
  constexpr int threads = 8;
  constexpr int rounds = 200;
  Combiner combiner;
  std::atomic<int> running{0};
  std::atomic<int> batches{0};
  std::atomic<int> wrong{0};
  std::barrier start(threads);
  std::vector<std::jthread> callers;
  for (int i = 0; i < threads; ++i) {
    callers.emplace_back([&, name = "caller-" + std::to_string(i)] {
      start.arrive_and_wait();
      for (int round = 0; round < rounds; ++round) {
        const std::array<Param, 1> params{Param(std::string_view(name))};
        PendingCall call{&sql::statement_at(0), params, BootClock::now() + 1s};
        const auto answer = run_one(combiner, call, [&](std::span<PendingCall* const> calls) {
          if (running.fetch_add(1) != 0) ++wrong;
          ++batches;
          echo(calls);
          running.fetch_sub(1);
        });
        if (std::get<std::string>(answer->front().front()) != name) ++wrong;
      }
    });
  }
  callers.clear();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_LE(batches.load(), threads * rounds);
}

TEST(CombinerTest, ABatchIsInOrderOfKeys) {
  Combiner combiner;
  std::atomic<bool> leader_is_in{false};
  std::atomic<bool> go_on{false};
  std::vector<std::string> seen;
  const auto run = [&](std::string_view name, bool hold) {
    const std::array<Param, 1> params{Param(name)};
    PendingCall call{&sql::statement_at(0), params, BootClock::now() + 10s};
    static_cast<void>(run_one(combiner, call, [&](std::span<PendingCall* const> calls) {
      leader_is_in = true;
      while (hold && !go_on) std::this_thread::yield();
      for (const auto* each : calls) seen.emplace_back(std::get<std::string_view>(each->params.front()));
      echo(calls);
    }));
  };
  std::jthread leader([&] { run("leader", true); });
  while (!leader_is_in) std::this_thread::yield();
  std::jthread second([&] { run("b", false); });
  std::jthread third([&] { run("a", false); });
  while (combiner.waiting() < 2) std::this_thread::yield();
  go_on = true;
  for (auto* thread : {&leader, &second, &third}) thread->join();
  EXPECT_EQ(seen, (std::vector<std::string>{"leader", "a", "b"}));
}

TEST(CombinerTest, ManyCallsThatAreAlikeTravelWithTheirLike) {
  Combiner combiner;
  std::atomic<bool> leader_is_in{false};
  std::atomic<bool> go_on{false};
  std::vector<std::string> batches;
  const auto run = [&](int statement, std::string_view name, bool alike) {
    const std::array<Param, 1> params{Param(name)};
    PendingCall call{.statement = &sql::statement_at(statement),
                     .params = params,
                     .deadline = BootClock::now() + 10s,
                     .alike = alike};
    static_cast<void>(run_one(combiner, call, [&](std::span<PendingCall* const> calls) {
      leader_is_in = true;
      while (!go_on) std::this_thread::yield();
      std::string names;
      for (const auto* each : calls) names += std::get<std::string_view>(each->params.front());
      batches.push_back(names);
      echo(calls);
    }));
  };
  std::vector<std::jthread> callers;
  std::size_t lined_up = 0;
  const auto line_up = [&](int statement, std::string_view name, bool alike) {
    callers.emplace_back(run, statement, name, alike);
    ++lined_up;
    while (combiner.waiting() < lined_up) std::this_thread::yield();
  };
  std::jthread leader([&] { run(0, "leader", false); });
  while (!leader_is_in) std::this_thread::yield();
  for (const auto* claim : {"a", "b", "c"}) line_up(1, claim, true);
  for (const auto* complete : {"d", "e", "f"}) line_up(2, complete, true);
  for (const auto* other : {"g", "h"}) line_up(0, other, false);
  go_on = true;
  callers.clear();
  leader.join();
  EXPECT_EQ(batches, (std::vector<std::string>{"leader", "abcgh", "def"}));
}

TEST(CombinerTest, CallsSentTogetherStayInOneBatchInTheirOrder) {
  Combiner combiner;
  std::vector<std::string> batches;
  const std::array<Param, 1> settle{Param(std::string_view("z"))};
  const std::array<Param, 1> claim{Param(std::string_view("a"))};
  std::vector<PendingCall> calls;
  calls.push_back({.statement = &sql::statement_at(1), .params = settle, .deadline = BootClock::now() + 1s, .turn = 0});
  calls.push_back({.statement = &sql::statement_at(0), .params = claim, .deadline = BootClock::now() + 1s, .turn = 1});
  combiner.run(calls, [&](std::span<PendingCall* const> batch) {
    std::string names;
    for (const auto* each : batch) names += std::get<std::string_view>(each->params.front());
    batches.push_back(names);
    echo(batch);
  });
  EXPECT_EQ(batches, std::vector<std::string>{"za"}) << "by key it would be the other way round";
  EXPECT_EQ(std::get<std::string>(calls[0].answer->front().front()), "z");
  EXPECT_EQ(std::get<std::string>(calls[1].answer->front().front()), "a");
}

TEST(CombinerTest, CallsSentTogetherTimeOutTogether) {
  Combiner combiner;
  std::atomic<bool> leader_is_in{false};
  std::atomic<bool> go_on{false};
  const std::array<Param, 1> params{Param(std::string_view("deploy"))};
  std::jthread leader([&] {
    PendingCall call{&sql::statement_at(0), params, BootClock::now() + 10s};
    static_cast<void>(run_one(combiner, call, [&](std::span<PendingCall* const> batch) {
      leader_is_in = true;
      while (!go_on) std::this_thread::yield();
      echo(batch);
    }));
  });
  while (!leader_is_in) std::this_thread::yield();
  std::vector<PendingCall> calls(2, PendingCall{&sql::statement_at(0), params, BootClock::now() + 10ms});
  combiner.run(calls, [](std::span<PendingCall* const>) { FAIL() << "the leader is not done"; });
  for (const auto& call : calls) EXPECT_TRUE(support::fails(call.answer, Errc::unavailable));
  go_on = true;
}

}  // namespace
}  // namespace leasehold::storage
