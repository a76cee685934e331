#include "model/bounds.h"

#include <gtest/gtest.h>

#include "model/described.h"
#include "support/results.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

/// As it arrives there: with what may be left out.
SessionOptions session_with(void (*change)(SessionOptions&)) {
  SessionOptions options{.id = "s-1", .request_id = "r-1"};
  change(options);
  return options;
}

::testing::AssertionResult refused(void (*change)(SessionOptions&)) {
  return fails(model::check_fields_of(session_with(change)), Errc::invalid_argument);
}
::testing::AssertionResult refused(const ItemOptions& options) {
  return fails(check_item("SD-1", options), Errc::invalid_argument);
}

TEST(SessionLimitsTest, ASessionMayBeAnythingWithinReason) {
  EXPECT_TRUE(ok(model::check_fields_of(session_with([](auto&) {}))));
  EXPECT_TRUE(ok(model::check_fields_of(session_with([](auto& options) {
    options.id = std::string(512, 'x');
    options.label = "two\nlines \xF0\x9F\x94\x92";
    options.codebase = std::string(4096, 'x');
    options.metadata = "\"" + std::string(bounds::metadata_bytes - 2, 'x') + "\"";
    options.max_age = 24h;
  }))));
}

TEST(SessionLimitsTest, SessionValuesBeyondTheBoundsAreRefused) {
  EXPECT_TRUE(refused([](auto& options) { options.id = "two\nlines"; }));
  EXPECT_TRUE(refused([](auto& options) { options.id = std::string(513, 'x'); }));
  EXPECT_TRUE(refused([](auto& options) { options.ttl = 1ms; }));
  EXPECT_TRUE(refused([](auto& options) { options.label = "a\0b"s; }));
  EXPECT_TRUE(refused([](auto& options) { options.codebase = "\xFF"; }));
  EXPECT_TRUE(refused([](auto& options) { options.track = std::string(4097, 'x'); }));
  EXPECT_TRUE(refused([](auto& options) { options.metadata = "not JSON"; }));
  EXPECT_TRUE(refused([](auto& options) { options.metadata = ""; }));
  EXPECT_TRUE(refused([](auto& options) { options.metadata = std::string(bounds::metadata_bytes, ' ') + "1"; }));
  EXPECT_TRUE(refused([](auto& options) { options.max_age = 0s; }));
  EXPECT_TRUE(refused([](auto& options) { options.max_age = Duration::max(); }));
  EXPECT_FALSE(check_call({.holder = Holder{}}).ok()) << "without a name";
}

TEST(SessionLimitsTest, SilenceIsDeclaredForHalfADayAtMost) {
  EXPECT_TRUE(ok(check_silence(0s)));
  EXPECT_TRUE(ok(check_silence(12h)));
  EXPECT_FALSE(check_silence(12h + 1us).ok());
  EXPECT_FALSE(check_silence(-1us).ok());
}

TEST(SessionLimitsTest, ProgressIsText) {
  EXPECT_TRUE(ok(model::check_fields_of(SessionHeartbeat{})));
  EXPECT_TRUE(ok(model::check_fields_of(SessionHeartbeat{.progress = ""})));
  EXPECT_FALSE(model::check_fields_of(SessionHeartbeat{.progress = std::string(4097, 'x')}).ok());
}

TEST(SessionLimitsTest, AnItemHasATitleAParentAndConflicts) {
  EXPECT_TRUE(ok(check_item("SD-1", {})));
  EXPECT_TRUE(ok(check_item("SD-1", {.title = std::string(bounds::title_bytes, '\n'),
                                     .parent = "",
                                     .metadata = "null",
                                     .conflicts = {{"SD-2", "SD-3"}}})));
  EXPECT_TRUE(fails(check_item("", {}), Errc::invalid_argument));
  EXPECT_TRUE(refused({.title = std::string(bounds::title_bytes + 1, 'x')}));
  EXPECT_TRUE(refused({.title = "a\0b"s}));
  EXPECT_TRUE(refused({.parent = "SD-1"})) << "its own parent";
  EXPECT_TRUE(refused({.parent = "two\nlines"}));
  EXPECT_TRUE(refused({.metadata = "{"}));
  EXPECT_TRUE(refused({.conflicts = {{"SD-1"}}})) << "with itself";
  EXPECT_TRUE(refused({.conflicts = {{""}}}));
}

}  // namespace
}  // namespace leasehold::support
