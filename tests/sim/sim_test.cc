// The simulator in ./test-all: runs within a fixed budget, and checks of the simulator itself.
#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <vector>

#include "sim/actor.h"
#include "sim/arguments.h"
#include "sim/campaign.h"
#include "sim/shrink.h"
#include "sim/svg.h"

namespace leasehold::sim {
namespace {

void keep_quiet(const Campaign&) {}

/// A run in which holders write without the fence: sooner or later a late one does harm.
std::optional<Report> unfenced_failure() {
  RunOptions options{.seed = 1, .steps = 5000};
  options.fenced = false;
  auto campaign = run_many(options, 100'000, keep_quiet);
  if (!campaign.failed()) return std::nullopt;
  return std::move(campaign.last);
}

Result<Arguments> parsed(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  return parse_arguments(pointers);
}

TEST(SimulatorTest, NothingIsViolatedAndEverythingIsExercised) {
  const auto campaign = run_many({.seed = 1, .steps = 5000}, 60'000, keep_quiet);
  ASSERT_FALSE(campaign.failed()) << campaign.last->violation->invariant << ": " << campaign.last->violation->what
                                  << "\nleasehold-sim " << arguments_of(campaign.last->options);
  for (const auto& act : all_acts()) {
    EXPECT_TRUE(campaign.answers.contains(std::string(act.name) + ": ok")) << act.name << " never went well";
  }
  for (const auto fault : all_faults) EXPECT_TRUE(campaign.faults.contains(fault)) << to_string(fault);
}

TEST(SimulatorTest, NothingIsViolatedWithARandomSeed) {
  const RunOptions options{.seed = std::random_device{}(), .steps = 5000};
  std::cout << "seed " << options.seed << std::endl;
  const auto campaign = run_many(options, 15'000, keep_quiet);
  EXPECT_FALSE(campaign.failed()) << campaign.last->violation->invariant << ": " << campaign.last->violation->what
                                  << "\nleasehold-sim " << arguments_of(campaign.last->options);
}

TEST(SimulatorTest, TheSameSeedGivesTheSameTrace) {
  const RunOptions options{.seed = 42, .steps = 3000};
  const auto first = run(options);
  const auto other = run({.seed = 43, .steps = 3000});
  const auto again = run(options);
  EXPECT_EQ(first.notes.lines(), again.notes.lines());
  EXPECT_NE(first.notes.lines(), other.notes.lines());
}

TEST(SimulatorTest, WithoutTheFenceALateWriteIsFoundAndMadeSmall) {
  auto failure = unfenced_failure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->violation->invariant, "I1");
  const auto steps = failure->steps;
  const auto small = shrink(std::move(*failure), 60, [](const Report&) {});
  ASSERT_TRUE(small.violation);
  EXPECT_EQ(small.violation->invariant, "I1");
  EXPECT_LE(small.steps, steps);
  EXPECT_LT(small.options.faults.size(), all_faults.size());

  const auto arguments = parsed(arguments_of(small.options));
  ASSERT_TRUE(arguments.ok());
  const auto again = run(arguments->run);
  ASSERT_TRUE(again.violation);
  EXPECT_EQ(again.violation->what, small.violation->what);
  EXPECT_EQ(again.notes.lines(), small.notes.lines());

  const auto drawing = timeline_svg(small, 300);
  EXPECT_NE(drawing.find("I1: a write"), std::string::npos);
  EXPECT_NE(drawing.find("rx=\"3\""), std::string::npos) << "no grant is drawn";
}

TEST(SimulatorTest, ArgumentsThatMakeNoSenseAreRefused) {
  for (const auto* text : {"--bogus", "--seed", "--seed x", "--steps 0", "--clients 51", "--feature locks", "--no-luck",
                           "--drop 3-", "--svg"}) {
    EXPECT_FALSE(parsed(text).ok()) << text;
  }
  const auto arguments = parsed("--replay 7 --feature lock --feature job --no-crash --drop 3,7-9 --clients 2");
  ASSERT_TRUE(arguments.ok());
  EXPECT_TRUE(arguments->replay);
  EXPECT_EQ(arguments->run.seed, 7U);
  EXPECT_EQ(arguments->run.features, (std::set{Feature::lock, Feature::job}));
  EXPECT_FALSE(arguments->run.faults.contains(Fault::crash));
  EXPECT_EQ(arguments->run.dropped, (std::set<std::int64_t>{3, 7, 8, 9}));
}

}  // namespace
}  // namespace leasehold::sim
