#include "wire/wire.h"

#include <boost/json/object.hpp>

#include "wire/jobs.h"
#include "wire/json.h"
#include "wire/leases.h"

namespace leasehold::wire {

std::string to_json(const Grant& grant) { return render(encode(grant)); }
std::string to_json(const LeaseInfo& lease) { return render(encode(lease)); }
std::string to_json(const LockInfo& lock) { return render(encode(lock)); }
std::string to_json(const LockHolder& holder) { return render(encode(holder)); }

std::string to_json(const Event& event) {
  return render(boost::json::object{{"id", event.id},
                                    {"at", timestamp(event.at)},
                                    {"kind", text(event.kind)},
                                    {"key", text(event.key)},
                                    {"what", text(event.what)},
                                    {"token", event.token.value},
                                    {"holder", text(event.holder)},
                                    {"host", text(event.host)},
                                    {"previous_holder", text_or_null(event.previous_holder)},
                                    {"detail", text_or_null(event.detail)}});
}

std::string to_json(const StoreStatus& status, const std::vector<QueueInfo>& queues, const RecoveryStats& recovery) {
  boost::json::object out{{"backend", text(status.backend)},
                          {"schema_version", status.schema_version},
                          {"locks", status.locks},
                          {"waiters", status.waiters},
                          {"held_leases", status.held_leases},
                          {"expired_leases", status.expired_leases},
                          {"ended_leases", status.ended_leases},
                          {"events", status.events},
                          {"queues", encode(queues)},
                          {"recovery", encode(recovery)},
                          {"store_now", timestamp(status.store_now)}};
  return render(out);
}

std::string to_json(const Pruned& pruned) {
  return render(boost::json::object{{"jobs", pruned.jobs},
                                    {"leases", pruned.leases},
                                    {"events", pruned.events},
                                    {"claims", pruned.claims},
                                    {"sessions", pruned.sessions},
                                    {"runs", pruned.runs},
                                    {"shares", pruned.shares},
                                    {"places", pruned.places},
                                    {"topics", pruned.topics}});
}

std::string to_json(const Finding& finding) {
  return render(boost::json::object{
      {"level", to_string(finding.level)}, {"what", text(finding.what)}, {"advice", text_or_null(finding.advice)}});
}

std::string to_json(const MigrationInfo& migration) {
  return render(boost::json::object{{"version", migration.version},
                                    {"name", text(migration.name)},
                                    {"checksum", text(migration.checksum)},
                                    {"applied_at", timestamp_or_null(migration.applied_at)},
                                    {"changed", migration.changed}});
}

std::string to_json(const Drift& drift) {
  return render(boost::json::object{{"object", text(drift.object)}, {"problem", text(drift.problem)}});
}

std::string to_json(const Error& error) {
  boost::json::object inner{{"code", leasehold::to_string(error.code)}, {"message", text(error.message)}};
  if (error.lost_reason) inner["reason"] = leasehold::to_string(*error.lost_reason);
  if (error.current) inner["current"] = encode(*error.current);
  if (error.retry_at) inner["retry_at"] = timestamp(*error.retry_at);
  if (error.retry_in) inner["retry_in_seconds"] = seconds(*error.retry_in);
  return render(boost::json::object{{"error", std::move(inner)}});
}

std::string object(std::initializer_list<std::pair<std::string_view, Scalar>> fields) {
  boost::json::object out;
  for (const auto& [key, scalar] : fields) {
    auto& value = out[key];
    if (const auto* string = std::get_if<std::string_view>(&scalar)) {
      value = text(*string);
    } else if (const auto* number = std::get_if<std::int64_t>(&scalar)) {
      value = *number;
    } else if (const auto* fraction = std::get_if<double>(&scalar)) {
      value = *fraction;
    } else {
      value = std::get<bool>(scalar);
    }
  }
  return render(out);
}

std::string bytes_object(std::string_view key, std::string_view bytes) {
  boost::json::object out;
  put_bytes(out, key, bytes);
  return render(out);
}

const char* to_string(Finding::Level level) noexcept {
  switch (level) {
    case Finding::Level::fine: return "fine";
    case Finding::Level::advice: return "advice";
    case Finding::Level::danger: return "danger";
  }
  return "danger";
}

}  // namespace leasehold::wire
