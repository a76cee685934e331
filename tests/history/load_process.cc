#include <fmt/format.h>
#include <sys/stat.h>

#include <csignal>
#include <stdexcept>
#include <thread>

#include "history/load.h"

namespace leasehold::history {
namespace {

using namespace std::chrono_literals;

volatile std::sig_atomic_t stop_requested = 0;

/// A store that is being restarted is no reason to give up at once.
Store open_store(const LoadOptions& options, MigrateOnOpen migrate) {
  const auto until = BootClock::now() + 30s;
  for (;;) {
    auto store = Store::open(options.store, {.migrate = migrate, .call_timeout = options.timeout});
    if (store) return *store;
    if (BootClock::now() >= until || stop_requested != 0) throw std::runtime_error(store.error().message);
    std::this_thread::sleep_for(100ms);
  }
}

bool exists(const std::string& file) {
  struct stat ignored {};
  return !file.empty() && ::stat(file.c_str(), &ignored) == 0;
}

std::vector<std::unique_ptr<Actor>> actors_of(Desk& desk) {
  std::vector<std::unique_ptr<Actor>> actors;
  for (const auto& feature : desk.options.features) {
    if (feature == "lock") actors.push_back(lock_actor(desk));
    if (feature == "job") actors.push_back(job_actor(desk));
    if (feature == "claim") actors.push_back(claim_actor(desk));
    if (feature == "chunk") actors.push_back(chunk_actor(desk));
  }
  return actors;
}

/// Mostly a moment; now and then longer than a lease lasts, so that others take over from a holder that is alive.
Duration pause_after_act(Dice& dice, const LoadOptions& options) {
  if (dice.one_in(options.pause_every)) return options.ttl + options.ttl / 4;
  return std::chrono::microseconds(dice.roll(4000));
}

}  // namespace

std::string Desk::key(std::string_view thing, std::int64_t number) const {
  return fmt::format("{}/{}-{}", options.run, thing, number);
}

std::string_view word(const Error& error) { return to_string(error.code); }

std::int64_t micros(Timestamp when) { return when.time_since_epoch().count(); }

Fields reported(const Error& error) {
  Fields fields;
  if (error.lost_reason) fields.add("why", to_string(*error.lost_reason));
  if (!error.held_by) return fields;
  const auto& current = *error.held_by;
  if (current.token.value != 0) fields.add("token", current.token.value);
  fields.add("holder", current.holder.name).add("session", current.session);
  if (current.store_now != Timestamp{}) fields.add("at", micros(current.store_now));
  if (current.expires_at != Timestamp{}) fields.add("expires", micros(current.expires_at));
  return fields;
}

void prepare(const LoadOptions& options) {
  const auto store = open_store(options, MigrateOnOpen::yes);
  auto ledger = open_ledger(options.store, 10s);
  if (!ledger) throw std::runtime_error(ledger.error().message);
  if (const auto made = (*ledger)->create(); !made) throw std::runtime_error(made.error().message);
}

void run_process(const LoadOptions& options, int process) {
  struct sigaction stop {};
  stop.sa_handler = [](int) { stop_requested = 1; };
  ::sigaction(SIGTERM, &stop, nullptr);
  const auto until = BootClock::now() + options.seconds;
  auto store = open_store(options, MigrateOnOpen::no);
  auto ledger = open_ledger(options.store, options.timeout);
  if (!ledger) throw std::runtime_error(ledger.error().message);
  Recorder recorder(fmt::format("{}/process-{}.log", options.out, process), process);
  Dice dice(options.seed, process);
  Desk desk{.options = options, .recorder = recorder, .store = store, .ledger = **ledger, .dice = dice};
  const auto actors = actors_of(desk);
  recorder.hello();
  const auto enough = [&] { return options.acts > 0 && recorder.acts() >= options.acts; };
  while (BootClock::now() < until && stop_requested == 0 && !enough() && !exists(options.until_file)) {
    const bool asked = actors[static_cast<std::size_t>(dice.roll(static_cast<int>(actors.size())))]->act();
    std::this_thread::sleep_for(asked ? pause_after_act(dice, options) : Duration(50ms));
  }
  recorder.bye();
}

}  // namespace leasehold::history
