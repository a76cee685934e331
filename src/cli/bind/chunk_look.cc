// leasehold chunk show, ls.
#include <algorithm>
#include <memory>

#include "act/answers.h"
#include "base/time_text.h"
#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/print/chunk_text.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/json.h"
#include "model/words.h"

namespace leasehold::cli {

// leasehold chunk show: a chunk with its events.
namespace {

void print_optional(std::string_view name, const std::string& value) {
  if (!value.empty()) print_field(name, shown_text(value));
}

void print_time(std::string_view name, const std::optional<Timestamp>& when, const ChunkInfo& chunk) {
  if (when) print_field(name, with_distance(*when, chunk.store_now));
}

void print_holder(const ChunkInfo& chunk) {
  if (!chunk.holder) return;
  const auto& holder = *chunk.holder;
  const bool held = chunk.state == ChunkState::running || chunk.state == ChunkState::expired;
  const auto pid = holder.pid != 0 ? fmt::format(", pid {}", holder.pid) : "";
  const auto tty = holder.tty.empty() ? "" : fmt::format(", tty {}", printable(holder.tty));
  print_field(held ? "holder" : "last holder",
              fmt::format("{} (on {}{}{})", printable(holder.name), printable(holder.host), pid, tty));
  if (!held) return;
  print_time("heartbeat", chunk.heartbeat_at, chunk);
  print_time(chunk.state == ChunkState::expired ? "expired" : "expires", chunk.expires_at, chunk);
}

void print_chunk(const ChunkInfo& chunk) {
  print_field("chunk", printable(chunk.key));
  print_field("set", printable(chunk.set));
  print_field("state", coloured(chunk.state));
  print_field("spec", shown_text(chunk.spec));
  if (chunk.cursor) print_field("cursor", shown_text(*chunk.cursor));
  print_field("rows", std::to_string(chunk.rows));
  print_time("saved", chunk.saved_at, chunk);
  print_holder(chunk);
  print_field("attempts", fmt::format("{}  (failures {}, crashes {})", chunk.attempts, chunk.failures, chunk.crashes));
  print_time("due", chunk.due_at, chunk);
  print_time("started", chunk.started_at, chunk);
  print_time("finished", chunk.finished_at, chunk);
  print_time("synced", chunk.synced_at, chunk);
  print_block("error", chunk.error);
  print_optional("note", chunk.note);
  print_field("planner",
              fmt::format("{}  (position {}, hash {})", printable(chunk.planner), chunk.position, chunk.hash));
  if (chunk.token.value != 0) print_field("token", std::to_string(chunk.token.value));
}

void print_events(const std::vector<Event>& events, Timestamp now) {
  if (events.empty()) return;
  Table table({"WHEN",
               {"WHAT", Column::as_it_is, 1},
               {"HOLDER", Column::may_be_cut, 1},
               {"FROM", Column::may_be_cut},
               {"DETAIL", Column::may_be_cut}});
  for (const auto& event : events) {
    table.add({local_time(event.at, now), event.what, shown_name(event.holder), shown_name(event.previous_holder),
               shown_text(event.detail)});
  }
  print_line("");
  table.print();
}

Result<act::ChunkDetails> details_of(const Store& store, const NamedChunk& named) {
  auto chunk = store.chunks().show(named.set, named.key);
  if (!chunk) return std::move(chunk).error();
  auto events = store.events({.key = named.set + "/" + named.key});
  if (!events) return std::move(events).error();
  // A lock may have the same name.
  std::erase_if(events->items, [](const Event& event) { return event.kind != "chunk"; });
  return act::ChunkDetails{.chunk = std::move(*chunk), .events = std::move(events->items)};
}

int show(const Context& context, const NamedChunk& named) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto details = details_of(*store, named);
  if (!details) return report(context, details.error());
  if (context.json) {
    print_line(model::to_json(*details));
    return exit_code::ok;
  }
  print_chunk(details->chunk);
  print_events(details->events, details->chunk.store_now);
  return exit_code::ok;
}

}  // namespace

void add_chunk_show(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "show", "Show a chunk: state, cursor, rows, holder, budgets and events (exit code 4: unknown)",
      {"leasehold chunk show orders 1-10000", "leasehold chunk show orders 1-10000 --json | jq .cursor"});
  auto named = std::make_shared<NamedChunk>();
  add_named_chunk(*command, *named);
  set_action(*command, context, [&context, named] { return show(context, *named); });
}

// leasehold chunk ls: sets, or the chunks of one; one line each.
namespace {

struct ChunkLsOptions {
  std::string set;
  std::string state;
  ChunkFilter filter;
  bool watch = false;
};

std::vector<std::string> table_of(const std::vector<ChunkSetInfo>& sets) {
  Table table({{"SET", Column::may_be_cut},
               {"STATE", Column::as_it_is, 2},
               {"CHUNKS", Column::to_the_right, 2},
               {"ROWS", Column::to_the_right, 1},
               {"RUNNING", Column::to_the_right},
               {"EXHAUSTED", Column::to_the_right, 1},
               {"STARTED", Column::as_it_is, -1},
               {"OLDEST SYNC", Column::as_it_is, -1}});
  for (const auto& set : sets) {
    const auto age = [&](const std::optional<Timestamp>& at) { return at ? format_age(set.store_now - *at) : "-"; };
    table.add({printable(set.name), coloured_summary(set), shown_count(set), std::to_string(set.rows),
               std::to_string(set.running + set.expired), std::to_string(set.exhausted), age(set.started_at),
               age(set.oldest_sync)});
  }
  return table.lines();
}

/// The most useful fact about a chunk in this state.
std::string gist_of(const ChunkInfo& chunk) {
  switch (chunk.state) {
    case ChunkState::deferred:
      return fmt::format("in {}  {}", chunk.due_at ? format_duration(*chunk.due_at - chunk.store_now) : "-",
                         shown_text(first_line(chunk.error)));
    case ChunkState::running:
    case ChunkState::expired:
      return fmt::format("{}{}", shown_name(chunk.holder), chunk.cursor ? "  at " + shown_text(*chunk.cursor) : "");
    case ChunkState::completed: return chunk.synced_at ? format_age(chunk.store_now - *chunk.synced_at) : "";
    case ChunkState::skipped: return shown_text(chunk.note);
    case ChunkState::exhausted: return shown_text(first_line(chunk.error));
    case ChunkState::available: break;
  }
  return chunk.cursor ? "at " + shown_text(*chunk.cursor) : "";
}

std::vector<std::string> table_of(const std::vector<ChunkInfo>& chunks) {
  Table table({{"KEY", Column::may_be_cut},
               {"STATE", Column::as_it_is, 2},
               {"ATTEMPTS", Column::to_the_right},
               {"ROWS", Column::to_the_right},
               {"WHAT", Column::may_be_cut, 1}});
  for (const auto& chunk : chunks) {
    table.add({printable(chunk.key), coloured(chunk.state), std::to_string(chunk.attempts), std::to_string(chunk.rows),
               gist_of(chunk)});
  }
  return table.lines();
}

Result<ListPicture> look_at_sets(const Store& store) {
  auto sets = store.chunks().sets();
  if (!sets) return std::move(sets).error();
  const Page<ChunkSetInfo> page{.items = std::move(*sets)};
  return picture_of(
      page, table_of(page.items), [](const auto& set) { return set.name; },
      [](const auto& set) { return fmt::format("{}, {} rows", set.summary(), set.rows); });
}

Result<ListPicture> look_at_chunks(const Store& store, const ChunkLsOptions& options) {
  const auto chunks = store.chunks().list(options.set, options.filter);
  if (!chunks) return chunks.error();
  return picture_of(
      *chunks, table_of(chunks->items), [](const auto& chunk) { return chunk.key; },
      [](const auto& chunk) { return fmt::format("{}, {} rows", to_string(chunk.state), chunk.rows); });
}

int list(const Context& context, ChunkLsOptions& options) {
  if (options.set.empty() && !options.state.empty()) {
    return report(context,
                  {.code = Errc::invalid_argument, .message = "--state filters the chunks of a set: name a set"});
  }
  options.filter.state = from_word<ChunkState>(options.state);
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const bool sets = options.set.empty();
  return show_list(context, *store, {.what = sets ? "sets" : "chunks", .watch = options.watch, .look = [&] {
                                       return sets ? look_at_sets(*store) : look_at_chunks(*store, options);
                                     }});
}

}  // namespace

void add_chunk_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List the sets, or the chunks of one set in plan order",
                              {"leasehold chunk ls", "leasehold chunk ls orders --state exhausted",
                               "leasehold chunk ls orders --json | jq -r '.items[] | [.key, .rows] | @tsv'"});
  auto options = std::make_shared<ChunkLsOptions>();
  command->add_option("SET", options->set, "List its chunks (default: list the sets)")->type_name("");
  add_choice(*command, "--state", options->state,
             {"available", "deferred", "running", "expired", "completed", "skipped", "exhausted"},
             "Only chunks in this state");
  add_paging(*command, options->filter.max, options->filter.page);
  add_watch(*command, options->watch);
  set_action(*command, context, [&context, options] { return list(context, *options); });
}

}  // namespace leasehold::cli
