// What is said of a job, as the store's statement.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/queue.h"
#include "storage/statements.h"

namespace leasehold::queue {

/// Refers to the result it was made of.
class VerdictStatement {
 public:
  VerdictStatement(JobId id, Token token, const Verdict& verdict)
      : VerdictStatement(id, token, verdict.kind, verdict.text, verdict.retryable, verdict.delay) {}
  /// `text`: the result or the error.
  VerdictStatement(JobId id, Token token, Verdict::Kind kind, std::string_view text = {}, bool retryable = true,
                   std::optional<Duration> delay = {});
  VerdictStatement(const VerdictStatement&) = delete;
  VerdictStatement& operator=(const VerdictStatement&) = delete;

  /// Whether it may be said at all.
  [[nodiscard]] Result<void> check() const;
  [[nodiscard]] const sql::JobSettle& get() const { return statement_; }

 private:
  std::string error_;
  sql::JobSettle statement_;
};

}  // namespace leasehold::queue
