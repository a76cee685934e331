// Reads lines of JSON: a job to import, a chunk of a plan, the progress of a job.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/chunk.h"
#include "leasehold/job.h"
#include "leasehold/result.h"

namespace leasehold::model {

// A job as a line of JSON, for bulk import.
//
//   {"payload": {"to": "ann"}, "priority": 5, "delay": "10m", "dedupe_key": "ann-1", "tags": ["news"]}
//
// Keys are those of NewJob. A string payload is used unchanged, any other payload as JSON text; `payload_base64` is for
// bytes. Durations and moments are written as on the command line; `backoff` is "5s..1h" or "5s".

/// Keys missing from the line come from `defaults`. An unknown key is refused: it is most likely misspelt.
Result<NewJob> job_from(std::string_view line, const NewJob& defaults, Timestamp now);

// A chunk as a line of a plan: any JSON. The line itself is the spec to load.
//
//   {"key": "2024-03", "from": "2024-03-01", "to": "2024-03-31"}      key 2024-03
//   "s3://bucket/part-0001.csv"                                       key: 16 digits made of the line

/// The key is the string member "key" of an object; otherwise the first 16 digits of the line's SHA-256, so that the
/// same line is the same chunk in every plan.
Result<PlannedChunk> planned_chunk_from(std::string_view line);

// The progress of a job, as a line of JSON:
//
//   {"percent": 50, "message": "copying tables", "stage": "copy"}

/// Nothing if the line is not such an object. Other keys are ignored; a percentage is rounded and clamped.
std::optional<Progress> progress_from(std::string_view line);

}  // namespace leasehold::model
