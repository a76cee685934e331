// leasehold chunk ls: sets, or the chunks of one; one line each.
#include <memory>

#include "base/names.h"
#include "cli/chunk_text.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/table.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ChunkLsOptions {
  std::string set;
  std::string state;
  ChunkFilter filter;
};

void print_sets(const std::vector<ChunkSetInfo>& sets) {
  if (sets.empty()) return say_line("no sets");
  Table table({{"SET", Column::may_be_cut},
               "STATE",
               {"CHUNKS", Column::to_the_right},
               {"ROWS", Column::to_the_right},
               {"RUNNING", Column::to_the_right},
               {"EXHAUSTED", Column::to_the_right},
               "STARTED",
               "OLDEST SYNC"});
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
                         shown_text(chunk.error));
    case ChunkState::running:
    case ChunkState::expired:
      return fmt::format("{}{}", printable(chunk.holder), chunk.cursor ? "  at " + shown_text(*chunk.cursor) : "");
    case ChunkState::completed: return chunk.synced_at ? format_age(chunk.store_now - *chunk.synced_at) : "";
    case ChunkState::skipped: return shown_text(chunk.note);
    case ChunkState::exhausted: return shown_text(chunk.error);
    case ChunkState::available: break;
  }
  return chunk.cursor ? "at " + shown_text(*chunk.cursor) : "";
}

void print_chunks(const std::vector<ChunkInfo>& chunks, int limit) {
  if (chunks.empty()) return say_line("no chunks");
  Table table({{"KEY", Column::may_be_cut},
               "STATE",
               {"ATTEMPTS", Column::to_the_right},
               {"ROWS", Column::to_the_right},
               {"WHAT", Column::may_be_cut}});
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
  options.filter.state = chunk_state_from(options.state);
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
  add_number(*command, "--limit", options->filter.limit, 1, 1'000'000, "At most N chunks (default 1000)");
  set_action(*command, context, [&context, options] { return list(context, *options); });
}

}  // namespace leasehold::cli
