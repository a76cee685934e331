// Acts on the whole store: leases, events, status, housekeeping.
#include "act/act.h"
#include "act/answers.h"
#include "act/arguments.h"

namespace leasehold::act {
namespace {

struct Prune {
  Duration older_than{};
  bool dry_run = false;
};

Described describe(Type<Prune>) {
  static constexpr auto fields = fields_of<Prune>({
      field<&Prune::older_than>("older_than_seconds").from(Duration(0), bounds::max_delay).needed(),
      field<&Prune::dry_run>("dry_run"),
  });
  static const Prune fresh;
  return {"Prune", fields, &fresh};
}

Result<Page<LeaseInfo>> lease_list(const Store& store, const LeaseFilter& given, const Call& /*call*/) {
  return store.leases(given);
}

Result<Page<GrantInfo>> lease_history(const Store& store, const HistoryFilter& given, const Call& /*call*/) {
  return store.history(given);
}

Result<Page<Event>> event_list(const Store& store, const EventFilter& given, const Call& /*call*/) {
  return store.events(given);
}

Result<StoreReport> store_status(const Store& store, const Nothing& /*given*/, const Call& /*call*/) {
  auto status = store.status();
  if (!status) return std::move(status).error();
  auto kept = store.retention();
  if (!kept) return std::move(kept).error();
  auto queues = store.queues().list();
  if (!queues) return std::move(queues).error();
  auto recovery = store.recovery_stats();
  if (!recovery) return std::move(recovery).error();
  return StoreReport{std::move(*status), *kept, std::move(*queues), std::move(*recovery)};
}

Result<StoreMetrics> store_metrics(const Store& store, const Nothing& /*given*/, const Call& /*call*/) {
  return store.metrics();
}

Result<Page<Finding>> store_doctor(const Store& store, const Nothing& /*given*/, const Call& /*call*/) {
  auto findings = store.doctor();
  if (!findings) return std::move(findings).error();
  return Page<Finding>{.items = std::move(*findings)};
}

Result<Retention> store_retention(const Store& store, const Nothing& /*given*/, const Call& /*call*/) {
  return store.retention();
}

Result<Retention> store_set_retention(const Store& store, const RetentionSettings& given, const Call& /*call*/) {
  return store.set_retention(given);
}

Result<Recovered> store_recover(const Store& store, const Nothing& /*given*/, const Call& /*call*/) {
  return store.recover();
}

Result<Pruned> store_prune(const Store& store, const Prune& given, const Call& /*call*/) {
  return given.dry_run ? store.prune_preview(given.older_than) : store.prune(given.older_than);
}

}  // namespace

std::span<const Act> lease_acts() {
  static constexpr Act acts[] = {
      act<lease_list>({
          .name = "lease.list",
          .help = "List everything that is held; what expires first comes first",
          .idempotent = true,
          .example = R"({"max":20})",
      }),
      act<lease_history>({
          .name = "lease.history",
          .help = "List past and present grants: who had what, until when, and who took it over after how long",
          .idempotent = true,
          .example = R"({"kind":"lock","key":"deploy","max":20})",
      }),
      act<event_list>({
          .name = "event.list",
          .help = "List the newest events: who took what from whom, when and why",
          .idempotent = true,
          .example = R"({"key":"deploy","max":20})",
      }),
  };
  return acts;
}

std::span<const Act> store_acts() {
  static constexpr Act acts[] = {
      act<store_status>({
          .name = "store.status",
          .help = "Count what is in the store",
          .idempotent = true,
          .example = "{}",
      }),
      act<store_metrics>({
          .name = "store.metrics",
          .help = "Count for monitoring: what is there now, and totals that pruning does not lower",
          .idempotent = true,
          .example = "{}",
      }),
      act<store_doctor>({
          .name = "store.doctor",
          .help = "Check for settings and conditions that make leases unsafe",
          .idempotent = true,
          .example = "{}",
      }),
      act<store_retention>({
          .name = "store.retention",
          .help = "Show how long the store keeps finished work and its history",
          .idempotent = true,
          .example = "{}",
      }),
      act<store_set_retention>({
          .name = "store.set_retention",
          .help = "Set how long the store keeps finished work and its history",
          .scope = Scope::admin,
          .idempotent = true,
          .example = R"({"keep_jobs_seconds":259200})",
      }),
      act<store_recover>({
          .name = "store.recover",
          .help = "End expired leases now; claims do the same by themselves",
          .scope = Scope::work,
          .sql = "recover",
          .idempotent = true,
          .example = "{}",
      }),
      act<store_prune>({
          .name = "store.prune",
          .help = "Remove what ended longer ago than this",
          .scope = Scope::admin,
          .sql = "prune",
          .idempotent = true,
          .example = R"({"older_than_seconds":604800,"dry_run":true})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
