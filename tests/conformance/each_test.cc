// Calls that travel together on PostgreSQL, as one statement where it has an each-form: to each its own answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <deque>
#include <thread>

#include "storage/postgres/backend.h"
#include "storage/postgres/connection.h"
#include "storage/postgres/each.h"
#include "storage/statements.h"
#include "support/sample_params.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

using postgres::CallGroup;
using storage::Cell;
using storage::Field;
using storage::Param;
using storage::PendingCall;
using storage::Row;
using storage::Rows;
using storage::Statement;
using storage::Type;
using namespace std::string_view_literals;

class EachFormTest : public ::testing::Test {
 protected:
  /// Sends the group as one command and fills in the answers.
  void send(CallGroup group, const postgres::Text& text) {
    const auto deadline = BootClock::now() + 20s;
    auto connection = postgres::Connection::connect(test_postgres_url(), deadline);
    ASSERT_TRUE(ok(connection));
    const auto params = postgres::transpose(group, postgres::Charset::unicode);
    const std::array commands = {postgres::Command{&text, &params}};
    const auto outcome = (*connection)->pipeline(commands, postgres::Naming::named, deadline);
    ASSERT_FALSE(outcome.failure.has_value()) << describe(outcome.failure->error);
    postgres::answer_group(group, outcome.results.back().get());
  }
};

TEST_F(EachFormTest, ValuesOfEveryTypeComeBackToTheirCall) {
  static constexpr std::array fields = {Field{"name", Type::text, true},      Field{"payload", Type::bytes, true},
                                        Field{"number", Type::integer, true}, Field{"flag", Type::boolean, true},
                                        Field{"at", Type::time, true},        Field{"span", Type::duration, true}};
  static constexpr Statement statement{0, "echo", storage::Access::write, false, fields, fields};
  // Call 2 gets two rows, and they come first.
  const postgres::Text text{.slot = 0,
                            .name = "echo",
                            .sql =
                                "SELECT n - 1, a, b, c, d, e, f FROM unnest($1, $2, $3, $4, $5, $6) WITH ORDINALITY "
                                "AS list(a, b, c, d, e, f, n), generate_series(1, c) ORDER BY n DESC"};
  const std::int64_t moment = 1'700'000'000'123'456;
  const std::array<Param, 6> first = {"mail"sv, "\xff\0"sv, std::int64_t{1}, std::int64_t{1}, moment, std::int64_t{30}};
  const std::array<Param, 6> silent = {"none"sv, ""sv, std::int64_t{0}, std::int64_t{0}, moment, std::int64_t{0}};
  const std::array<Param, 6> nulls = {Param(), Param(), std::int64_t{2}, Param(), Param(), Param()};
  std::deque<PendingCall> calls;
  std::vector<PendingCall*> group;
  for (const auto& params : {std::span(first), std::span(silent), std::span(nulls)}) {
    group.push_back(&calls.emplace_back(PendingCall{&statement, params, BootTime::max()}));
  }
  send(group, text);
  ASSERT_TRUE(ok(calls[0].answer));
  EXPECT_EQ(*calls[0].answer, (Rows{Row{"mail", std::string("\xff\0"sv), 1, 1, moment, 30}}));
  ASSERT_TRUE(ok(calls[1].answer));
  EXPECT_EQ(*calls[1].answer, Rows{});
  const Row empty{Cell(), Cell(), 2, Cell(), Cell(), Cell()};
  ASSERT_TRUE(ok(calls[2].answer));
  EXPECT_EQ(*calls[2].answer, (Rows{empty, empty}));
}

TEST_F(EachFormTest, EveryEachFormGivesTheColumnsOfItsStatement) {
  const TestStore store(StoreKind::postgres);
  const postgres::Texts texts(store.schema());
  for (int i = 0; i < sql::statement_count; ++i) {
    const auto& statement = sql::statement_at(i);
    if (postgres::dialect().each[static_cast<std::size_t>(i)].empty()) continue;
    SCOPED_TRACE(std::string(statement.name));
    const auto params = sample_params(statement);
    std::array<PendingCall, 2> calls = {PendingCall{&statement, params, BootTime::max()},
                                        PendingCall{&statement, params, BootTime::max()}};
    const std::array group = {&calls[0], &calls[1]};
    send(group, texts.each_of(statement));
    for (const auto& call : calls) {
      ASSERT_TRUE(ok(call.answer));
      for (const auto& row : *call.answer) expect_fits(statement, row);
    }
  }
}

/// Enough threads call at once that some of their calls must meet in a batch.
class SharedBatchTest : public ::testing::Test {
 protected:
  static constexpr std::size_t callers = 16;
  using Answers = std::vector<Result<Rows>>;

  /// Each caller asks with parameters of its own.
  template <typename ParamsOf>
  Answers ask_at_once(const Statement& statement, ParamsOf params_of, Duration patience) {
    Answers answers(callers, Result<Rows>(Rows{}));
    std::barrier start(static_cast<std::ptrdiff_t>(callers));
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < callers; ++i) {
      threads.emplace_back([&, i] {
        const auto params = params_of(i);
        start.arrive_and_wait();
        answers[i] = backend_->query(statement, params, BootClock::now() + patience);
      });
    }
    threads.clear();
    return answers;
  }

  static void expect_only_one_fails(const Answers& answers, std::size_t failing) {
    for (std::size_t i = 0; i < callers; ++i) {
      EXPECT_EQ(answers[i].ok(), i != failing) << "caller " << i << ok(answers[i]).message();
    }
  }

  TestStore store_{StoreKind::postgres};
  std::shared_ptr<storage::Backend> backend_ = store_.open_backend();
};

TEST_F(SharedBatchTest, ACallThatFailsIsFoundAmongTheOthers) {
  constexpr std::size_t failing = 11;
  for (int i = 0; i < sql::statement_count; ++i) {
    const auto& statement = sql::statement_at(i);
    const bool has_each_form = !postgres::dialect().each[static_cast<std::size_t>(i)].empty();
    const auto has_text = [](const Field& field) { return field.type == Type::text; };
    const auto text = std::find_if(statement.params.begin(), statement.params.end(), has_text);
    if (text == statement.params.end() || (!has_each_form && statement.name != "lock_release")) continue;
    SCOPED_TRACE(std::string(statement.name));
    const auto params_of = [&](std::size_t caller) {
      auto params = sample_params(statement);
      // PostgreSQL knows no text with a NUL in it.
      if (caller == failing) params[static_cast<std::size_t>(text - statement.params.begin())] = "a\0b"sv;
      return params;
    };
    expect_only_one_fails(ask_at_once(statement, params_of, 20s), failing);
  }
}

TEST_F(SharedBatchTest, ACallThatWaitsForARowLetsTheOthersPass) {
  constexpr std::size_t blocked = 5;
  std::array<std::string, callers> names;
  std::array<std::int64_t, callers> tokens{};
  auto store = store_.open();
  for (std::size_t i = 0; i < callers; ++i) {
    names[i] = "lock " + std::to_string(i);
    const auto grant = store.locks().acquire(names[i]);
    ASSERT_TRUE(ok(grant));
    tokens[i] = grant->token.value;
  }
  PgConnection blocker(test_postgres_url());
  blocker.run("BEGIN");
  blocker.run("SELECT FROM " + store_.table("lock") + " WHERE name = '" + names[blocked] + "' FOR UPDATE");
  const auto params_of = [&](std::size_t i) { return sql::LockRelease{names[i], tokens[i]}.params(); };
  auto answers = ask_at_once(sql::LockRelease::statement(), params_of, 2s);
  expect_only_one_fails(answers, blocked);
  ASSERT_FALSE(HasFailure());
  EXPECT_TRUE(fails(answers[blocked], Errc::busy));
  for (std::size_t i = 0; i < callers; ++i) {
    if (i == blocked) continue;
    ASSERT_EQ(answers[i]->size(), 1U);
    EXPECT_EQ(sql::LeaseAnswer::decode(std::move(answers[i]->front())).key, names[i]);
  }
}

}  // namespace
}  // namespace leasehold::support
