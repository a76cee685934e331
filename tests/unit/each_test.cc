#include "storage/postgres/each.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>

#include "support/results.h"

namespace leasehold::postgres {
namespace {

using storage::Access;
using storage::Cell;
using storage::Field;
using storage::Param;
using storage::PendingCall;
using storage::Row;
using storage::Rows;
using storage::Statement;
using storage::Type;
using namespace std::string_view_literals;

constexpr std::array params = {Field{"queue", Type::text, false}, Field{"n", Type::integer, true}};
constexpr std::array columns = {Field{"id", Type::integer, false}, Field{"payload", Type::bytes, true}};

constexpr Statement acquire{0, "lock_acquire", Access::write, false, params, columns};
constexpr Statement claim{1, "job_claim", Access::write, false, params, columns};
constexpr Statement heartbeat{2, "heartbeat", Access::write, true, params, columns};
constexpr std::array each_forms = {""sv, "SELECT ..."sv, "SELECT ..."sv};

/// Owns the parameters, which a PendingCall only borrows.
class Calls {
 public:
  PendingCall* add(const Statement& statement, std::string_view queue, Param n = std::int64_t{1}) {
    const auto& values = values_.emplace_back(std::array<Param, 2>{queue, n});
    return &calls_.emplace_back(PendingCall{.statement = &statement, .params = values, .deadline = BootTime::max()});
  }

 private:
  std::deque<std::array<Param, 2>> values_;
  std::deque<PendingCall> calls_;
};

std::string queue_of(const PendingCall* call) { return std::string(std::get<std::string_view>(call->params.front())); }

/// "lock_acquire: a | job_claim: b c"
std::string described(const std::vector<CallGroup>& groups) {
  std::string text;
  for (const auto group : groups) {
    text += (text.empty() ? "" : " | ") + std::string(group.front()->statement->name) + ":";
    for (const auto* call : group) text += " " + queue_of(call);
  }
  return text;
}

std::string bytes_of(const BinaryParams& encoded, int param) {
  return {encoded.values()[param], static_cast<std::size_t>(encoded.lengths()[param])};
}

TEST(EachTest, CallsOfOneStatementAreOneGroupBehindTheOthers) {
  Calls calls;
  std::vector<PendingCall*> batch = {calls.add(heartbeat, "a"), calls.add(claim, "b"),     calls.add(acquire, "c"),
                                     calls.add(claim, "d"),     calls.add(heartbeat, "e"), calls.add(acquire, "f")};
  sort_for_grouping(batch, each_forms);
  EXPECT_EQ(described(group_calls(batch, each_forms)),
            "lock_acquire: c | lock_acquire: f | job_claim: b d | heartbeat: a e");
  EXPECT_EQ(described(one_by_one(batch)),
            "lock_acquire: c | lock_acquire: f | job_claim: b | job_claim: d | heartbeat: a | heartbeat: e");
}

TEST(EachTest, SecondStatementsComeAfterAllFirstOnes) {
  Calls made;
  std::vector<PendingCall*> calls = {made.add(heartbeat, "a"), made.add(claim, "a"), made.add(heartbeat, "b"),
                                     made.add(claim, "b"), made.add(claim, "c")};
  for (auto* second : {calls[1], calls[3]}) second->turn = 1;
  sort_for_grouping(calls, each_forms);
  EXPECT_EQ(described(group_calls(calls, each_forms)), "job_claim: c | heartbeat: a b | job_claim: a b");
  for (auto* call : calls) call->statement = &claim;
  EXPECT_EQ(described(group_calls(calls, each_forms)), "job_claim: c a b | job_claim: a b") << "a turn is not mixed";
}

TEST(EachTest, ALoneCallIsAGroupOfItsOwn) {
  Calls calls;
  std::vector<PendingCall*> batch = {calls.add(claim, "a")};
  sort_for_grouping(batch, each_forms);
  EXPECT_EQ(described(group_calls(batch, each_forms)), "job_claim: a");
  EXPECT_TRUE(group_calls({}, each_forms).empty());
}

TEST(EachTest, EveryParameterBecomesTheArrayOfTheCallsValues) {
  Calls calls;
  const std::vector<PendingCall*> group = {calls.add(claim, "mail", std::int64_t{258}), calls.add(claim, "", Param())};
  const auto encoded = transpose(group, Charset::unicode);
  ASSERT_EQ(encoded.count(), 2);
  EXPECT_EQ(encoded.types()[0], 1009U);
  EXPECT_EQ(encoded.types()[1], 1016U);
  // One dimension, no NULL, text; two elements from index 1; lengths and bytes.
  EXPECT_EQ(bytes_of(encoded, 0),
            "\0\0\0\1"
            "\0\0\0\0"
            "\0\0\0\x19"
            "\0\0\0\2"
            "\0\0\0\1"
            "\0\0\0\4mail"
            "\0\0\0\0"sv);
  EXPECT_EQ(bytes_of(encoded, 1),
            "\0\0\0\1"
            "\0\0\0\1"
            "\0\0\0\x14"
            "\0\0\0\2"
            "\0\0\0\1"
            "\0\0\0\x8\0\0\0\0\0\0\1\2"
            "\xff\xff\xff\xff"sv);
}

TEST(EachTest, RowsGoToTheCallTheyBelongTo) {
  Calls calls;
  const std::vector<PendingCall*> group = {calls.add(claim, "a"), calls.add(claim, "b"), calls.add(claim, "c")};
  distribute(group, Rows{Row{2, 21, "x"}, Row{0, 1, Cell()}, Row{2, 22, "y"}});
  ASSERT_TRUE(support::ok(group[0]->answer));
  EXPECT_EQ(*group[0]->answer, (Rows{Row{1, Cell()}}));
  ASSERT_TRUE(support::ok(group[1]->answer));
  EXPECT_EQ(*group[1]->answer, Rows{});
  ASSERT_TRUE(support::ok(group[2]->answer));
  EXPECT_EQ(*group[2]->answer, (Rows{Row{21, "x"}, Row{22, "y"}}));
}

TEST(EachTest, AnAnswerWithoutACallerIsDamage) {
  for (const Cell& number : {Cell(2), Cell(-1), Cell()}) {
    Calls calls;
    const std::vector<PendingCall*> group = {calls.add(claim, "a"), calls.add(claim, "b")};
    distribute(group, Rows{Row{0, 1, Cell()}, Row{number, 2, Cell()}});
    EXPECT_TRUE(support::fails(group[0]->answer, Errc::damaged));
    EXPECT_TRUE(support::fails(group[1]->answer, Errc::damaged));
  }
}

TEST(EachTest, AnErrorIsEverybodysAnswer) {
  Calls calls;
  const std::vector<PendingCall*> group = {calls.add(claim, "a"), calls.add(claim, "b")};
  distribute(group, Error{.code = Errc::unavailable, .message = "gone"});
  EXPECT_TRUE(support::fails(group[0]->answer, Errc::unavailable));
  EXPECT_TRUE(support::fails(group[1]->answer, Errc::unavailable));
}

}  // namespace
}  // namespace leasehold::postgres
