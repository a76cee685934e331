// leasehold chunk complete: all of it is loaded.
#include <memory>

#include "cli/chunk_options.h"
#include "cli/chunk_verdict.h"
#include "cli/command.h"

namespace leasehold::cli {
namespace {

struct ChunkCompleteOptions {
  NamedChunk chunk;
  Token token;
  SaveOptions save;
};

}  // namespace

void add_chunk_complete(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "complete",
                              "Say that a chunk is loaded; refused once somebody else has it (exit code 76)",
                              {"leasehold chunk complete orders 1-10000 --token 1763200000000000 --rows 9812",
                               "leasehold chunk complete --rows 9812    # under `chunk run`"});
  auto options = std::make_shared<ChunkCompleteOptions>();
  add_named_chunk(*command, options->chunk);
  add_token(*command, options->token);
  add_save(*command, options->save);
  set_action(*command, context, [&context, options] {
    return settle(context, options->chunk, [&](const Chunks& chunks) {
      return chunks.complete(options->chunk.set, options->chunk.key, options->token, options->save.save());
    });
  });
}

}  // namespace leasehold::cli
