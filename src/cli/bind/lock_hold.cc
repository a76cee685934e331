// leasehold lock acquire, heartbeat, release.
#include <memory>

#include "act/answers.h"
#include "act/confirmations.h"
#include "base/time_text.h"
#include "cli/bind/lock_options.h"
#include "cli/command.h"
#include "cli/print/live.h"
#include "cli/print/lock_text.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/wrapper_variables.h"
#include "cli/signals.h"
#include "cli/store_trouble.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold lock acquire: take locks and keep them until their ttl has passed; no process stays behind.
namespace {

struct LockAcquireOptions {
  LockWords words;
  bool quiet = false;
};

void print_grant(const Context& context, const LockAcquireOptions& options, const Grant& grant) {
  const auto& words = options.words;
  if (context.json) return print_line(model::to_json(act::LockGrant{grant, words.names, words.acquire.share}));
  if (options.quiet) {
    for (const auto& name : words.names) print("{} {}", printable(name), grant.token.value);
    return;
  }
  const auto share = words.share();
  print("granted {}{}{}  token {}  until {} ({}){}", words.joined_names(), share.empty() ? "" : "  ", share,
        grant.token.value, local_time(grant.expires_at, grant.acquired_at), format_duration(grant.ttl),
        grant.replayed ? "  again: this request id was granted before" : "");
}

/// After a stop request the lock is not wanted any more, even if it was granted at that very moment.
int after_signal(const Locks& locks, const Result<Grant>& grant, int signal) {
  if (grant) static_cast<void>(locks.release(grant->key, grant->token));
  return exit_code_after(signal);
}

int acquire(const Context& context, LockAcquireOptions& options) {
  auto& words = options.words;
  auto store = open_within(words.acquire.wait, context);
  if (!store) return report(context, store.error());
  if (const auto checked = check_reentry(store->locks(), words.names, words.acquire.share); !checked) {
    return report(context, checked.error());
  }
  Call call{.holder = calling_process(words.holder)};
  const LineSignals signals(words.acquire.wait, call);
  const auto locks = store->locks();
  auto grant = say_while_waiting(
      wants_wait_line(context, words.acquire.wait, options.quiet), [&] { return waits_for_locks(locks, words.names); },
      [&] { return locks.acquire_all(words.names, words.acquire, call); });
  if (signals.first() != 0) return after_signal(store->locks(), grant, signals.first());
  if (!grant) {
    const auto code = report(context, grant.error(), words.held_code);
    if (!context.json) say_delay_after(store->locks(), grant.error());
    return code;
  }
  print_grant(context, options, *grant);
  return exit_code::ok;
}

}  // namespace

void add_lock_acquire(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "acquire", "Acquire locks until they are released or their ttl passes",
                  {"leasehold lock acquire deploy --ttl 5m", "leasehold lock acquire deploy --wait 1m --holder ci-42",
                   "read -r name token < <(leasehold lock acquire deploy -q) && ./deploy --fence \"$token\"",
                   "leasehold lock acquire nightly -E 0     # held elsewhere: fine",
                   "leasehold lock acquire gpu --permits 2/8     # two of eight",
                   "leasehold lock acquire account/7 account/9     # both or neither"});
  auto options = std::make_shared<LockAcquireOptions>();
  auto& words = options->words;
  add_lock_words(*command, words);
  command
      ->add_option("--request-id", words.acquire.request_id,
                   "Make retries safe: the same id returns the first answer again")
      ->check(not_empty)
      ->type_name("ID");
  command->add_flag("-q,--quiet", options->quiet, "Print only name and token of each lock");
  command->callback([&context, options] {
    options->words.gather();
    options->words.settle();
    context.action = [&context, options] { return acquire(context, *options); };
  });
}

// leasehold lock heartbeat: extend a live lease.
namespace {

struct LockHeartbeatOptions {
  HeldLock lock;
  std::optional<Duration> ttl;
};

int heartbeat(const Context& context, const LockHeartbeatOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto grant = store->locks().heartbeat(options.lock.name, options.lock.token, options.ttl);
  if (!grant) return report(context, grant.error());
  if (context.json) {
    print_line(model::to_json(act::LockGrant{*grant, {}, {}}));
  } else {
    print("extended {}  until {} ({})", printable(grant->key), local_time(grant->expires_at, grant->acquired_at),
          format_duration(grant->ttl));
  }
  return exit_code::ok;
}

}  // namespace

void add_lock_heartbeat(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "heartbeat", "Extend the lease of a lock; an expired lease is lost (exit code 76)",
                  {"leasehold lock heartbeat deploy --token 1763200000000000",
                   "LEASEHOLD_TOKEN=$token leasehold lock heartbeat deploy --ttl 2m || exit"});
  auto options = std::make_shared<LockHeartbeatOptions>();
  add_held_lock(*command, context, options->lock);
  add_duration(*command, "--ttl", options->ttl, "New ttl of the lease (default: unchanged)");
  set_action(*command, context, [&context, options] { return heartbeat(context, *options); });
}

// leasehold lock release: release a lock.
namespace {

struct LockReleaseOptions {
  HeldLock lock;
};

int release(const Context& context, const LockReleaseOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto released = store->locks().release(options.lock.name, options.lock.token);
  if (!released) return report(context, released.error());
  if (context.json) {
    print_line(model::to_json(act::Released{options.lock.name, options.lock.token}));
  } else {
    print("released {}", printable(options.lock.name));
  }
  return exit_code::ok;
}

}  // namespace

void add_lock_release(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "release", "Release a lock; an outdated token changes nothing (exit code 76)",
                  {"leasehold lock release deploy --token 1763200000000000",
                   "LEASEHOLD_TOKEN=$token leasehold lock release deploy"});
  auto options = std::make_shared<LockReleaseOptions>();
  add_held_lock(*command, context, options->lock);
  set_action(*command, context, [&context, options] { return release(context, *options); });
}

}  // namespace leasehold::cli
