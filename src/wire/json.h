// Between Boost.JSON's tree and text. Only wire's own .cc files see this.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/lease.h"
#include "leasehold/time.h"

namespace leasehold::wire {

/// Compact. Numbers are written as people write them: 0.25, not Boost's 2.5E-1.
std::string render(const boost::json::value& value);

/// A rendered object that is not empty, with further members that are rendered, too.
std::string with_members(std::string object,
                         std::initializer_list<std::pair<std::string_view, std::string_view>> members);

/// JSON that users gave. It may say numbers that no other reader keeps as they are, so it is not read but passed on, on
/// one line.
std::string as_it_is(std::string_view kept);

/// As it is, but for what is not UTF-8.
boost::json::string text(std::string_view bytes);

/// 30, or 0.25.
boost::json::value seconds(Duration span);

/// Zero for what has passed.
boost::json::value seconds_from_now(BootTime until);

boost::json::string timestamp(Timestamp when);

boost::json::array texts(const std::vector<std::string>& list);

/// Empty text means "there is none": JSON says null.
boost::json::value text_or_null(std::string_view value);

/// Zero means "not known", or "none".
boost::json::value number_or_null(std::int64_t value);

boost::json::value timestamp_or_null(const std::optional<Timestamp>& when);

/// Any bytes: under `key` as text where they are UTF-8, else under `key`_base64.
void put_bytes(boost::json::object& object, std::string_view key, std::string_view bytes);

boost::json::object encode(const Holder& holder);

}  // namespace leasehold::wire
