// The names that all clients of a run fight over, and how they are set up.
#pragma once

#include <string>
#include <vector>

#include "leasehold/leasehold.h"
#include "sim/picture.h"

namespace leasehold::sim {

class Actor;

inline const std::vector<std::string> lock_names{"a", "b", "c"};
inline const std::string semaphore_name = "pool";
inline constexpr std::int64_t semaphore_capacity = 3;

/// Without limits; one at a time; one at a time for each key.
inline const std::vector<std::string> queue_names{"mail", "serial", "keyed"};
inline const std::vector<std::string> groups{"ann", "bob"};

inline const std::string chunk_set = "orders";
inline constexpr int chunk_count = 6;

inline const std::vector<std::string> item_keys{"i1", "i2", "i3", "i4", "i5"};

struct Calendar {
  std::string name;
  std::string cron;
  Micros period = 0;
  Misfire misfire = Misfire::once;
  std::string queue;  ///< where each occurrence is a job
};
inline const std::vector<Calendar> calendars{
    {"minutely", "* * * * *", 60'000'000, Misfire::once, ""},
    {"busy", "*/10 * * * * *", 10'000'000, Misfire::all, ""},
    {"skipping", "*/15 * * * * *", 15'000'000, Misfire::skip, ""},
    {"firing", "*/30 * * * * *", 30'000'000, Misfire::once, "mail"},
};
inline const std::string paced_schedule = "paced";

/// Empty: done. Else what the store would not do.
std::string set_up(Actor& actor);

/// After all faults have ended and every lease has run out: every request is granted, and all work comes
/// to an end. Empty: so it was. Else what could not be had.
std::string work_off(Actor& actor);

}  // namespace leasehold::sim
