#include "queue/positions.h"

#include <algorithm>

namespace leasehold::queue {

std::optional<Position> Positions::start(std::string_view queue, BootTime now) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(queue);
  if (found == places_.end()) return std::nullopt;
  auto& place = found->second;
  if (now - place.claimed_at > head_interval) place.row = 0;
  if (place.row < claims_in_a_row) return std::nullopt;
  if (now - place.head_at > head_interval) {
    place.head_at = now;
    return std::nullopt;
  }
  return place.last;
}

void Positions::granted(std::string_view queue, const Position& last, BootTime now) {
  const std::lock_guard lock(mutex_);
  auto found = places_.find(queue);
  if (found == places_.end()) found = places_.emplace(std::string(queue), Place{}).first;
  auto& place = found->second;
  place.last = last;
  place.claimed_at = now;
  place.row = std::min(place.row + 1, claims_in_a_row);
}

void Positions::refused(std::string_view queue) {
  const std::lock_guard lock(mutex_);
  if (const auto found = places_.find(queue); found != places_.end()) places_.erase(found);
}

}  // namespace leasehold::queue
