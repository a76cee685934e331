// leasehold claim take, next, release, switch.
#include <memory>

#include "act/confirmations.h"
#include "cli/bind/chunk_options.h"
#include "cli/bind/session_options.h"
#include "cli/command.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/session_text.h"
#include "cli/run/wrapper_variables.h"
#include "cli/store_trouble.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold claim take: take an item for a session.
namespace {

struct ClaimTakeOptions {
  std::string item;
  NamedSession session;
  ItemTakeOptions take;
  int held_code = exit_code::held;
  bool quiet = false;
};

/// "waiting for SD-1: session s-81f (ana) has it, frees in 4m 48s"
std::string waits_for_item(const Items& items, const std::string& key) {
  const auto item = items.show(key);
  if (!item || !item->held_by) return fmt::format("waiting for {}", printable(key));
  return fmt::format("waiting for {}: session {} ({}) has it, frees {}", printable(key),
                     printable(item->held_by->session), printable(item->held_by->holder.name),
                     shown_end_of(*item->held_by));
}

int take(const Context& context, ClaimTakeOptions& options) {
  auto store = open_within(options.take.wait, context, Opening::existing);
  if (!store) return report(context, store.error());
  options.take.session_token = options.session.proof();
  const auto items = store->items();
  const auto claim = say_while_waiting(
      wants_wait_line(context, options.take.wait, options.quiet), [&] { return waits_for_item(items, options.item); },
      [&] { return store->claims().take(options.item, options.session.id, options.take); });
  return report_claim(context, claim, options.quiet, options.held_code);
}

}  // namespace

void add_claim_take(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "take",
      "Claim an item for a session; a stale session's claim is taken over at once (exit code 75: another session has "
      "it, 76: the session is stale or unknown)",
      {"leasehold claim take SD-1                          # under `session run`, or after `session open --export`",
       "leasehold claim take SD-1 --session s-81f --create", "leasehold claim take SD-1 --wait 10m",
       "read -r item token < <(leasehold claim take SD-1 -q) && work && leasehold item done \"$item\" --token "
       "\"$token\""});
  auto options = std::make_shared<ClaimTakeOptions>();
  add_item_key(*command, options->item);
  add_claiming_session(*command, context, options->session);
  command->add_flag("--create", options->take.create, "Add the item if it is missing");
  add_duration(*command, "--wait", options->take.wait,
               "Wait up to this long while it is claimed or blocked (default: no wait)");
  add_conflict_exit_code(*command, options->held_code);
  command->add_flag("-q,--quiet", options->quiet, "Print only item and token");
  set_action(*command, context, [&context, options] { return take(context, *options); });
}

// leasehold claim next: take the first item that is free.
namespace {

struct ClaimNextCommand {
  NamedSession session;
  ClaimNextOptions next;
  int held_code = exit_code::held;
  bool quiet = false;
};

int take_next(const Context& context, ClaimNextCommand& options) {
  const auto proof = options.session.needed_proof();
  if (!proof) return report(context, proof.error());
  options.next.session_token = *proof;
  auto store = open_within(options.next.wait, context, Opening::existing);
  if (!store) return report(context, store.error());
  const auto claim = say_while_waiting(
      wants_wait_line(context, options.next.wait, options.quiet), [] { return std::string("waiting for an item"); },
      [&] { return store->claims().next(options.session.id, options.next); });
  return report_claim(context, claim, options.quiet, options.held_code);
}

}  // namespace

void add_claim_next(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "next",
      "Claim the first free item: of the highest --priority, then the oldest (exit code 3: none is left, 75: other "
      "sessions have what is left, or it waits for other items, 76: the session is stale or unknown)",
      {"leasehold claim next                        # under `session run`, or after `session open --export`",
       "leasehold claim next --session \"$handle\" --parent SD-1 --wait 10m",
       "while read -r item token < <(leasehold claim next -q); do work \"$item\" && leasehold item done \"$item\" "
       "--token \"$token\"; done"});
  auto options = std::make_shared<ClaimNextCommand>();
  add_claiming_session(*command, context, options->session);
  command->add_option("--parent", options->next.parent, "Only children of this item")
      ->check(not_empty)
      ->type_name("ITEM");
  add_duration(*command, "--wait", options->next.wait, "Wait up to this long for an item (default: no wait)");
  add_conflict_exit_code(*command, options->held_code);
  command->add_flag("-q,--quiet", options->quiet, "Print only item and token");
  set_action(*command, context, [&context, options] { return take_next(context, *options); });
}

// leasehold claim release: give an item up, unfinished.
namespace {

struct ClaimReleaseOptions {
  std::string item;
  NamedSession session;
  std::optional<Token> token;
  std::string reason;
};

Result<void> release_by(const Claims& claims, const ClaimReleaseOptions& options) {
  if (options.token) return claims.release(options.item, options.session.id, *options.token, options.reason);
  const auto proof = options.session.needed_proof();
  if (!proof) return proof.error();
  return claims.release(options.item, SessionHandle{options.session.id, *proof}, options.reason);
}

int release(const Context& context, const ClaimReleaseOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto released = release_by(store->claims(), options);
  if (!released) return report_refusal(context, released.error());
  if (context.json) {
    print_line(model::to_json(act::ClaimReleased{options.item, options.token}));
  } else {
    print("released {}", printable(options.item));
  }
  return exit_code::ok;
}

}  // namespace

void add_claim_release(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "release",
      "Release an item, and no other claim of the session; an outdated token changes nothing (exit code 76)",
      {"leasehold claim release SD-1 --token 1763200000000000 --reason 'needs a decision'",
       "leasehold claim release SD-1 --session \"$handle\""});
  auto options = std::make_shared<ClaimReleaseOptions>();
  add_item_key(*command, options->item);
  add_claiming_session(*command, context, options->session);
  add_optional_token(*command, options->token,
                     "Token of the claim, printed by `claim take` (default: the session's own token is the proof)");
  command->add_option("--reason", options->reason, "Reason; kept with the claim and its event")
      ->check(not_empty)
      ->type_name("TEXT");
  set_action(*command, context, [&context, options] { return release(context, *options); });
}

// leasehold claim switch: from one item to another, in one step.
namespace {

struct ClaimSwitchOptions {
  std::string from;
  std::string to;
  Token token;
  ItemTakeOptions take;
  int held_code = exit_code::held;
  bool quiet = false;
};

int switch_items(const Context& context, const ClaimSwitchOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto claim = store->claims().switch_to(options.from, options.token, options.to, options.take);
  return report_claim(context, claim, options.quiet, options.held_code);
}

}  // namespace

void add_claim_switch(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "switch",
                              "Release one item and claim another in one step; if refused, nothing changes",
                              {"leasehold claim switch SD-1 SD-2 --token 1763200000000000"});
  auto options = std::make_shared<ClaimSwitchOptions>();
  command->add_option("FROM", options->from, "The item to release")->required()->type_name("");
  command->add_option("TO", options->to, "The item to claim")->required()->type_name("");
  add_claim_token(*command, context, options->token);
  command->add_flag("--create", options->take.create, "Add the item to claim if it is missing");
  add_conflict_exit_code(*command, options->held_code);
  command->add_flag("-q,--quiet", options->quiet, "Print only item and token");
  set_action(*command, context, [&context, options] { return switch_items(context, *options); });
}

}  // namespace leasehold::cli
