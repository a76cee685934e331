// leasehold chunk reset: load chunks again.
#include <algorithm>
#include <limits>
#include <memory>

#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

constexpr int all_of_them = std::numeric_limits<int>::max();

struct ChunkResetOptions {
  std::string set;
  bool failed = false;
  bool all = false;
  std::optional<Duration> older;
  std::vector<std::string> keys;
  bool from_start = false;
  Consent consent;
};

/// Requires exactly one of them.
Result<ChunkReset> which_ones(const ChunkResetOptions& options) {
  const int said =
      (options.failed ? 1 : 0) + (options.all ? 1 : 0) + (options.older ? 1 : 0) + (options.keys.empty() ? 0 : 1);
  if (said != 1) {
    return Error{.code = Errc::invalid_argument,
                 .message = "use one of --failed, --older-than DURATION, --all, or keys"};
  }
  ChunkReset reset{.keys = options.keys, .from_start = options.from_start};
  if (options.all) reset.which = ChunkReset::Which::all;
  if (!options.keys.empty()) reset.which = ChunkReset::Which::keys;
  if (options.older) {
    reset.which = ChunkReset::Which::older;
    reset.older_than = *options.older;
  }
  return reset;
}

bool is_held(const ChunkInfo& chunk) {
  return chunk.state == ChunkState::running || chunk.state == ChunkState::expired;
}

Result<ChunkResetOutcome> count_keys(const Chunks& chunks, const ChunkResetOptions& options) {
  ChunkResetOutcome outcome;
  for (const auto& key : options.keys) {
    const auto chunk = chunks.show(options.set, key);
    if (!chunk && chunk.error().code != Errc::not_found) return chunk.error();
    ++(!chunk ? outcome.missing : is_held(*chunk) ? outcome.running : outcome.reset);
  }
  return outcome;
}

Result<ChunkResetOutcome> count_older(const Chunks& chunks, const ChunkResetOptions& options) {
  const auto completed = chunks.list(options.set, {.state = ChunkState::completed, .max = all_of_them});
  if (!completed) return completed.error();
  const auto is_old = [&](const ChunkInfo& chunk) {
    return chunk.synced_at && *chunk.synced_at <= chunk.store_now - *options.older;
  };
  return ChunkResetOutcome{.reset = std::count_if(completed->begin(), completed->end(), is_old)};
}

/// What a reset would do now.
Result<ChunkResetOutcome> count(const Chunks& chunks, const ChunkResetOptions& options) {
  const auto set = chunks.progress(options.set);
  if (!set) return set.error();
  if (!options.keys.empty()) return count_keys(chunks, options);
  if (options.older) return count_older(chunks, options);
  if (options.failed) return ChunkResetOutcome{.reset = set->exhausted};
  const auto held = set->running + set->expired;
  return ChunkResetOutcome{.reset = set->total - held, .running = held};
}

void print_outcome(const ChunkResetOptions& options, const ChunkResetOutcome& outcome) {
  print("{} {} of {}", options.consent.dry_run ? "would reset" : "reset", counted(outcome.reset, "chunk"),
        printable(options.set));
  if (outcome.running > 0) say("held and not reset: {}", counted(outcome.running, "chunk"));
  if (outcome.missing > 0) say("not in the set: {}", counted(outcome.missing, "key"));
}

int reset(const Context& context, const ChunkResetOptions& options) {
  const auto which = which_ones(options);
  if (!which) return report(context, which.error());
  if (options.all && !options.consent.given()) {
    return ask_for_yes(context, "reset --all loads the whole set again");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto chunks = store->chunks();
  const auto outcome = options.consent.dry_run ? count(chunks, options) : chunks.reset(options.set, *which);
  if (!outcome) return report(context, outcome.error());
  if (context.json) {
    print_line(model::to_json(*outcome));
  } else {
    print_outcome(options, *outcome);
  }
  if (outcome->missing > 0) return exit_code::not_found;
  const bool refused = !options.keys.empty() && outcome->running > 0;
  return refused ? exit_code::held : exit_code::ok;
}

}  // namespace

void add_chunk_reset(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "reset",
      "Reopen chunks with fresh budgets: exhausted ones continue from their cursor, completed ones start over (exit "
      "code 75: a named chunk is held)",
      {"leasehold chunk reset orders --failed", "leasehold chunk reset orders --older-than 1d --dry-run",
       "leasehold chunk reset orders 1-10000 10001-20000", "leasehold chunk reset orders --all --from-start --yes"});
  auto options = std::make_shared<ChunkResetOptions>();
  add_set_name(*command, options->set);
  command->add_option("KEY", options->keys, "Chunks to reset")->type_name("");
  command->add_flag("--failed", options->failed, "Exhausted chunks");
  add_duration(*command, "--older-than", options->older, "Chunks completed longer ago than this");
  command->add_flag("--all", options->all, "All chunks that are not held; needs --yes");
  command->add_flag("--from-start", options->from_start, "Discard the cursors of exhausted chunks, too");
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return reset(context, *options); });
}

}  // namespace leasehold::cli
