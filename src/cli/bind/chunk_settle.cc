// leasehold chunk complete, fail, release, skip.
#include <fmt/format.h>
#include <functional>
#include <memory>

#include "act/confirmations.h"
#include "base/text.h"
#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/input.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/wrapper_variables.h"
#include "model/bounds.h"
#include "model/json.h"

namespace leasehold::cli {

// Shared by complete, fail, release and skip: a verdict on a held chunk, and the chunk's new state.
using SendVerdict = std::function<Result<ChunkSettled>(const Chunks& chunks)>;

/// Sends the verdict and prints the chunk's new state; returns the exit code.
int settle(const Context& context, const NamedChunk& chunk, const SendVerdict& send_verdict);

namespace {

std::string describe_settled(const std::string& key, const ChunkSettled& settled) {
  switch (settled.state) {
    case ChunkState::completed: return fmt::format("completed {}", key);
    case ChunkState::skipped: return fmt::format("skipped {}", key);
    case ChunkState::exhausted: return fmt::format("failed {}: it is exhausted", key);
    case ChunkState::deferred: break;
    case ChunkState::available:
    case ChunkState::running:
    case ChunkState::expired: return fmt::format("returned {}: it is {}", key, to_string(settled.state));
  }
  const auto when = settled.due_at ? " until " + local_time(*settled.due_at, wall_clock()) : "";
  return fmt::format("deferred {}{}", key, when);
}

void report_end_of_set(const std::string& set, ChunkSetState state) {
  if (state == ChunkSetState::complete) say("that was the last chunk: {} is complete", printable(set));
  if (state == ChunkSetState::partial) say("that was the last chunk: {} ends partial", printable(set));
}

}  // namespace

int settle(const Context& context, const NamedChunk& chunk, const SendVerdict& send_verdict) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto settled = send_verdict(store->chunks());
  if (!settled) return report(context, settled.error());
  if (context.json) {
    print_line(model::to_json(*settled));
    return exit_code::ok;
  }
  print("{}{}", describe_settled(printable(chunk.key), *settled), settled->replayed ? "  (repeated)" : "");
  report_end_of_set(chunk.set, settled->set_state);
  return exit_code::ok;
}

// leasehold chunk complete: report a chunk as fully loaded.
namespace {

struct ChunkCompleteOptions {
  HeldChunk chunk;
  SaveOptions save;
};

}  // namespace

void add_chunk_complete(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "complete", "Complete a chunk; refused once another holder has it (exit code 76)",
                  {"leasehold chunk complete orders 1-10000 --token 1763200000000000 --rows 9812",
                   "leasehold chunk complete --rows 9812    # under `chunk run`"});
  auto options = std::make_shared<ChunkCompleteOptions>();
  add_held_chunk(*command, context, options->chunk);
  add_save(*command, options->save);
  set_action(*command, context, [&context, options] {
    return settle(context, options->chunk, [&](const Chunks& chunks) {
      return chunks.complete(options->chunk.set, options->chunk.key, options->chunk.token, options->save.save());
    });
  });
}

// leasehold chunk fail: report a failure; the chunk is retried later, or never.
namespace {

struct FailedChunk {
  HeldChunk chunk;
  SaveOptions save;
  TextOrFile error;
  bool final = false;
  std::optional<Duration> delay;
};

int fail(const Context& context, const FailedChunk& options) {
  auto error = options.error.read(bounds::error_bytes, TooLong::cut);
  if (!error) return report(context, error.error());
  return settle(context, options.chunk, [&](const Chunks& chunks) {
    const auto save = options.save.save();
    return chunks.settle({.set = options.chunk.set,
                          .key = options.chunk.key,
                          .token = options.chunk.token,
                          .verdict = {.kind = Verdict::Kind::fail,
                                      .text = std::move(*error),
                                      .retryable = !options.final,
                                      .delay = options.delay,
                                      .cursor = save.cursor,
                                      .rows = save.rows}});
  });
}

}  // namespace

void add_chunk_fail(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "fail",
                              "Fail a chunk; it is retried after its backoff, from its last cursor, until it is "
                              "exhausted",
                              {"leasehold chunk fail orders 1-10000 --token 1763200000000000 --error '502 bad gateway'",
                               "leasehold chunk fail orders 1-10000 --token \"$token\" --final --error-file log.txt"});
  auto options = std::make_shared<FailedChunk>();
  add_held_chunk(*command, context, options->chunk);
  add_text_or_file(*command, "--error", options->error, "Reason; kept with the chunk", bounds::error_bytes);
  auto* final = command->add_flag("--final", options->final, "Do not retry: the chunk is exhausted at once");
  add_duration(*command, "--delay", options->delay, "Retry after this time instead of the backoff")->excludes(final);
  add_save(*command, options->save);
  set_action(*command, context, [&context, options] { return fail(context, *options); });
}

// leasehold chunk release: give a chunk back, with its progress.
namespace {

struct ChunkReleaseOptions {
  HeldChunk chunk;
  SaveOptions save;
};

}  // namespace

void add_chunk_release(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "release",
                  "Release a chunk; it is available at once, from its last cursor, and no budget is charged",
                  {"leasehold chunk release orders 1-10000 --token 1763200000000000",
                   R"(leasehold chunk release orders 1-10000 --token "$token" --cursor '{"page":17}' --rows 1700)"});
  auto options = std::make_shared<ChunkReleaseOptions>();
  add_held_chunk(*command, context, options->chunk);
  add_save(*command, options->save);
  set_action(*command, context, [&context, options] {
    return settle(context, options->chunk, [&](const Chunks& chunks) {
      return chunks.release(options->chunk.set, options->chunk.key, options->chunk.token, options->save.save());
    });
  });
}

// leasehold chunk skip: mark a chunk that need not be loaded.
namespace {

struct ChunkSkipOptions {
  NamedChunk chunk;
  std::optional<Token> token;
  std::string reason;
};

int skip_as_operator(const Context& context, const ChunkSkipOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto state = store->chunks().skip(options.chunk.set, options.chunk.key, options.reason);
  if (!state) return report(context, state.error());
  if (context.json) {
    print_line(model::to_json(act::ChunkSkipped{options.chunk.set, options.chunk.key, *state}));
  } else {
    print("skipped {}", printable(options.chunk.key));
  }
  return exit_code::ok;
}

int skip(const Context& context, const ChunkSkipOptions& options) {
  if (!options.token) return skip_as_operator(context, options);
  return settle(context, options.chunk, [&](const Chunks& chunks) {
    return chunks.skip(options.chunk.set, options.chunk.key, *options.token, options.reason);
  });
}

}  // namespace

void add_chunk_skip(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "skip", "Skip a chunk; its set can be complete without it",
                  {"leasehold chunk skip orders 1-10000 --reason 'deleted at the source'",
                   "leasehold chunk skip orders 1-10000 --token \"$token\" --reason 'no rows'    # by its holder"});
  auto options = std::make_shared<ChunkSkipOptions>();
  add_named_chunk(*command, options->chunk);
  add_optional_token(*command, options->token,
                     "Token of the holder (under `chunk run`: from LEASEHOLD_CHUNK_TOKEN). Without it, an operator "
                     "skips a chunk that is not held");
  command->add_option("--reason", options->reason, "Reason; kept with the chunk")
      ->check(not_empty)
      ->required()
      ->type_name("TEXT");
  // A token in the environment applies only to the chunk that `chunk run` gave to the caller.
  after_parsing(*command, context, [&context, options] {
    if (options->token || !options->chunk.is_own()) return;
    options->token = token_from_environment(held::chunk, true);
    act_where_held(context, held::chunk);
  });
  set_action(*command, context, [&context, options] { return skip(context, *options); });
}

}  // namespace leasehold::cli
