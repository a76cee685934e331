// leasehold lock revoke: an operator ends the live lease of one holder, or of all.
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <vector>

#include "act/answers.h"
#include "cli/command.h"
#include "cli/print/lock_text.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

struct LockRevokeOptions {
  std::string name;
  std::string reason;
  std::optional<Token> token;  ///< of one holder; nothing: all
  Consent consent;
};

/// The leases that a revoke would end.
Result<std::vector<LockHolder>> those_meant(const Locks& locks, const LockRevokeOptions& options) {
  auto holders = locks.holders(options.name);
  if (!holders) return holders;
  std::erase_if(*holders, [&](const LockHolder& holder) {
    return holder.ended_at || (options.token && holder.token != *options.token);
  });
  return holders;
}

/// Read before the revoke: afterwards the store does not show which locks were taken together.
std::vector<std::string> others_under_the_lease(const Locks& locks, const LockRevokeOptions& options) {
  const auto lock = locks.show(options.name);
  return lock && (!options.token || lock->token == *options.token) ? lock->together : std::vector<std::string>{};
}

int show_what_would_end(const Context& context, const Locks& locks, const LockRevokeOptions& options) {
  const auto lock = locks.show(options.name);
  if (!lock) return report(context, lock.error());
  const auto holders = those_meant(locks, options);
  if (!holders) return report(context, holders.error());
  if (context.json) {
    print_line(model::to_json(act::LockDetails{*lock, *holders}));
  } else if (holders->empty()) {
    say("{} {}: there is nothing to revoke", printable(options.name),
        options.token ? "is not held with that token" : "is free");
  } else {
    for (const auto& holder : *holders) {
      print("would revoke {}: {}{}", printable(options.name), describe_holder(holder), together_text(lock->together));
    }
  }
  return holders->empty() ? exit_code::nothing_to_do : exit_code::ok;
}

int revoke(const Context& context, const LockRevokeOptions& options) {
  if (!options.consent.given()) return ask_for_yes(context, "revoke takes the lock from its holder");
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto locks = store->locks();
  if (options.consent.dry_run) return show_what_would_end(context, locks, options);
  const auto before = those_meant(locks, options);
  const auto together = others_under_the_lease(locks, options);
  const auto ended = locks.revoke(options.name, options.reason, options.token);
  if (!ended) return report(context, ended.error());
  if (context.json) {
    print_line(model::to_json(act::EndedLock{*ended, together}));
  } else {
    const auto others = before && before->size() > 1 ? static_cast<std::int64_t>(before->size()) - 1 : 0;
    print("revoked {}  token {}  of {}{}{}", printable(ended->key), ended->token.value, printable(ended->holder.name),
          others > 0 ? fmt::format(", and of {}", counted(others, "other")) : "", together_text(together));
  }
  return exit_code::ok;
}

}  // namespace

void add_lock_revoke(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "revoke",
                              "Revoke a live lease; `lock run` and the library notice within two seconds",
                              {"leasehold lock revoke deploy --reason 'host is gone' --dry-run",
                               "leasehold lock revoke deploy --reason 'host is gone' --yes",
                               "leasehold lock revoke gpu --token 1763200000000000 --reason 'hangs' --yes"});
  auto options = std::make_shared<LockRevokeOptions>();
  add_lock_name(*command, options->name);
  command
      ->add_option_function<std::int64_t>(
          "--token", [options](const std::int64_t& token) { options->token = Token{token}; },
          "Revoke only this grant of a shared lock (default: all grants)")
      ->type_name("TOKEN");
  command->add_option("--reason", options->reason, "Reason; kept with the event")
      ->required()
      ->check(not_empty)
      ->type_name("TEXT");
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return revoke(context, *options); });
}

}  // namespace leasehold::cli
