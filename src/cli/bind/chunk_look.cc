// leasehold chunk show, ls.
#include <algorithm>
#include <memory>

#include "base/time_text.h"
#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/print/chunk_text.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/words.h"
#include "wire/wire.h"

namespace leasehold::cli {

// leasehold chunk show: a chunk's whole story.
namespace {

void print_optional(std::string_view name, const std::string& value) {
  if (!value.empty()) print_field(name, shown_text(value));
}

void print_time(std::string_view name, const std::optional<Timestamp>& when, const ChunkInfo& chunk) {
  if (when) print_field(name, with_distance(*when, chunk.store_now));
}

void print_holder(const ChunkInfo& chunk) {
  if (chunk.holder.empty()) return;
  const bool held = chunk.state == ChunkState::running || chunk.state == ChunkState::expired;
  const auto pid = chunk.pid != 0 ? fmt::format(", pid {}", chunk.pid) : "";
  const auto tty = chunk.tty.empty() ? "" : fmt::format(", tty {}", printable(chunk.tty));
  print_field(held ? "holder" : "last holder",
              fmt::format("{} (on {}{}{})", printable(chunk.holder), printable(chunk.host), pid, tty));
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
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : shown_text(text); };
  for (const auto& event : events) {
    table.add({local_time(event.at, now), event.what, or_dash(event.holder), or_dash(event.previous_holder),
               shown_text(event.detail)});
  }
  print_line("");
  table.print();
}

Result<wire::ChunkStory> story_of(const Store& store, const NamedChunk& named) {
  auto chunk = store.chunks().show(named.set, named.key);
  if (!chunk) return std::move(chunk).error();
  auto events = store.events({.key = named.set + "/" + named.key});
  if (!events) return std::move(events).error();
  // A lock may have the same name.
  std::erase_if(*events, [](const Event& event) { return event.kind != "chunk"; });
  return wire::ChunkStory{.chunk = std::move(*chunk), .events = std::move(*events)};
}

int show(const Context& context, const NamedChunk& named) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto story = story_of(*store, named);
  if (!story) return report(context, story.error());
  if (context.json) {
    print_line(wire::to_json(*story));
    return exit_code::ok;
  }
  print_chunk(story->chunk);
  print_events(story->events, story->chunk.store_now);
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
};

void print_sets(const std::vector<ChunkSetInfo>& sets) {
  if (sets.empty()) return say_line("no sets");
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
  table.print();
}

/// The one thing people want to know about a chunk in this state.
std::string gist_of(const ChunkInfo& chunk) {
  switch (chunk.state) {
    case ChunkState::deferred:
      return fmt::format("in {}  {}", chunk.due_at ? format_duration(*chunk.due_at - chunk.store_now) : "-",
                         shown_text(first_line(chunk.error)));
    case ChunkState::running:
    case ChunkState::expired:
      return fmt::format("{}{}", printable(chunk.holder), chunk.cursor ? "  at " + shown_text(*chunk.cursor) : "");
    case ChunkState::completed: return chunk.synced_at ? format_age(chunk.store_now - *chunk.synced_at) : "";
    case ChunkState::skipped: return shown_text(chunk.note);
    case ChunkState::exhausted: return shown_text(first_line(chunk.error));
    case ChunkState::available: break;
  }
  return chunk.cursor ? "at " + shown_text(*chunk.cursor) : "";
}

void print_chunks(const std::vector<ChunkInfo>& chunks, int limit) {
  if (chunks.empty()) return say_line("no chunks");
  Table table({{"KEY", Column::may_be_cut},
               {"STATE", Column::as_it_is, 2},
               {"ATTEMPTS", Column::to_the_right},
               {"ROWS", Column::to_the_right},
               {"WHAT", Column::may_be_cut, 1}});
  for (const auto& chunk : chunks) {
    table.add({printable(chunk.key), coloured(chunk.state), std::to_string(chunk.attempts), std::to_string(chunk.rows),
               gist_of(chunk)});
  }
  table.print();
  if (chunks.size() == static_cast<std::size_t>(limit)) say("only the first {} are shown: see --limit", limit);
}

int list_sets(const Context& context, const Store& store) {
  const auto sets = store.chunks().sets();
  if (!sets) return report(context, sets.error());
  if (context.json) {
    print_line(wire::to_json(*sets));
  } else {
    print_sets(*sets);
  }
  return exit_code::ok;
}

int list_chunks(const Context& context, const Store& store, const ChunkLsOptions& options) {
  const auto chunks = store.chunks().list(options.set, options.filter);
  if (!chunks) return report(context, chunks.error());
  if (context.json) {
    print_line(wire::to_json(*chunks));
  } else {
    print_chunks(*chunks, options.filter.limit);
  }
  return exit_code::ok;
}

int list(const Context& context, ChunkLsOptions& options) {
  if (options.set.empty() && !options.state.empty()) {
    return report(context, {.code = Errc::invalid_argument, .message = "--state is for the chunks of a set: name it"});
  }
  options.filter.state = from_word<ChunkState>(options.state);
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return options.set.empty() ? list_sets(context, *store) : list_chunks(context, *store, options);
}

}  // namespace

void add_chunk_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List the sets, or the chunks of one in the order of its plan",
                              {"leasehold chunk ls", "leasehold chunk ls orders --state exhausted",
                               "leasehold chunk ls orders --json | jq -r '.[] | [.key, .rows] | @tsv'"});
  auto options = std::make_shared<ChunkLsOptions>();
  command->add_option("SET", options->set, "Its chunks (default: the sets)")->type_name("");
  add_choice(*command, "--state", options->state,
             {"available", "deferred", "running", "expired", "completed", "skipped", "exhausted"},
             "Only chunks in this state");
  add_limit(*command, "--limit", options->filter.limit, "At most N chunks");
  set_action(*command, context, [&context, options] { return list(context, *options); });
}

}  // namespace leasehold::cli
