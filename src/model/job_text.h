// Settings of jobs and queues as people write them: a backoff 5s..1h, a rate 100/1m.
#pragma once

#include <string>
#include <string_view>

#include "leasehold/job.h"
#include "leasehold/result.h"

namespace leasehold {

/// "5s..1h": 5 s, doubled with every failure, up to 1 h. "5s": always 5 s.
Result<Backoff> parse_backoff(std::string_view text);

struct Rate {
  int count = 0;
  Duration period{};
};

Result<IfFailed> parse_if_failed(std::string_view text);
Result<DedupeMode> parse_dedupe_mode(std::string_view text);
/// "100/1m": a hundred claims per minute.
Result<Rate> parse_rate(std::string_view text);
std::string format_rate(const Rate& rate);

}  // namespace leasehold
