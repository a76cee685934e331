// A process's way to the store: hands control back to the scheduler before and after every statement, and is where a
// process crashes, stands still, or loses what it sent or was sent.
#pragma once

#include <memory>

#include "sim/stage.h"
#include "storage/backend.h"

namespace leasehold::sim {

class SimBackend final : public storage::Backend {
 public:
  SimBackend(Stage& stage, Process& process) : stage_(stage), process_(process) {}

  Result<storage::Rows> query(const storage::Statement& statement, std::span<const storage::Param> params,
                              BootTime deadline) override;
  Result<std::unique_ptr<storage::Transaction>> begin(BootTime deadline) override;
  Result<std::unique_ptr<storage::Transaction>> begin_scratch(BootTime deadline) override {
    return stage_.database().backend().begin_scratch(deadline);
  }
  std::unique_ptr<storage::ChangeWatch> watch(std::string_view topic) override;
  [[nodiscard]] const storage::Dialect& dialect() const override { return stage_.database().backend().dialect(); }
  [[nodiscard]] std::string localize(std::string_view sql) const override { return std::string(sql); }
  Result<bool> shares_session(BootTime) override { return false; }
  void close() override {}

  /// Faults on the way to the store and back. If it returns an error, that is the answer.
  Result<void> on_the_way_there(std::string_view what);
  Result<void> on_the_way_back(std::string_view what, bool has_written, BootTime deadline);
  /// Waits while another process is in a transaction: `busy` once the deadline has passed.
  Result<void> get_in(BootTime deadline);
  [[nodiscard]] Stage& stage() const { return stage_; }
  [[nodiscard]] Process& process() const { return process_; }

 private:
  void stand_still();

  Stage& stage_;
  Process& process_;
};

/// The user's own transaction on the store's connection: begun, and rolled back unless it is committed.
class OwnTransaction {
 public:
  static Result<OwnTransaction> begin(SimBackend& backend, BootTime deadline);
  OwnTransaction(OwnTransaction&& other) noexcept : backend_(std::exchange(other.backend_, nullptr)) {}
  OwnTransaction& operator=(OwnTransaction&&) = delete;
  ~OwnTransaction();

  [[nodiscard]] sqlite3* connection() const { return backend_->stage().database().connection(); }
  /// Lets others act between two statements. An error: the process is gone.
  Result<void> go_on();
  Result<void> commit();

 private:
  explicit OwnTransaction(SimBackend& backend) : backend_(&backend) {}
  SimBackend* backend_;
};

}  // namespace leasehold::sim
