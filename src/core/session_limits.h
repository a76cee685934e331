// What a session and an item may be: checked before anything is sent, with the same bounds on both stores.
#pragma once

#include <cstddef>
#include <string_view>

#include "leasehold/claim.h"
#include "leasehold/result.h"
#include "leasehold/session.h"

namespace leasehold {

constexpr std::size_t max_title_bytes = 256 * 1024;
constexpr std::size_t max_metadata_bytes = 1024 * 1024;

/// With its id, request id and holder in it.
Result<void> check_session_options(const SessionOptions& options);

Result<void> check_session_heartbeat(std::string_view id, const SessionHeartbeat& heartbeat);

/// How long a session says it will be silent: from nothing to Sessions::longest_park.
Result<void> check_silence(Duration silence);

Result<void> check_item(std::string_view key, const ItemOptions& options);

/// The names a claim goes by.
Result<void> check_claim(std::string_view item, std::string_view session);

}  // namespace leasehold
