// What a caller may ask for. Checked before anything is sent, with the same bounds on both stores.
#pragma once

#include <string_view>

#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

constexpr Duration min_ttl = std::chrono::milliseconds(50);
constexpr Duration max_ttl = std::chrono::days(30);
/// Nobody waits longer: sums with it do not overflow.
constexpr Duration max_wait = std::chrono::years(100);
constexpr std::size_t max_name_bytes = 512;
constexpr std::size_t max_text_bytes = 4096;

/// 1 to 512 bytes of UTF-8 without control characters. `what` is for the message: "lock name".
Result<void> check_name(std::string_view what, std::string_view name);

/// Free text such as a reason: at most 4096 bytes of UTF-8 without NUL.
Result<void> check_text(std::string_view what, std::string_view text);

Result<void> check_ttl(Duration ttl);

/// How long a caller waits for something: not negative. Any length will do, Duration::max() is for ever.
Result<void> check_wait(Duration wait);

/// The same wait, short enough to be added to a moment.
Duration bounded_wait(Duration wait);

/// `what` is for the message: "priority".
Result<void> check_range(std::string_view what, std::int64_t value, std::int64_t lowest, std::int64_t highest);
Result<void> check_size(std::string_view what, std::size_t bytes, std::size_t most);

/// How many rows somebody wants to see: at least one.
Result<void> check_limit(int limit);

/// Every part of it is text that a store can keep.
Result<void> check_holder(const Holder& holder);

/// Until when the holder may go on, by its own clock: counted from before the request was sent, with a
/// margin for what lies between deciding to stop and having stopped.
BootTime trusted_until(BootTime before_sending, Duration ttl, Duration remaining);

}  // namespace leasehold
