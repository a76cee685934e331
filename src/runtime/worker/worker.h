// What a Worker consists of, for those that run its handlers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "leasehold/worker.h"

namespace leasehold {

namespace worker {

using Handlers = std::map<std::string, Handler>;

Result<void> check_options(const WorkerOptions& options, const Handlers& handlers);

}  // namespace worker

struct Worker::Impl {
  Store store;
  WorkerOptions options;
  worker::Handlers handlers;
};

}  // namespace leasehold
