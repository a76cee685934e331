// leasehold chunk release: give a chunk back, with how far it got.
#include <memory>

#include "cli/chunk_options.h"
#include "cli/chunk_verdict.h"
#include "cli/command.h"

namespace leasehold::cli {
namespace {

struct ChunkReleaseOptions {
  NamedChunk chunk;
  Token token;
  SaveOptions save;
};

}  // namespace

void add_chunk_release(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "release",
                  "Give a chunk back: it is available at once, from its last cursor, and no budget is charged",
                  {"leasehold chunk release orders 1-10000 --token 1763200000000000",
                   R"(leasehold chunk release orders 1-10000 --token "$token" --cursor '{"page":17}' --rows 1700)"});
  auto options = std::make_shared<ChunkReleaseOptions>();
  add_named_chunk(*command, options->chunk);
  add_token(*command, options->token);
  add_save(*command, options->save);
  set_action(*command, context, [&context, options] {
    return settle(context, options->chunk, [&](const Chunks& chunks) {
      return chunks.release(options->chunk.set, options->chunk.key, options->token, options->save.save());
    });
  });
}

}  // namespace leasehold::cli
