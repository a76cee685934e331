// Random cron expressions, zones and moments: the same ones for the same seed.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>

#include "core/zone.h"
#include "leasehold/time.h"

namespace leasehold::support {

class RandomCron {
 public:
  /// Only expressions that other programs understand, too, or all that leasehold understands.
  enum class Grammar { common, full };

  RandomCron(std::uint64_t seed, Grammar grammar) : engine_(seed), grammar_(grammar) {}

  /// Five or six fields. Now and then one that is refused, because no month has such a day.
  std::string expression();

  /// The same with one character too many, too few, or another one: mostly wrong.
  std::string broken_expression();

  /// Zones of every kind: with summer time of an hour, of half an hour, over midnight, in the south, without.
  std::string zone();

  /// From 2000 to 2100, every other time near a change of the clocks.
  Timestamp moment(const Zone& zone);

 private:
  struct Field {
    int lowest;
    int highest;
    std::span<const std::string_view> names{};
  };

  int between(int lowest, int highest) { return std::uniform_int_distribution(lowest, highest)(engine_); }
  bool one_in(int chance) { return between(1, chance) == 1; }

  std::string numbers(const Field& field, int chance_of_all);
  std::string item(const Field& field);
  std::string value(const Field& field, int number);
  std::string range(const Field& field);
  std::string day_of_month();
  std::string day_of_week();

  std::mt19937_64 engine_;
  Grammar grammar_;
};

}  // namespace leasehold::support
