#include "storage/postgres/backend.h"

#include <utility>

#include "storage/postgres/caller.h"
#include "storage/postgres/listener.h"
#include "storage/postgres/pool.h"
#include "storage/postgres/texts.h"
#include "storage/postgres/transaction.h"

namespace leasehold::postgres {
namespace {

class PgBackend final : public storage::Backend {
 public:
  explicit PgBackend(const StoreUrl& url)
      : texts_(std::make_shared<const Texts>(url.schema)),
        pool_(url.conninfo, url.pool),
        caller_(pool_, texts_, url.prepare == StoreUrl::Prepare::automatic ? Naming::named : Naming::unnamed),
        listener_(url.conninfo, url.schema) {}

  ~PgBackend() override { PgBackend::close(); }

  Result<void> connect(BootTime deadline) { return pool_.open_first(deadline); }

  Result<storage::Rows> query(const storage::Statement& statement, std::span<const storage::Param> params,
                              BootTime deadline) override {
    if (statement.access == storage::Access::read) return caller_.read(statement, params, deadline);
    return caller_.write(statement, params, deadline);
  }

  std::vector<Result<storage::Rows>> query_each(std::span<const storage::Question> questions,
                                                BootTime deadline) override {
    return caller_.write_each(questions, deadline);
  }

  Result<std::unique_ptr<storage::Transaction>> begin(BootTime deadline) override {
    auto connection = pool_.take(Lane::single, deadline);
    if (!connection) return std::move(connection).error();
    return PgTransaction::begin(std::move(*connection), texts_, deadline);
  }

  Result<std::unique_ptr<storage::Transaction>> begin_scratch(BootTime deadline) override {
    auto connection = pool_.take(Lane::single, deadline);
    if (!connection) return std::move(connection).error();
    return PgTransaction::begin_scratch(std::move(*connection), deadline);
  }

  std::unique_ptr<storage::ChangeWatch> watch(std::string_view topic) override { return listener_.watch(topic); }

  [[nodiscard]] const storage::Dialect& dialect() const override { return postgres::dialect(); }
  [[nodiscard]] std::string localize(std::string_view sql) const override { return texts_->localize(sql); }

  Result<bool> shares_session(BootTime deadline) override {
    auto connection = pool_.take(Lane::single, deadline);
    if (!connection) return std::move(connection).error();
    return !(*connection)->owns_session();
  }

  void close() override {
    listener_.stop();
    pool_.close();
  }

 private:
  std::shared_ptr<const Texts> texts_;
  Pool pool_;
  Caller caller_;
  Listener listener_;
};

}  // namespace

Result<std::unique_ptr<storage::Backend>> open(const StoreUrl& url, BootTime deadline) {
  auto backend = std::make_unique<PgBackend>(url);
  if (auto connected = backend->connect(deadline); !connected) return std::move(connected).error();
  return std::unique_ptr<storage::Backend>(std::move(backend));
}

}  // namespace leasehold::postgres
