// leasehold chunk fail: it went wrong; again later, or never.
#include <memory>

#include "cli/chunk_options.h"
#include "cli/chunk_verdict.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/report.h"
#include "core/job_limits.h"

namespace leasehold::cli {
namespace {

struct ChunkFailOptions {
  NamedChunk chunk;
  Token token;
  SaveOptions save;
  std::string error;
  std::string error_file;
  bool final = false;
  std::optional<Duration> delay;
};

int fail(const Context& context, ChunkFailOptions& options) {
  if (!options.error_file.empty()) {
    auto bytes = read_bytes(options.error_file, max_error_bytes, TooLong::cut);
    if (!bytes) return report(context, bytes.error());
    options.error = std::move(*bytes);
  }
  return settle(context, options.chunk, [&](const Chunks& chunks) {
    return chunks.fail(
        options.chunk.set, options.chunk.key, options.token,
        {.error = options.error, .retryable = !options.final, .delay = options.delay, .save = options.save.save()});
  });
}

}  // namespace

void add_chunk_fail(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "fail",
                  "Say that a chunk went wrong: it is tried again after its backoff, from its last cursor, until it is "
                  "exhausted",
                  {"leasehold chunk fail orders 1-10000 --token 1763200000000000 --error '502 bad gateway'",
                   "leasehold chunk fail orders 1-10000 --token \"$token\" --final --error-file log.txt"});
  auto options = std::make_shared<ChunkFailOptions>();
  add_named_chunk(*command, options->chunk);
  add_token(*command, options->token);
  auto* error = command->add_option("--error", options->error, "Why; kept with the chunk")->type_name("TEXT");
  command->add_option("--error-file", options->error_file, "The same from a file, up to 64 KiB; - is standard input")
      ->check(not_empty)
      ->type_name("FILE")
      ->excludes(error);
  auto* final = command->add_flag("--final", options->final, "Do not try again: it is exhausted at once");
  add_optional_duration(*command, "--delay", options->delay, "Try again after this, not after the backoff")
      ->excludes(final);
  add_save(*command, options->save);
  set_action(*command, context, [&context, options] { return fail(context, *options); });
}

}  // namespace leasehold::cli
