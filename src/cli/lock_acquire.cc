// leasehold lock acquire: take locks and keep them until their ttl has passed; no process stays behind.
#include <memory>

#include "cli/caller.h"
#include "cli/command.h"
#include "cli/line_signals.h"
#include "cli/lock_environment.h"
#include "cli/lock_options.h"
#include "cli/lock_text.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "wire/locks.h"

namespace leasehold::cli {
namespace {

struct LockAcquireOptions {
  LockWords words;
  bool quiet = false;
};

void print_grant(const Context& context, const LockAcquireOptions& options, const Grant& grant) {
  const auto& words = options.words;
  if (context.json) return print_line(wire::to_json(grant, words.names, words.acquire.share));
  if (options.quiet) return print("{}", grant.token.value);
  const auto share = words.share();
  print("granted {}{}{}  token {}  until {} ({}){}", words.joined_names(), share.empty() ? "" : "  ", share,
        grant.token.value, local_time(grant.expires_at, grant.acquired_at), format_duration(grant.ttl),
        grant.replayed ? "  again: this request id was granted before" : "");
}

/// Who told it to stop does not want the lock any more, not even if it was granted at that very moment.
int after_signal(const Locks& locks, const Result<Grant>& grant, int signal) {
  if (grant) static_cast<void>(locks.release(grant->key, grant->token));
  return exit_code_after(signal);
}

int acquire(const Context& context, LockAcquireOptions& options) {
  auto& words = options.words;
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  if (const auto checked = check_reentry(store->locks(), words.names, words.acquire.share); !checked) {
    return report(context, checked.error());
  }
  words.acquire.holder = calling_process(words.holder);
  const LineSignals signals(words.acquire);
  auto grant = store->locks().acquire_all(words.names, words.acquire);
  if (signals.first() != 0) return after_signal(store->locks(), grant, signals.first());
  if (!grant) {
    const auto code = report(context, grant.error(), words.held_code);
    say_delay_after(store->locks(), grant.error());
    return code;
  }
  print_grant(context, options, *grant);
  return exit_code::ok;
}

}  // namespace

void add_lock_acquire(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "acquire", "Take locks until their ttl has passed or they are released",
                  {"leasehold lock acquire deploy --ttl 5m", "leasehold lock acquire deploy --wait 1m --holder ci-42",
                   "token=$(leasehold lock acquire deploy -q) && ./deploy --fence \"$token\"",
                   "leasehold lock acquire nightly -E 0     # somebody else is on it: fine",
                   "leasehold lock acquire gpu --permits 2/8     # two of eight",
                   "leasehold lock acquire account/7 account/9     # both or neither"});
  auto options = std::make_shared<LockAcquireOptions>();
  auto& words = options->words;
  add_lock_words(*command, words);
  command
      ->add_option("--request-id", words.acquire.request_id,
                   "Makes repeating harmless: the same id gives the first answer again")
      ->check(not_empty)
      ->type_name("ID");
  command->add_flag("-q,--quiet", options->quiet, "Print nothing but the token");
  command->callback([&context, options] {
    options->words.gather();
    options->words.settle();
    context.action = [&context, options] { return acquire(context, *options); };
  });
}

}  // namespace leasehold::cli
