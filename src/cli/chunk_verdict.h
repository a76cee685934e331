// What complete, fail, release and skip have in common: a verdict about a held chunk, and where it put the chunk.
#pragma once

#include <functional>

#include "cli/chunk_options.h"
#include "cli/context.h"

namespace leasehold::cli {

using SayVerdict = std::function<Result<ChunkSettled>(const Chunks& chunks)>;

/// Says the verdict and prints where the chunk is now; gives the exit code.
int settle(const Context& context, const NamedChunk& chunk, const SayVerdict& say_verdict);

}  // namespace leasehold::cli
