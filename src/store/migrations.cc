#include "store/migrations.h"

#include "storage/migrator.h"

namespace leasehold {

using storage::Migrator;

Result<std::vector<MigrationInfo>> Migrations::status() const {
  return Migrator(*impl_->backend, impl_->call_timeout).status();
}

Result<std::vector<MigrationInfo>> Migrations::up() const {
  return Migrator(*impl_->backend, impl_->call_timeout).up();
}

Result<std::vector<MigrationInfo>> Migrations::down(int version) const {
  return Migrator(*impl_->backend, impl_->call_timeout).down(version);
}

Result<std::vector<Drift>> Migrations::verify() const {
  return Migrator(*impl_->backend, impl_->call_timeout).verify();
}

Result<std::string> Migrations::plan() const { return Migrator(*impl_->backend, impl_->call_timeout).plan(); }

}  // namespace leasehold
