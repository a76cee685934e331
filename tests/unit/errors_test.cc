// The table of error codes, and what the store's words are read as.
#include "model/errors.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "storage/statement.h"

namespace leasehold {
namespace {

using Codes = std::set<Errc>;

/// The matches of `pattern` in each line of a file of the project.
std::vector<std::smatch> found_in(const std::string& file, const std::string& pattern,
                                  std::vector<std::string>& lines) {
  std::ifstream in(LEASEHOLD_SOURCE_DIR "/" + file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const std::regex wanted(pattern);
  std::vector<std::smatch> found;
  for (const auto& line : lines) {
    if (std::smatch match; std::regex_search(line, match, wanted)) found.push_back(match);
  }
  return found;
}

template <typename Predicate>
Codes all(Predicate predicate) {
  Codes codes;
  for (const auto& row : errc_table) {
    if (predicate(row.code)) codes.insert(row.code);
  }
  return codes;
}

TEST(Errors, EveryWordIsReadBack) {
  for (const auto& row : errc_table) {
    EXPECT_STREQ(to_string(row.code), row.word);
    EXPECT_EQ(errc_from(row.word), row.code) << row.word;
  }
  EXPECT_EQ(errc_from("granted"), std::nullopt);
  EXPECT_EQ(errc_from(""), std::nullopt);
}

TEST(Errors, EveryCodeIsExplainedWhereItIsDeclared) {
  std::vector<std::string> lines;
  const auto declared = found_in("include/leasehold/result.h", R"(^  (\w+), +///< \w)", lines);
  ASSERT_EQ(declared.size(), errc_table.size());
  for (std::size_t i = 0; i < declared.size(); ++i) EXPECT_EQ(declared[i][1], errc_table[i].word);
}

TEST(Errors, TheToolEndsAsTheManualSays) {
  std::vector<std::string> lines;
  const auto rows = found_in("docs/sessions.md", R"(^\| `(\w+)` \| (\d+) \|)", lines);
  ASSERT_GE(rows.size(), 8U);
  for (const auto& row : rows) {
    const auto code = errc_from(row[1].str());
    ASSERT_TRUE(code) << row[1];
    EXPECT_EQ(row_of(*code).exit_status, std::stoi(row[2])) << row[1];
  }
  const auto ending_with = [](int status) {
    return all([=](Errc code) { return row_of(code).exit_status == status; });
  };
  EXPECT_EQ(ending_with(2), Codes({Errc::invalid_argument}));
  EXPECT_EQ(ending_with(3), Codes({Errc::empty, Errc::not_due, Errc::terminal}));
  EXPECT_EQ(ending_with(4), Codes({Errc::not_found}));
  EXPECT_EQ(ending_with(69), Codes({Errc::unavailable, Errc::in_doubt}));
  EXPECT_EQ(ending_with(75), Codes({Errc::held, Errc::busy, Errc::at_capacity, Errc::paused, Errc::rate_limited,
                                    Errc::race, Errc::blocked}));
  EXPECT_EQ(ending_with(76), Codes({Errc::lost, Errc::unregistered}));
  EXPECT_EQ(ending_with(1), Codes({Errc::reentry, Errc::mismatch, Errc::schema_missing, Errc::schema_newer,
                                   Errc::unauthorized, Errc::denied, Errc::damaged, Errc::internal}));
}

TEST(Errors, NoErrorIsASuccessOverHttp) {
  for (const auto& row : errc_table) EXPECT_TRUE(row.http_status >= 400 && row.http_status < 600) << row.word;
}

TEST(Errors, CallersBranchOnWhatTheTableSays) {
  EXPECT_EQ(all(may_wait), Codes({Errc::held, Errc::busy, Errc::empty, Errc::at_capacity, Errc::paused, Errc::not_due,
                                  Errc::rate_limited, Errc::race, Errc::blocked}));
  EXPECT_EQ(all(may_repeat), Codes({Errc::busy, Errc::unavailable, Errc::in_doubt}));
  EXPECT_EQ(all(ends_lease), Codes({Errc::lost, Errc::not_found, Errc::damaged}));
  EXPECT_EQ(all(is_store_trouble), Codes({Errc::unavailable, Errc::in_doubt, Errc::schema_missing, Errc::schema_newer,
                                          Errc::denied, Errc::damaged}));
}

TEST(Outcome, IsDoneOrRefusedOrUnknown) {
  const storage::Outcome granted("granted");
  EXPECT_TRUE(granted.done());
  EXPECT_TRUE(granted.is(Reply::granted));
  EXPECT_FALSE(granted.is(Reply::extended));
  for (const auto& row : reply_table) {
    const storage::Outcome read{std::string(row.word)};
    EXPECT_TRUE(read.is(row.reply)) << row.word;
    EXPECT_EQ(read.done(), row.done) << row.word;
  }
  for (const auto& row : errc_table) {
    const storage::Outcome refused{std::string(row.word)};
    EXPECT_FALSE(refused.done()) << row.word;
    EXPECT_EQ(refused.refusal(), row.code);
  }
  for (const auto* word : {"", "plan", "perhaps"}) {
    const storage::Outcome odd{std::string(word)};
    EXPECT_FALSE(odd.done()) << word;
    EXPECT_EQ(odd.refusal(), Errc::internal) << word;
  }
}

TEST(Errors, ADetailIsFoundByNameAndType) {
  Error error{.code = Errc::paused, .message = ""};
  error.detail = {{"pause_reason", "holidays"}, {"paused_for", Duration(7)}};
  ASSERT_NE(error.find<std::string>("pause_reason"), nullptr);
  EXPECT_EQ(*error.find<std::string>("pause_reason"), "holidays");
  EXPECT_EQ(*error.find<Duration>("paused_for"), Duration(7));
  EXPECT_EQ(error.find<Duration>("pause_reason"), nullptr);
  EXPECT_EQ(error.find<std::string>("paused_by"), nullptr);
}

}  // namespace
}  // namespace leasehold
