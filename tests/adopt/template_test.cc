#include "adopt/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adopt/database.h"

namespace leasehold::adopt {
namespace {

using testing::HasSubstr;

TEST(TemplateTest, ValuesAreFilledInAndSpanLinesAtTheirIndent) {
  const auto steps = render("--: step prepare function f({types})\nBEGIN\n  {body}\nEND", "t.sql",
                            {{"types", "text"}, {"body", "a;\nb;"}});
  ASSERT_TRUE(steps.ok());
  EXPECT_EQ(steps->front().name, "f(text)");
  EXPECT_EQ(steps->front().up, "BEGIN\n  a;\n  b;\nEND");
  EXPECT_EQ(steps->front().down, "DROP FUNCTION f(text)");
}

TEST(TemplateTest, ConditionsKeepOrDropLinesAndWholeSteps) {
  constexpr auto text =
      "--: step prepare view v\nSELECT 1\n--: if more\n, 2\n--: else\n, 3\n--: end\n--: if not more\n--: step prepare "
      "view w\nx\n--: end\n";
  const auto with = render(text, "t.sql", {{"more", "yes"}});
  ASSERT_TRUE(with.ok());
  ASSERT_EQ(with->size(), 1U);
  EXPECT_EQ(with->front().up, "SELECT 1\n, 2");
  const auto without = render(text, "t.sql", {{"more", ""}});
  ASSERT_TRUE(without.ok());
  ASSERT_EQ(without->size(), 2U);
  EXPECT_EQ(without->front().up, "SELECT 1\n, 3");
}

TEST(TemplateTest, OtherBracesStay) {
  const auto steps = render("--: step prepare view v\nSELECT '{}', '{1}', '{ a }', {a}", "t.sql", {{"a", "7"}});
  ASSERT_TRUE(steps.ok());
  EXPECT_EQ(steps->front().up, "SELECT '{}', '{1}', '{ a }', 7");
}

TEST(TemplateTest, AMistakeNamesFileAndLine) {
  EXPECT_THAT(render("--: step prepare view v\n{nothing}", "t.sql", {}).error().message, HasSubstr("t.sql:2"));
  EXPECT_THAT(render("--: if a\n", "t.sql", {{"a", ""}}).error().message, HasSubstr("`if` without `end`"));
  EXPECT_THAT(render("--: end\n", "t.sql", {}).error().message, HasSubstr("t.sql:1"));
  EXPECT_THAT(render("--: dance\n", "t.sql", {}).error().message, HasSubstr("dance"));
}

TEST(ArgumentsTest, OnlyPlaceholdersOutsideOfQuotesAndCommentsAreReplaced) {
  const Arguments arguments = {{"a", "it's"}, {"b", std::nullopt}};
  EXPECT_EQ(with_arguments("SELECT :a, ':a', \":a\", x::text, :b, :other -- :a\n, :a /* :a */", arguments),
            "SELECT 'it''s', ':a', \":a\", x::text, NULL, :other -- :a\n, 'it''s' /* :a */");
}

TEST(QuoteTest, NamesAreQuotedOnlyWhereTheyMustBe) {
  EXPECT_EQ(storage::quote_name("sync_jobs"), "sync_jobs");
  EXPECT_EQ(storage::quote_name("order"), "\"order\"");
  EXPECT_EQ(storage::quote_name("Sync Jobs"), "\"Sync Jobs\"");
  EXPECT_EQ(storage::quote_name("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(storage::quote_literal("it's"), "'it''s'");
}

}  // namespace
}  // namespace leasehold::adopt
