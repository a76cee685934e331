// leasehold item add, done, reopen, rm.
#include <memory>

#include "base/text.h"
#include "cli/bind/chunk_options.h"
#include "cli/bind/session_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/session_text.h"
#include "leasehold/limits.h"
#include "wire/wire.h"

namespace leasehold::cli {

// leasehold item add: put an item into the backlog, or change what is known of it.
namespace {

struct ItemAddOptions {
  std::string key;
  ItemOptions item;
  std::vector<std::string> conflicts;
  CLI::Option* conflicts_given = nullptr;
};

int add(const Context& context, ItemAddOptions& options) {
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  if (options.conflicts_given->count() > 0) {
    std::erase(options.conflicts, "");
    options.item.conflicts = options.conflicts;
  }
  const auto added = store->items().add(options.key, options.item);
  if (!added) return report_refusal(context, added.error());
  if (context.json) {
    print_line(wire::object({{"item", options.key}, {"created", *added}}));
  } else {
    print("{} {}", *added ? "added" : "changed", printable(options.key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_add(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "add", "Put an item into the backlog, or change what is given of one that is there",
                  {"leasehold item add SD-1 --title 'Parse nested comments'", "leasehold item add SD-1.1 --parent SD-1",
                   R"(leasehold item add SD-7 --conflicts SD-3 SD-4 --meta '{"size":"L"}')"});
  auto options = std::make_shared<ItemAddOptions>();
  add_item_key(*command, options->key);
  command->add_option("--title", options->item.title, "What it is about, up to " + format_size(bounds::title_bytes))
      ->type_name("TEXT");
  command
      ->add_option("--parent", options->item.parent,
                   "An item that it is part of: while one session has that, no other can have this. Empty: none")
      ->type_name("ITEM");
  command
      ->add_option("--meta", options->item.metadata,
                   "Anything else: JSON, up to " + format_size(bounds::metadata_bytes))
      ->check(not_empty)
      ->type_name("JSON");
  options->conflicts_given =
      command
          ->add_option("--conflicts", options->conflicts,
                       "Items that no other session may work on meanwhile; replaces those said before. Empty: none")
          ->type_name("ITEM");
  set_action(*command, context, [&context, options] { return add(context, *options); });
}

// leasehold item done: nobody needs to work on it any more.
namespace {

struct ItemDoneOptions {
  std::string key;
  std::optional<Token> token;
};

int finish(const Context& context, const ItemDoneOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto done = store->items().done(options.key, options.token);
  if (!done) {
    const int code = report_refusal(context, done.error());
    const auto& owner = done.error().current;
    if (!options.token && !context.json && owner && is_own_session(owner->session)) {
      say_line("leasehold: that is this session: add --token with the number that `claim take` gave");
    }
    return code;
  }
  if (context.json) {
    print_line(wire::object({{"item", options.key}, {"done", true}}));
  } else {
    print("done {}", printable(options.key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_done(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "done",
      "Mark an item as done: the owner gives the claim's token, which ends the claim; a free item needs no token",
      {"leasehold item done SD-1 --token 1763200000000000", "leasehold item done SD-1    # nobody works on it"});
  auto options = std::make_shared<ItemDoneOptions>();
  add_item_key(*command, options->key);
  add_optional_token(*command, options->token, "The token of the claim, as `claim take` gave it");
  set_action(*command, context, [&context, options] { return finish(context, *options); });
}

// leasehold item reopen: it was not done, after all.
namespace {

int reopen(const Context& context, const std::string& key) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto reopened = store->items().reopen(key);
  if (!reopened) return report_refusal(context, reopened.error());
  if (context.json) {
    print_line(wire::object({{"item", key}, {"reopened", true}}));
  } else {
    print("reopened {}", printable(key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_reopen(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "reopen", "Let an item that was done be claimed again",
                              {"leasehold item reopen SD-1"});
  auto key = std::make_shared<std::string>();
  add_item_key(*command, *key);
  set_action(*command, context, [&context, key] { return reopen(context, *key); });
}

// leasehold item rm: forget an item.
namespace {

struct ItemRmOptions {
  std::string key;
  Consent consent;
};

int show_what_would_go(const Context& context, const Store& store, const std::string& key) {
  const auto item = store.items().show(key);
  if (!item) return report_refusal(context, without_advice(item.error()));
  const auto children = store.items().list({.parent = key, .limit = 1});
  if (!children) return report(context, children.error());
  if (context.json) {
    print_line(wire::to_json(*item));
  } else if (item->is_working_on) {
    say("session {} works on it: it cannot be removed now", printable(item->active_session_id));
  } else if (!children->empty()) {
    say("it has children, such as {}: it cannot be removed now", printable(children->front().key));
  } else {
    print("would remove {}, which is {}", printable(key), to_string(item->state));
  }
  return item->is_working_on || !children->empty() ? exit_code::held : exit_code::ok;
}

int remove(const Context& context, const ItemRmOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, "rm forgets the item and who had it when");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.consent.dry_run) return show_what_would_go(context, *store, options.key);
  const auto removed = store->items().remove(options.key);
  if (!removed) return report_refusal(context, without_advice(removed.error()));
  if (context.json) {
    print_line(wire::object({{"item", options.key}, {"removed", true}}));
  } else {
    print("removed {}", printable(options.key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_rm(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "rm", "Forget an item that nobody works on and that has no children",
                              {"leasehold item rm SD-1 --dry-run", "leasehold item rm SD-1 --yes"});
  auto options = std::make_shared<ItemRmOptions>();
  add_item_key(*command, options->key);
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return remove(context, *options); });
}

}  // namespace leasehold::cli
