// leasehold token create, ls, revoke; leasehold audit.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/time_text.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "leasehold/access.h"
#include "model/json.h"
#include "model/words.h"

namespace leasehold::cli {
namespace {

std::string patterns_of(const TokenInfo& token) {
  return token.only.empty() ? "everything" : printable(fmt::format("{}", fmt::join(token.only, " ")));
}

std::string coloured_state(const TokenInfo& token) {
  return coloured(token.state == TokenState::active ? Tone::good : Tone::faint, word_of(token.state));
}

void print_fields(const TokenInfo& token) {
  const auto moment = [&](const std::optional<Timestamp>& at, const char* none) {
    return at ? with_distance(*at, token.store_now) : std::string(none);
  };
  print_field("token", std::to_string(token.id));
  print_field("name", printable(token.name));
  print_field("state", coloured_state(token));
  print_field("scope", word_of(token.scope));
  print_field("only", patterns_of(token));
  print_field("expires", moment(token.expires_at, "never"));
  print_field("last used", moment(token.last_used_at, "never"));
  if (token.revoked_at) print_field("revoked", with_distance(*token.revoked_at, token.store_now));
}

}  // namespace

// leasehold token create: a new token, and its secret.
namespace {

struct TokenCreateOptions {
  NewToken token;
  std::string scope = "read";
};

int create_token(const Context& context, TokenCreateOptions& options) {
  read_word(options.scope, options.token.scope);
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  const auto created = store->access().create_token(options.token);
  if (!created) return report(context, created.error());
  if (context.json) {
    print_line(model::to_json(*created));
    return exit_code::ok;
  }
  // The secret alone goes to stdout, so that a script can keep it.
  print_line(created->secret);
  say("created token {} {} with scope {}: this is the only time that its secret is shown", created->info.id,
      printable(created->info.name), word_of(created->info.scope));
  return exit_code::ok;
}

}  // namespace

void add_token_create(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "create", "Create an API token for `leasehold serve`, and print its secret, which is shown once",
      {"leasehold token create mailer --scope work --only 'queue:mail*' --expires-in 90d",
       "leasehold token create dashboard > dashboard.secret", "leasehold token create ci --scope produce --json"});
  auto options = std::make_shared<TokenCreateOptions>();
  add_name(*command, "NAME", options->token.name, "A name for people, unique among the active tokens");
  add_choice(*command, "--scope", options->scope, {"read", "produce", "work", "admin"},
             "read (default): look; produce: also enqueue jobs; work: also acquire, claim, heartbeat, settle; admin: "
             "also revoke, remove, prune and change settings");
  command
      ->add_option("--only", options->token.only,
                   "Allow only what this pattern names, such as 'queue:mail*' or lock:deploy; may be repeated "
                   "(default: everything)")
      ->type_name("KIND:NAME")
      ->check(not_empty)
      ->allow_extra_args(false);
  add_duration(*command, "--expires-in", options->token.expires_in, "Valid for this long (default: until revoked)");
  set_action(*command, context, [&context, options] { return create_token(context, *options); });
}

// leasehold token ls: every token, one line each.
namespace {

struct TokenLsOptions {
  TokenFilter filter;
  std::string state;
  bool watch = false;
};

std::string shown_expiry(const TokenInfo& token) {
  if (!token.expires_at) return "never";
  const auto left = *token.expires_at - token.store_now;
  return left > Duration(0) ? shown_distance(left) : format_age(-left) + " ago";
}

std::string shown_use(const TokenInfo& token) {
  return token.last_used_at ? format_age(token.store_now - *token.last_used_at) + " ago" : "never";
}

std::vector<std::string> table_of(const Page<TokenInfo>& tokens) {
  Table table({{"ID", Column::to_the_right},
               {"NAME", Column::may_be_cut},
               "STATE",
               "SCOPE",
               {"ONLY", Column::may_be_cut, 1},
               {"EXPIRES", Column::as_it_is, 2},
               {"LAST USED", Column::as_it_is, 3}});
  for (const auto& token : tokens) {
    table.add({std::to_string(token.id), printable(token.name), coloured_state(token), word_of(token.scope),
               patterns_of(token), shown_expiry(token), shown_use(token)});
  }
  return table.lines();
}

Result<ListPicture> look_at_tokens(const Store& store, const TokenFilter& filter) {
  const auto page = store.access().tokens(filter);
  if (!page) return page.error();
  return picture_of(
      *page, table_of(*page), [](const auto& token) { return std::to_string(token.id); },
      [](const auto& token) { return fmt::format("{} {}", printable(token.name), word_of(token.state)); });
}

int list_tokens(const Context& context, TokenLsOptions& options) {
  if (!options.state.empty()) options.filter.state = from_word<TokenState>(options.state);
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return show_list(context, *store, {.what = "tokens", .watch = options.watch, .look = [&] {
                                       return look_at_tokens(*store, options.filter);
                                     }});
}

}  // namespace

void add_token_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List API tokens: state, scope, patterns, expiry, last use",
                              {"leasehold token ls --state active",
                               "leasehold token ls --json | jq '.items[] | select(.last_used_at == null)'"});
  auto options = std::make_shared<TokenLsOptions>();
  add_choice(*command, "--state", options->state, {"active", "expired", "revoked"}, "Only tokens in this state");
  command->add_option("--name", options->filter.name, "Only tokens with this name")
      ->type_name("NAME")
      ->check(not_empty);
  add_paging(*command, options->filter.max, options->filter.page);
  add_watch(*command, options->watch);
  set_action(*command, context, [&context, options] { return list_tokens(context, *options); });
}

// leasehold token revoke: the next request with the token is refused.
namespace {

int revoke_token(const Context& context, std::int64_t id) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto token = store->access().revoke_token(id);
  if (!token) return report(context, token.error());
  if (context.json) {
    print_line(model::to_json(*token));
  } else {
    print_fields(*token);
  }
  return exit_code::ok;
}

}  // namespace

void add_token_revoke(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "revoke",
                              "Revoke an API token; the next request with it is refused (exit code 4: "
                              "unknown)",
                              {"leasehold token revoke 3"});
  auto id = std::make_shared<std::int64_t>(0);
  command->add_option("ID", *id, "The number of the token, as `token ls` shows it")->required()->type_name("");
  set_action(*command, context, [&context, id] { return revoke_token(context, *id); });
}

// leasehold audit: what callers of the server changed.
namespace {

int show_audit(const Context& context, const AuditFilter& filter) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto entries = store->access().audit(filter);
  if (!entries) return report(context, entries.error());
  if (context.json) {
    print_line(model::to_json(*entries));
    return exit_code::ok;
  }
  if (entries->empty()) {
    say("the audit log has no such entries");
    return exit_code::ok;
  }
  Table table({"AT",
               {"BY", Column::may_be_cut},
               "ACT",
               {"KEY", Column::may_be_cut},
               "OUTCOME",
               {"DETAIL", Column::may_be_cut, 1}});
  for (const auto& entry : *entries) {
    table.add({local_time(entry.at, wall_clock()), printable(entry.by), printable(entry.act),
               entry.key.empty() ? "-" : printable(entry.key), printable(entry.outcome),
               entry.detail.empty() ? "-" : printable(entry.detail)});
  }
  table.print();
  say_next_page(entries->next);
  return exit_code::ok;
}

CLI::Option* add_moment(CLI::App& command, const std::string& names, std::optional<Timestamp>& moment,
                        const std::string& help) {
  const auto read = [&moment, names](const std::string& text) {
    const auto parsed = parse_moment(text, wall_clock());
    if (!parsed) throw CLI::ValidationError(names, parsed.error().message);
    moment = *parsed;
  };
  return command.add_option_function<std::string>(names, read, help)->type_name("TIME");
}

}  // namespace

void add_audit(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "audit",
      "Show the audit log, newest first: who changed what through `leasehold serve`, and the outcome",
      {"leasehold audit", "leasehold audit --act queue.purge", "leasehold audit --by ann --json | jq '.items[].act'"});
  auto filter = std::make_shared<AuditFilter>();
  const auto add_filter = [&](const char* name, std::string& value, const char* help) {
    command->add_option(name, value, help)->type_name("TEXT")->check(not_empty);
  };
  add_filter("--by", filter->by, "Only what this caller did");
  add_filter("--act", filter->act, "Only this act, such as queue.pause");
  add_filter("--key", filter->key, "Only what touched this name, id or key");
  add_moment(*command, "--since", filter->since, "Only from this moment on");
  add_moment(*command, "--until", filter->until, "Only before this moment");
  add_paging(*command, filter->max, filter->page);
  set_action(*command, context, [&context, filter] { return show_audit(context, *filter); });
}

}  // namespace leasehold::cli
