// Between Boost.JSON's tree and text. Only wire's own .cc files see this.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "leasehold/time.h"

namespace leasehold::wire {

/// Compact. Numbers are written as people write them: 0.25, not Boost's 2.5E-1.
std::string render(const boost::json::value& value);

/// As it is, but for what is not UTF-8.
boost::json::string text(std::string_view bytes);

/// 30, or 0.25.
boost::json::value seconds(Duration span);

boost::json::string timestamp(Timestamp when);

}  // namespace leasehold::wire
