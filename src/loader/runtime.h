// One run of a loader, from the first claim to the last verdict.
#pragma once

#include <stop_token>

#include "leasehold/loader.h"
#include "loader/source.h"

namespace leasehold::loader {

/// What Loader::run does, over any source. Throws std::system_error where no thread is to be had.
Result<LoadSummary> run_loader(ChunkSource& source, const ChunkHandler& handler, const LoaderOptions& options,
                               const std::stop_token& stop);

}  // namespace leasehold::loader
