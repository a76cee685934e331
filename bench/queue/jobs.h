// What the scenarios share: a store, queues of no-op jobs, callers, and the rate as a measurement.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "../measure.h"
#include "leasehold/leasehold.h"
#include "scenarios.h"

namespace leasehold::bench {

using Steady = std::chrono::steady_clock;

inline constexpr int batch = 1000;

double seconds_since(Steady::time_point began);
double micros_since(Steady::time_point began);

/// The value; an error ends the program.
template <typename T>
T need(Result<T> result) {
  if (!result) die(result.error().message);
  return std::move(*result);
}

Store open(const Setting& setting);

/// A name that no scenario has used before.
std::string fresh_queue(const std::string& what);

/// Enqueues so many jobs, a batch with each call.
void fill(const Jobs& jobs, const std::string& queue, int count);

/// Returns when 16 threads have done this.
void run_callers(const std::function<void()>& work_off);

/// False: the queue is empty.
bool claim_and_complete(const Jobs& jobs, const std::string& queue, Duration wait = {});

/// The median of single claims in microseconds, each job completed at once.
double median_claim(const Jobs& jobs, const std::string& queue, int times);

void record_rate(const Record& record, const Setting& setting, const std::string& what, const std::string& config,
                 int jobs, double seconds, int processes = 1);

}  // namespace leasehold::bench
