// leasehold item add, done, reopen, rm.
#include <memory>

#include "act/confirmations.h"
#include "base/text.h"
#include "cli/bind/chunk_options.h"
#include "cli/bind/session_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/session_text.h"
#include "cli/run/wrapper_variables.h"
#include "leasehold/limits.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold item add: put an item into the backlog, or change it.
namespace {

struct ItemAddOptions {
  std::string key;
  ItemOptions item;
  std::vector<std::string> conflicts;
  std::vector<std::string> depends_on;
  CLI::Option* conflicts_given = nullptr;
  CLI::Option* depends_on_given = nullptr;
};

/// Who writes a note: the session in the environment, or this process.
std::string author_here() { return environment_value(held::session.key_variable).value_or(""); }

int add(const Context& context, ItemAddOptions& options) {
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  if (options.conflicts_given->count() > 0) {
    std::erase(options.conflicts, "");
    options.item.conflicts = options.conflicts;
  }
  if (options.depends_on_given->count() > 0) {
    std::erase(options.depends_on, "");
    options.item.depends_on = options.depends_on;
  }
  options.item.author = author_here();
  const auto added = store->items().add(options.key, options.item);
  if (!added) return report_refusal(context, added.error());
  if (context.json) {
    print_line(model::to_json(act::ItemAdded{options.key, *added}));
  } else {
    print("{} {}", *added ? "added" : "changed", printable(options.key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_add(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "add", "Add an item to the backlog, or change the given fields of an existing one",
                  {"leasehold item add SD-1 --title 'Parse nested comments'", "leasehold item add SD-1.1 --parent SD-1",
                   "leasehold item add SD-2 --depends-on SD-1 --priority 5 --note 'the grammar is in docs/grammar.md'",
                   R"(leasehold item add SD-7 --conflicts SD-3 SD-4 --meta '{"size":"L"}')"});
  auto options = std::make_shared<ItemAddOptions>();
  add_item_key(*command, options->key);
  command->add_option("--title", options->item.title, "Title, up to " + format_size(bounds::title_bytes))
      ->type_name("TEXT");
  command
      ->add_option("--parent", options->item.parent,
                   "Item that contains it: while a session has the parent, no other can claim this. Empty: none")
      ->type_name("ITEM");
  command
      ->add_option("--meta", options->item.metadata,
                   "Anything else: JSON, up to " + format_size(bounds::metadata_bytes))
      ->check(not_empty)
      ->type_name("JSON");
  options->conflicts_given =
      command
          ->add_option("--conflicts", options->conflicts,
                       "Items that no other session can claim meanwhile; replaces the previous list. Empty: none")
          ->type_name("ITEM");
  options->depends_on_given =
      command
          ->add_option(
              "--depends-on", options->depends_on,
              "Items that must be done before this one can be claimed; replaces the previous list. Empty: none")
          ->type_name("ITEM");
  command->add_option("--priority", options->item.priority, "`claim next` takes higher ones first (default 0)")
      ->type_name("N");
  command->add_option("--note", options->item.note, "Note to append")->check(not_empty)->type_name("TEXT");
  set_action(*command, context, [&context, options] { return add(context, *options); });
}

// leasehold item note: say something about an item.
namespace {

struct ItemNoteOptions {
  std::string key;
  std::string text;
};

int note(const Context& context, const ItemNoteOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto noted = store->items().note(options.key, options.text, author_here());
  if (!noted) return report_refusal(context, noted.error());
  if (context.json) {
    print_line(model::to_json(act::ItemNoted{options.key}));
  } else {
    print("noted {}", printable(options.key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_note(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "note", "Append a note to an item; `item show` shows the notes",
                              {"leasehold item note SD-1 'blocked on the new lexer'"});
  auto options = std::make_shared<ItemNoteOptions>();
  add_item_key(*command, options->key);
  command->add_option("TEXT", options->text, "The note")->required()->type_name("");
  set_action(*command, context, [&context, options] { return note(context, *options); });
}

// leasehold item done: finish an item.
namespace {

struct ItemFinish {
  std::string key;
  NamedSession session;
  std::optional<Token> token;
  std::string note;
};

int finish(const Context& context, ItemFinish& options) {
  ItemDoneOptions how{.token = options.token, .note = options.note};
  if (!options.token && !options.session.id.empty()) {
    const auto proof = options.session.needed_proof();
    if (!proof) return report(context, proof.error());
    how.session = options.session.id;
    how.session_token = *proof;
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto done = store->items().done(options.key, how);
  if (!done) {
    const int code = report_refusal(context, done.error());
    const auto& owner = done.error().held_by;
    if (!options.token && !context.json && owner && is_own_session(owner->session)) {
      say_line("leasehold: that is this session: add --token with the number that `claim take` printed");
    }
    return code;
  }
  if (context.json) {
    print_line(model::to_json(act::ItemChanged{options.key, ItemState::done}));
  } else {
    print("done {}", printable(options.key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_done(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "done",
      "Mark an item as done: by the session that holds it, with the token of the claim, or a free item without either",
      {"leasehold item done SD-1 --session \"$handle\" --note 'see commit 1f3c'",
       "leasehold item done SD-1 --token 1763200000000000", "leasehold item done SD-1    # it is not claimed"});
  auto options = std::make_shared<ItemFinish>();
  add_item_key(*command, options->key);
  add_optional_token(*command, options->token, "Token of the claim, printed by `claim take`");
  command->add_option("--session", options->session.id, "Session that holds it, as ID.TOKEN")
      ->check(not_empty)
      ->type_name("ID.TOKEN");
  after_parsing(*command, context, [options] { options->session.read_handle(); });
  command->add_option("--note", options->note, "Note to append")->check(not_empty)->type_name("TEXT");
  set_action(*command, context, [&context, options] { return finish(context, *options); });
}

// leasehold item reopen: put a finished item back.
namespace {

int reopen(const Context& context, const std::string& key) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto reopened = store->items().reopen(key);
  if (!reopened) return report_refusal(context, reopened.error());
  if (context.json) {
    print_line(model::to_json(act::ItemChanged{key, ItemState::open}));
  } else {
    print("reopened {}", printable(key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_reopen(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "reopen", "Reopen a done item: it can be claimed again",
                              {"leasehold item reopen SD-1"});
  auto key = std::make_shared<std::string>();
  add_item_key(*command, *key);
  set_action(*command, context, [&context, key] { return reopen(context, *key); });
}

// leasehold item rm: remove an item.
namespace {

struct ItemRmOptions {
  std::string key;
  Consent consent;
};

int show_what_would_go(const Context& context, const Store& store, const std::string& key) {
  const auto item = store.items().show(key);
  if (!item) return report_refusal(context, without_advice(item.error()));
  const auto children = store.items().list({.parent = key, .max = 1});
  if (!children) return report(context, children.error());
  if (context.json) {
    print_line(model::to_json(*item));
  } else if (item->state == ItemState::claimed) {
    say("cannot remove it now: session {} works on it", printable(item->session));
  } else if (!children->empty()) {
    say("cannot remove it now: it has children, such as {}", printable(children->front().key));
  } else {
    print("would remove {}, which is {}", printable(key), to_string(item->state));
  }
  return item->state == ItemState::claimed || !children->empty() ? exit_code::held : exit_code::ok;
}

int remove(const Context& context, const ItemRmOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, "rm removes the item and its history");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.consent.dry_run) return show_what_would_go(context, *store, options.key);
  const auto removed = store->items().remove(options.key);
  if (!removed) return report_refusal(context, without_advice(removed.error()));
  if (context.json) {
    print_line(model::to_json(act::ItemRemoved{options.key}));
  } else {
    print("removed {}", printable(options.key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_rm(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "rm", "Remove an item that is not claimed and has no children",
                              {"leasehold item rm SD-1 --dry-run", "leasehold item rm SD-1 --yes"});
  auto options = std::make_shared<ItemRmOptions>();
  add_item_key(*command, options->key);
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return remove(context, *options); });
}

}  // namespace leasehold::cli
