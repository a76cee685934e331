#include "sim/arguments.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <type_traits>

namespace leasehold::sim {

const char* const usage = R"(leasehold-sim: many clients, all features, every kind of fault; one seed is one run

  --seed N         of the first run; the next runs have the next seeds. Default: drawn at random, and printed
  --steps N        of all runs together (100000)
  --run-steps N    of one run (5000)
  --clients N      that fight over the same things, 1 to 50 (5)
  --feature NAME   only this one: lock, job, chunk, session, schedule, operate; may be given several times
  --no-FAULT       without one kind of fault: crash, pause, lose-request, lose-reply, delay-reply, repeat-request,
                   lose-wakeup, step-wall, reboot, restore
  --replay SEED    one run, with its whole trace
  --drop LIST      leave out these acts: 3,7-9
  --unfenced       holders write without the fence: I1 must break
  --shrink         make a failing run small
  --svg FILE       draw the timeline of the failing run; without a violation, of the last one
  --json           the result as JSON, on one line

Exit: 0 nothing was violated, 1 something was, 2 usage.
)";

namespace {

Error wrong(std::string message) { return {.code = Errc::invalid_argument, .message = std::move(message)}; }

template <typename T>
std::optional<T> number_from(std::string_view text) {
  T value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "3,7-9"
std::optional<std::set<std::int64_t>> numbers_from(std::string_view text) {
  constexpr std::int64_t max = 10'000'000;
  std::set<std::int64_t> numbers;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const auto dash = part.find('-');
    const auto from = number_from<std::int64_t>(part.substr(0, dash));
    const auto to = dash == std::string_view::npos ? from : number_from<std::int64_t>(part.substr(dash + 1));
    if (!from || !to || *from > *to || *to > max) return std::nullopt;
    for (auto one = *from; one <= *to; ++one) numbers.insert(one);
  }
  return numbers;
}

class Parser {
 public:
  explicit Parser(std::span<char* const> words) : words_(words) {}

  Result<Arguments> go() {
    while (at_ < words_.size()) {
      const std::string_view word = words_[at_++];
      if (!take_switch(word) && !take_value(word)) {
        return wrong(problem_.empty() ? "what is \"" + std::string(word) + "\"?" : problem_);
      }
    }
    if (!features_.empty()) arguments_.run.features = features_;
    return arguments_;
  }

 private:
  bool take_switch(std::string_view word) {
    if (word == "--shrink") return arguments_.shrink = true;
    if (word == "--json") return arguments_.json = true;
    if (word == "--help" || word == "-h") return arguments_.help = true;
    if (word == "--unfenced") {
      arguments_.run.fenced = false;
      return true;
    }
    if (!word.starts_with("--no-")) return false;
    const auto fault = fault_from(word.substr(5));
    return fault && arguments_.run.faults.erase(*fault) <= 1;
  }

  bool take_value(std::string_view word) {
    if (word == "--seed") return take_seed();
    if (word == "--replay") return arguments_.replay = take_seed();
    if (word == "--steps") return take_number(arguments_.steps, 1, 1'000'000'000);
    if (word == "--run-steps") return take_number(arguments_.run.steps, 1, 100'000'000);
    if (word == "--clients") return take_number(arguments_.run.clients, 1, 50);
    if (word == "--feature") return take_feature();
    if (word == "--drop") return take_drops();
    if (word != "--svg") return false;
    arguments_.svg = value();
    return !arguments_.svg.empty() || fails("--svg needs a file");
  }

  std::string_view value() { return at_ < words_.size() ? std::string_view(words_[at_++]) : std::string_view(); }

  bool take_seed() {
    const auto seed = number_from<std::uint64_t>(value());
    if (!seed) return fails("a seed is a number");
    arguments_.run.seed = *seed;
    return arguments_.seed_given = true;
  }
  template <typename T>
  bool take_number(T& into, std::type_identity_t<T> min, std::type_identity_t<T> max) {
    const auto number = number_from<T>(value());
    if (!number || *number < min || *number > max) {
      return fails("a number from " + std::to_string(min) + " to " + std::to_string(max) + " is needed");
    }
    into = *number;
    return true;
  }
  bool take_feature() {
    const auto feature = feature_from(value());
    if (!feature) return fails("there is no such feature");
    features_.insert(*feature);
    return true;
  }
  bool take_drops() {
    const auto drops = numbers_from(value());
    if (!drops) return fails("acts are dropped as 3,7-9");
    arguments_.run.dropped = *drops;
    return true;
  }
  bool fails(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  std::span<char* const> words_;
  std::size_t at_ = 0;
  Arguments arguments_;
  std::set<Feature> features_;
  std::string problem_;
};

}  // namespace

Result<Arguments> parse_arguments(std::span<char* const> words) { return Parser(words).go(); }

}  // namespace leasehold::sim
