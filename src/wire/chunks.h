// Chunks and rate limits as JSON; see wire.h for the spelling. Specs and cursors are told as the JSON they are, number
// for number as they were given.
#pragma once

#include <string>
#include <string_view>

#include "leasehold/chunk.h"
#include "leasehold/limit.h"

namespace leasehold::wire {

std::string to_json(const Chunk& chunk);
std::string to_json(const ChunkGrant& grant);
std::string to_json(const ChunkInfo& chunk);
/// With `summary` in it: "partial 40/42 (2 exhausted)".
std::string to_json(const ChunkSetInfo& set);

/// These do not say whose they are.
std::string to_json(std::string_view set, const PlanOutcome& outcome);
std::string to_json(std::string_view set, const ChunkResetOutcome& outcome);
std::string to_json(std::string_view set, std::string_view key, const ChunkHeartbeat& heartbeat);
std::string to_json(std::string_view set, std::string_view key, const ChunkSettled& settled);

std::string to_json(const LimitInfo& limit);
std::string to_json(std::string_view name, const LimitSlot& slot);

}  // namespace leasehold::wire
