// Descriptions of the store, its events and housekeeping.
#include "model/describe.h"

namespace leasehold::model {

Described describe(Type<Event>) {
  static constexpr auto fields = fields_of<Event>({
      field<&Event::id>("id"),
      field<&Event::at>("at"),
      field<&Event::kind>("kind"),
      field<&Event::key>("key"),
      field<&Event::what>("what"),
      field<&Event::token>("token"),
      field<&Event::holder>("holder"),
      field<&Event::previous_holder>("previous_holder"),
      field<&Event::detail>("detail").or_null(),
  });
  return {"Event", fields};
}

Described describe(Type<StoreStatus>) {
  static constexpr auto fields = fields_of<StoreStatus>({
      field<&StoreStatus::backend>("backend"), field<&StoreStatus::schema_version>("schema_version"),
      field<&StoreStatus::locks>("locks"), field<&StoreStatus::waiters>("waiters"),
      field<&StoreStatus::held_leases>("held_leases"), field<&StoreStatus::expired_leases>("expired_leases"),
      field<&StoreStatus::ended_leases>("ended_leases"), field<&StoreStatus::events>("events"),
      hidden<&StoreStatus::store_now>(),  // the enclosing report ends with it
  });
  return {"StoreStatus", fields};
}

Described describe(Type<Pruned>) {
  static constexpr auto fields = fields_of<Pruned>({
      field<&Pruned::jobs>("jobs"),
      field<&Pruned::locks>("locks"),
      field<&Pruned::leases>("leases"),
      field<&Pruned::events>("events"),
      field<&Pruned::claims>("claims"),
      field<&Pruned::sessions>("sessions"),
      field<&Pruned::runs>("runs"),
      field<&Pruned::shares>("shares"),
      field<&Pruned::places>("places"),
      field<&Pruned::topics>("topics"),
  });
  return {"Pruned", fields};
}

Described describe(Type<Recovered>) {
  static constexpr auto fields = fields_of<Recovered>({
      field<&Recovered::locks>("locks"),
      field<&Recovered::leases>("leases"),
      field<&Recovered::jobs>("jobs"),
      field<&Recovered::chunks>("chunks"),
      field<&Recovered::claims>("claims"),
      field<&Recovered::runs>("runs"),
      field<&Recovered::failed>("failed"),
      field<&Recovered::unblocked>("unblocked"),
      field<&Recovered::store_now>("at"),
  });
  return {"Recovered", fields};
}

Described describe(Type<RecoveryTotal>) {
  static constexpr auto fields = fields_of<RecoveryTotal>({
      field<&RecoveryTotal::reason>("reason"),
      field<&RecoveryTotal::times>("times"),
      field<&RecoveryTotal::leases>("leases"),
      field<&RecoveryTotal::jobs>("jobs"),
      field<&RecoveryTotal::chunks>("chunks"),
      field<&RecoveryTotal::claims>("claims"),
      field<&RecoveryTotal::runs>("runs"),
      field<&RecoveryTotal::last_at>("last_at"),
  });
  return {"RecoveryTotal", fields};
}

Described describe(Type<RecoveryStats>) {
  static constexpr auto fields = fields_of<RecoveryStats>({
      field<&RecoveryStats::stale_now>("stale_now"),
      field<&RecoveryStats::totals>("totals"),
  });
  return {"RecoveryStats", fields};
}

Described describe(Type<Finding>) {
  static constexpr auto fields = fields_of<Finding>({
      field<&Finding::level>("level"),
      field<&Finding::what>("what"),
      field<&Finding::advice>("advice").or_null(),
  });
  return {"Finding", fields};
}

Described describe(Type<MigrationInfo>) {
  static constexpr auto fields = fields_of<MigrationInfo>({
      field<&MigrationInfo::version>("version"),
      field<&MigrationInfo::name>("name"),
      field<&MigrationInfo::checksum>("checksum"),
      field<&MigrationInfo::applied_at>("applied_at"),
      field<&MigrationInfo::changed>("changed"),
  });
  return {"MigrationInfo", fields};
}

Described describe(Type<Drift>) {
  static constexpr auto fields = fields_of<Drift>({
      field<&Drift::object>("object"),
      field<&Drift::problem>("problem"),
  });
  return {"Drift", fields};
}

}  // namespace leasehold::model
