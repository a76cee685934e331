// A user's first program and its test: what the README and docs/testing.md show, built against an installed leasehold.
#include <leasehold/leasehold.h>
#include <leasehold/testing.h>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

namespace {

bool a_lock_holds() {
  auto store = leasehold::Store::open("sqlite::memory:");
  if (!store) {
    std::cerr << store.error().message << "\n";
    return false;
  }
  auto held = store->locks().hold("deploy", {.ttl = 30s});
  if (!held) {
    std::cerr << held.error().message << "\n";
    return false;
  }
  const auto refused = store->locks().acquire("deploy", {}, {.holder = leasehold::Holder::self("somebody else")});
  const bool exclusive = !refused && refused.error().code == leasehold::Errc::held;
  return exclusive && held->release().ok() && store->locks().acquire("deploy").ok();
}

/// The code under test.
void sign_up(const leasehold::Store& store, const std::string& name) {
  store.jobs().enqueue("mail", {.payload = name, .delay = 1min}).value();
}

bool a_mail_is_sent_a_minute_after_signing_up() {
  const leasehold::TestStore store;
  sign_up(store, "ann");
  const auto mail = leasehold::find_enqueued(store, "mail", [](const auto& job) { return job.payload == "ann"; });
  if (!mail) {
    std::cerr << mail.error().message << "\n";
    return false;
  }
  std::string sent_to;
  leasehold::Worker worker(store);
  worker.handle("mail", [&](const leasehold::Job& job, leasehold::JobContext&) {
    sent_to = job.payload;
    return leasehold::Verdict::complete();
  });
  const bool too_early = leasehold::drain(worker)->claimed > 0;
  store.advance(1min);
  const auto summary = leasehold::drain(worker).value();
  std::cout << *mail << "; " << summary << "\n";
  return !too_early && sent_to == "ann";
}

}  // namespace

int main() {
  const bool held = a_lock_holds();
  const bool sent = a_mail_is_sent_a_minute_after_signing_up();
  std::cout << (held ? "held, refused, released, taken again\n" : "the lock did not hold\n");
  return held && sent ? 0 : 1;
}
