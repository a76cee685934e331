// A user's first program: what the README shows, built against an installed leasehold.
#include <leasehold/leasehold.h>

#include <chrono>
#include <iostream>

int main() {
  auto store = leasehold::Store::open("sqlite::memory:");
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  auto held = store->locks().hold("deploy", {.ttl = std::chrono::seconds(30)});
  if (!held) {
    std::cerr << held.error().message << "\n";
    return 1;
  }
  const auto refused = store->locks().acquire("deploy", {}, {.holder = leasehold::Holder::self("somebody else")});
  const bool exclusive = !refused && refused.error().code == leasehold::Errc::held;
  const bool released = held->release().ok() && store->locks().acquire("deploy").ok();
  std::cout << (exclusive && released ? "held, refused, released, taken again\n" : "the lock did not hold\n");
  return exclusive && released ? 0 : 1;
}
