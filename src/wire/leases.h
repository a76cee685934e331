// Leases as JSON trees. Only wire's own .cc files see this.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "leasehold/lease.h"
#include "leasehold/lock.h"

namespace leasehold::wire {

boost::json::object encode(const Grant& grant);
boost::json::object encode(const LeaseInfo& lease);
boost::json::object encode(const LockInfo& lock);
boost::json::object encode(const LockHolder& holder);

/// Whole ones, as people count them: 90 seconds are 1.
boost::json::value minutes(Duration span);

/// How long ago: `heartbeat` becomes "heartbeat_age_seconds": 125 and "heartbeat_age_human": "2m ago".
void put_age(boost::json::object& out, std::string_view what, Duration age);

}  // namespace leasehold::wire
