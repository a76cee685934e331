// From the spelling back to the enumeration.
#pragma once

#include <optional>
#include <string_view>

#include "leasehold/chunk.h"
#include "leasehold/claim.h"
#include "leasehold/lease.h"
#include "leasehold/queue.h"
#include "leasehold/schedule.h"
#include "leasehold/session.h"

namespace leasehold {

/// `superseded` for anything else: whoever is told a reason we do not know has lost all the same.
LostReason lost_reason_from(std::string_view text) noexcept;

/// Nothing for a word that is no state.
std::optional<JobState> job_state_from(std::string_view text) noexcept;
std::optional<ChunkState> chunk_state_from(std::string_view text) noexcept;
std::optional<ChunkSetState> chunk_set_state_from(std::string_view text) noexcept;
std::optional<SessionStatus> session_status_from(std::string_view text) noexcept;
std::optional<ItemState> item_state_from(std::string_view text) noexcept;
std::optional<ScheduleState> schedule_state_from(std::string_view text) noexcept;
std::optional<Misfire> misfire_from(std::string_view text) noexcept;

}  // namespace leasehold
