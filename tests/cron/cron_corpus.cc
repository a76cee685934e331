// Prints random cron expressions and what leasehold makes of them, for others to be held against.
//
//   cron_corpus common|full SEED COUNT    expression, zone, after, normal form, the next five: a line each, with tabs
//   cron_corpus broken SEED COUNT         expression, its normal form or what is wrong with it
//
// The same seed gives the same lines. What is refused is left out of the first ones.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "core/schedule_plan.h"
#include "support/random_cron.h"

namespace leasehold::support {
namespace {

/// False if the expression is refused.
bool print_case(RandomCron& random) {
  const auto expression = random.expression();
  const auto cron = parse_cron(expression);
  if (!cron) return false;
  const auto zone = find_zone(random.zone());
  if (!zone) {
    std::cerr << zone.error().message << '\n';
    std::exit(1);
  }
  const auto after = random.moment(*zone);
  std::cout << expression << '\t' << zone->name() << '\t' << to_string(after) << '\t' << to_string(*cron);
  for (const auto next : occurrences(*cron, *zone, after, Timestamp::max(), 5)) std::cout << '\t' << to_string(next);
  std::cout << '\n';
  return true;
}

bool print_broken(RandomCron& random) {
  const auto expression = random.broken_expression();
  const auto cron = parse_cron(expression);
  std::cout << expression << '\t' << (cron ? to_string(*cron) : cron.error().message) << '\n';
  return true;
}

int run(std::string_view what, std::uint64_t seed, long count) {
  RandomCron random(seed, what == "common" ? RandomCron::Grammar::common : RandomCron::Grammar::full);
  const auto print = what == "broken" ? print_broken : print_case;
  while (count > 0) count -= print(random) ? 1 : 0;
  return 0;
}

}  // namespace
}  // namespace leasehold::support

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (argc != 4 || (what != "common" && what != "full" && what != "broken")) {
    std::cerr << "usage: cron_corpus common|full|broken SEED COUNT\n";
    return 2;
  }
  return leasehold::support::run(what, std::strtoull(argv[2], nullptr, 10), std::strtol(argv[3], nullptr, 10));
}
