// Acts on rates.
#include "act/act.h"
#include "act/arguments.h"
#include "act/confirmations.h"

namespace leasehold::act {
namespace {

struct RateTake {
  std::string name{};
  std::string holder{};
  RateTakeOptions options{};
};

Described describe(Type<RateTake>) {
  static constexpr auto fields = fields_of<RateTake>({
      field<&RateTake::name>("name").as_name().needed(),
      inlined<&RateTake::options>(),
      field<&RateTake::holder>("holder").as_name().or_null().means("the name that other callers see"),
  });
  static const RateTake fresh;
  return {"RateTake", fields, &fresh};
}

struct RateSet {
  std::string name{};
  Duration every{};
  int burst = 1;
};

Described describe(Type<RateSet>) {
  static constexpr auto fields = fields_of<RateSet>({
      field<&RateSet::name>("name").as_name().needed(),
      field<&RateSet::every>("every_seconds").from(bounds::min_rate_interval, bounds::max_rate_interval).needed(),
      field<&RateSet::burst>("burst").from(1, bounds::max_burst),
  });
  static const RateSet fresh;
  return {"RateSet", fields, &fresh};
}

Result<RateTurn> rate_take(const Store& store, const RateTake& given, const Call& call) {
  return store.rates().take(given.name, given.options, as_holder(call, given.holder));
}

Result<RateInfo> rate_set(const Store& store, const RateSet& given, const Call& /*call*/) {
  if (auto set = store.rates().set(given.name, given.every, given.burst); !set) return std::move(set).error();
  return store.rates().show(given.name);
}

Result<RateInfo> rate_show(const Store& store, const ByName& given, const Call& /*call*/) {
  return store.rates().show(given.name);
}

Result<Page<RateInfo>> rate_list(const Store& store, const Nothing& /*given*/, const Call& /*call*/) {
  auto rates = store.rates().list();
  if (!rates) return std::move(rates).error();
  return Page<RateInfo>{.items = std::move(*rates)};
}

Result<Removed> rate_remove(const Store& store, const ByName& given, const Call& /*call*/) {
  if (auto removed = store.rates().remove(given.name); !removed) return std::move(removed).error();
  return Removed{given.name};
}

}  // namespace

std::span<const Act> rate_acts() {
  static constexpr Act acts[] = {
      act<rate_take>({
          .name = "rate.take",
          .help = "Wait for the caller's turn in a rate that several processes share",
          .scope = Scope::work,
          .sql = "rate_take",
          .waits = true,
          .patient = true,
          .refusals = refusals<Errc::rate_limited, Errc::busy, Errc::not_found>,
          .example = R"({"name":"orders-api","every_seconds":0.75,"wait_seconds":0})",
      }),
      act<rate_set>({
          .name = "rate.set",
          .help = "Create a rate or change it",
          .scope = Scope::admin,
          .sql = "rate_set",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"name":"orders-api","every_seconds":0.5,"burst":5})",
      }),
      act<rate_show>({
          .name = "rate.show",
          .help = "Show a rate",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"name":"orders-api"})",
      }),
      act<rate_list>({
          .name = "rate.list",
          .help = "List the rates",
          .idempotent = true,
          .example = "{}",
      }),
      act<rate_remove>({
          .name = "rate.remove",
          .help = "Remove a rate",
          .scope = Scope::admin,
          .sql = "rate_remove",
          .refusals = refusals<Errc::not_found>,
          .example = R"({"name":"orders-api"})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
