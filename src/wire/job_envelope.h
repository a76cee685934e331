// A job as a line of JSON, for those who import many.
//
//   {"payload": {"to": "ann"}, "priority": 5, "delay": "10m", "dedupe_key": "ann-1", "tags": ["news"]}
//
// Keys are those of NewJob. A payload that is a string is taken as it is, anything else as JSON text;
// `payload_base64` is for bytes. Durations and moments are written as on the command line; `backoff` is "5s..1h" or
// "5s".
#pragma once

#include <string>
#include <string_view>

#include "leasehold/queue.h"
#include "leasehold/result.h"

namespace leasehold::wire {

/// NewJob looks at texts; this one has them.
struct JobEnvelope {
  std::string payload;
  std::string dedupe_key;
  std::string limit_key;
  NewJob settings;  ///< everything else

  /// Valid as long as this envelope is, and not moved.
  [[nodiscard]] NewJob job() const;
};

/// What the line does not say is as in `defaults`. A key that is not known is refused: it is most likely mistyped.
Result<JobEnvelope> job_envelope_from(std::string_view line, const JobEnvelope& defaults, Timestamp now);

}  // namespace leasehold::wire
