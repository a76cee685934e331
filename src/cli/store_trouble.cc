#include "cli/store_trouble.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "cli/print/print.h"

namespace leasehold::cli {
namespace {

constexpr Duration briefest_pause = std::chrono::milliseconds(50);
constexpr Duration between_looks = std::chrono::seconds(1);

}  // namespace

Result<Store> open_within(Duration& wait, const Context& context, Opening opening, const std::stop_token& stop) {
  const auto began = BootClock::now();
  const auto until = began + std::min(wait, as_long_as_needed);
  const auto url = context.store_url();
  const bool is_server = url && url->starts_with("postgres");
  StoreTrouble trouble;
  for (auto pause = briefest_pause;; pause = std::min(pause * 2, between_looks)) {
    auto store = opening == Opening::existing ? context.open_store() : context.open_or_make_store();
    const bool over = stop.stop_requested() || BootClock::now() + pause >= until;
    if (store || over || !is_server || !may_come_back(store.error())) {
      wait = std::max(wait - (BootClock::now() - began), Duration(0));
      return store;
    }
    trouble.report(store.error());
    sleep_until(BootClock::now() + pause, stop);
  }
}

bool may_come_back(const Error& error) { return is_store_trouble(error.code) && may_repeat(error.code); }

void StoreTrouble::report(const Error& error) {
  if (std::exchange(reported_, true)) return;
  say("leasehold: {}; trying again", printable(error.message));
}

bool StoreTrouble::passes(const Error& error, const std::stop_token& stop) {
  if (!may_come_back(error)) return false;
  report(error);
  sleep_until(BootClock::now() + between_looks, stop);
  return true;
}

}  // namespace leasehold::cli
