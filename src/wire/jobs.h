// Jobs, queues and recoveries as JSON trees. Only wire's own .cc files see this.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <vector>

#include "leasehold/queue.h"
#include "leasehold/recovery.h"

namespace leasehold::wire {

boost::json::array encode(const std::vector<QueueInfo>& queues);
boost::json::object encode(const RecoveryStats& recovery);

}  // namespace leasehold::wire
