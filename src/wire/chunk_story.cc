#include "wire/chunk_story.h"

#include "wire/json.h"
#include "wire/wire.h"

namespace leasehold::wire {

std::string to_json(const ChunkStory& story) {
  return with_members(to_json(story.chunk), {{"events", to_json(story.events)}});
}

std::string to_json(const ChunkPicture& picture) {
  return with_members(to_json(picture.set),
                      {{"held_chunks", to_json(picture.held)}, {"exhausted_chunks", to_json(picture.exhausted)}});
}

std::string to_json(const PlanReport& report) {
  auto plan = to_json(report.set, report.outcome);
  if (!report.job_id || !report.job_state) return plan;
  return with_members(std::move(plan), {{"job_id", render(*report.job_id)},
                                        {"job_state", render(leasehold::to_string(*report.job_state))}});
}

}  // namespace leasehold::wire
