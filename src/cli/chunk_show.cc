// leasehold chunk show: a chunk's whole story.
#include <algorithm>
#include <memory>

#include "cli/chunk_options.h"
#include "cli/chunk_text.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/table.h"
#include "wire/chunk_story.h"

namespace leasehold::cli {
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
  print_optional("error", chunk.error);
  print_optional("note", chunk.note);
  print_field("planner",
              fmt::format("{}  (position {}, hash {})", printable(chunk.planner), chunk.position, chunk.hash));
  if (chunk.token.value != 0) print_field("token", std::to_string(chunk.token.value));
}

void print_events(const std::vector<Event>& events, Timestamp now) {
  if (events.empty()) return;
  Table table(
      {"WHEN", "WHAT", {"HOLDER", Column::may_be_cut}, {"FROM", Column::may_be_cut}, {"DETAIL", Column::may_be_cut}});
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
      parent, context, "show",
      "Tell a chunk's story: state, cursor, rows, holder, budgets, what happened to it (exit code 4: unknown)",
      {"leasehold chunk show orders 1-10000", "leasehold chunk show orders 1-10000 --json | jq .cursor"});
  auto named = std::make_shared<NamedChunk>();
  add_named_chunk(*command, *named);
  set_action(*command, context, [&context, named] { return show(context, *named); });
}

}  // namespace leasehold::cli
