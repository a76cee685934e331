// leasehold chunk skip: it need not be loaded.
#include <memory>

#include "cli/chunk_options.h"
#include "cli/chunk_verdict.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ChunkSkipOptions {
  NamedChunk chunk;
  std::optional<Token> token;
  std::string reason;
};

/// The token at hand is only meant where this is the chunk that `chunk run` gave to the caller.
std::optional<Token> token_of(const ChunkSkipOptions& options) {
  if (options.token) return options.token;
  const bool own =
      environment_says("LEASEHOLD_SET", options.chunk.set) && environment_says("LEASEHOLD_KEY", options.chunk.key);
  return own ? token_from_environment() : std::nullopt;
}

int skip_as_operator(const Context& context, const ChunkSkipOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto state = store->chunks().skip(options.chunk.set, options.chunk.key, options.reason);
  if (!state) return report(context, state.error());
  if (context.json) {
    print_line(wire::object({{"set", options.chunk.set}, {"key", options.chunk.key}, {"state", to_string(*state)}}));
  } else {
    print("skipped {}", printable(options.chunk.key));
  }
  return exit_code::ok;
}

int skip(const Context& context, const ChunkSkipOptions& options) {
  const auto token = token_of(options);
  if (!token) return skip_as_operator(context, options);
  return settle(context, options.chunk, [&](const Chunks& chunks) {
    return chunks.skip(options.chunk.set, options.chunk.key, *token, options.reason);
  });
}

}  // namespace

void add_chunk_skip(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "skip", "Decide that a chunk need not be loaded; its set can be complete without it",
                  {"leasehold chunk skip orders 1-10000 --reason 'deleted at the source'",
                   "leasehold chunk skip orders 1-10000 --token \"$token\" --reason 'no rows'    # by its holder"});
  auto options = std::make_shared<ChunkSkipOptions>();
  add_named_chunk(*command, options->chunk);
  add_optional_token(*command, options->token,
                     "As the one who holds it (under `chunk run`: from LEASEHOLD_TOKEN). Without: as an operator, of a "
                     "chunk that nobody holds");
  command->add_option("--reason", options->reason, "Why; kept with the chunk")
      ->check(not_empty)
      ->required()
      ->type_name("TEXT");
  set_action(*command, context, [&context, options] { return skip(context, *options); });
}

}  // namespace leasehold::cli
