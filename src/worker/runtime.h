// One run of a worker, from the first claim to the last verdict.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "leasehold/worker.h"
#include "worker/source.h"

namespace leasehold::worker {

using Handlers = std::map<std::string, Handler>;
std::vector<std::string> queues_of(const Handlers& handlers);

/// What Worker::run does, over any source. Throws std::system_error where no thread is to be had.
Result<WorkSummary> run_worker(WorkSource& source, const Handlers& handlers, const WorkerOptions& options,
                               const std::stop_token& stop);

}  // namespace leasehold::worker
