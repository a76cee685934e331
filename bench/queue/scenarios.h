// The measurements of the queue on one store. Each scenario starts from a queue of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "leasehold/leasehold.h"
#include "measurement.h"

namespace leasehold::bench {

struct Setting {
  std::string url;
  std::string store;       ///< for the table: "postgresql", "sqlite"
  std::string durability;  ///< the same
  std::string raw_url{};   ///< PostgreSQL: the server itself, for raw SQL
  int jobs = 100'000;
  int biggest_backlog = 1'000'000;
  int rounds = 1;
  std::string only{};  ///< one scenario by name; empty: all
};

using Record = std::function<void(const Measurement&)>;

/// Enqueue one by one, beside a raw INSERT.
void measure_enqueue(const Setting& setting, const Record& record);
/// Enqueue a thousand jobs with each call.
void measure_bulk(const Setting& setting, const Record& record);
/// Work off no-op jobs in batches of a thousand, by one process and by two.
void measure_batches(const Setting& setting, const Record& record);
/// Work them off by 16 callers of one process, each of which claims and completes single jobs.
void measure_callers(const Setting& setting, const Record& record);
/// The cost of a claim with jobs of a full group in front of it; and work off jobs of 100 groups over 16 connections,
/// with and without a cap per group.
void measure_groups(const Setting& setting, const Record& record);

/// Work off over 16 connections a queue with a limit or a rate, beside a queue without, in turns.
void measure_limits(const Setting& setting, const Record& record);

/// Work them off one by one, beside raw SQL.
void measure_one_by_one(const Setting& setting, const Record& record);
/// Work them off with a worker.
void measure_worker(const Setting& setting, const Record& record);
/// From before enqueue() to the start of the handler in an idle worker, at 20 jobs a second.
void measure_start_latency(const Setting& setting, const Record& record);
/// The cost of one claim with this many jobs waiting, and with 100,000 leased ahead of it.
void measure_backlog(const Setting& setting, const Record& record);
/// The rate while another transaction holds a snapshot open. PostgreSQL.
void measure_old_snapshot(const Setting& setting, const Record& record);
/// The cost that self-healing adds to claims while 1,000 jobs of a killed fleet come back.
void measure_healing(const Setting& setting, const Record& record);
/// The connections that 1, 4 and 16 workers keep, each with 16 jobs at once. PostgreSQL.
void measure_connections(const Setting& setting, const Record& record);

/// The second process of measure_batches: works off batches until the queue is empty.
int be_batch_worker(const std::string& url, const std::string& queue);

}  // namespace leasehold::bench
