// Sessions, items and claims as JSON; see wire.h for the spelling. Metadata is told as the JSON it is. Ages are told
// three times: as a moment, in seconds and in words.
#pragma once

#include <string>
#include <string_view>

#include "leasehold/claim.h"
#include "leasehold/session.h"

namespace leasehold::wire {

std::string to_json(const SessionInfo& session);
std::string to_json(const ItemInfo& item);
std::string to_json(const Claim& claim);
std::string to_json(const ClaimInfo& claim);

/// It does not say whose it is.
std::string to_json(std::string_view id, const SessionClosed& closed);

}  // namespace leasehold::wire
