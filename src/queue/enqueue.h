// A new job on its way into a statement; also for those who enqueue in a transaction of their own.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "leasehold/queue.h"
#include "storage/statements.h"

namespace leasehold::queue {

Result<void> check_enqueue(std::string_view queue, std::span<const NewJob> jobs);

/// Borrows the job and the queue's name.
class EnqueueStatement {
 public:
  EnqueueStatement(std::string_view queue, const NewJob& job);
  EnqueueStatement(const EnqueueStatement&) = delete;
  EnqueueStatement& operator=(const EnqueueStatement&) = delete;

  [[nodiscard]] const sql::JobEnqueue& get() const { return statement_; }

 private:
  std::vector<std::string_view> tags_;
  sql::JobEnqueue statement_;
};

/// `invalid_argument` where it was to run after a job that does not exist.
Result<Enqueued> enqueued_from(const sql::JobEnqueue::Row& row);

}  // namespace leasehold::queue
