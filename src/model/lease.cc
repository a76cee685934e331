// Descriptions of leases, locks and refusals.
#include <algorithm>

#include "base/time_text.h"
#include "leasehold/limits.h"
#include "model/describe.h"

namespace leasehold::model {
namespace {

/// The lease of a claimed item also shows its session, that session's progress, and since when it has the item.
constexpr auto of_item = [](const LeaseInfo& lease) { return !lease.session.empty(); };

/// A refusal about a job does not know every time of the blocking lease.
constexpr auto has_heartbeat = [](const LeaseInfo& lease) {
  return of_item(lease) || (lease.state != LeaseState::free && lease.heartbeat_at != Timestamp{});
};

constexpr auto progress_age = [](const LeaseInfo& lease) -> std::optional<Duration> {
  if (!of_item(lease) || !lease.progress_at) return std::nullopt;
  return lease.store_now - *lease.progress_at;
};

constexpr auto progress_age_human = [](const LeaseInfo& lease) -> std::optional<std::string> {
  const auto age = progress_age(lease);
  return age ? std::optional(format_age(*age)) : std::nullopt;
};

constexpr auto item_minutes = [](const LeaseInfo& lease) -> std::optional<std::int64_t> {
  if (!of_item(lease) || !lease.taken_at) return std::nullopt;
  return whole_minutes(lease.ended_at.value_or(lease.store_now) - *lease.taken_at);
};

constexpr auto retry_in = [](const LeaseInfo& lease) -> std::optional<Duration> {
  if (lease.state == LeaseState::free) return std::nullopt;
  return std::max(lease.retry_in(), Duration::zero());
};

/// A blocking lease becomes free when it expires, unless the refusal has its own retry time.
constexpr auto retry_after = [](const Error& error) -> std::optional<Duration> {
  const bool waiting_helps = error.code != Errc::lost && error.code != Errc::paused;
  if (error.retry_in || !waiting_helps || !error.held_by) return error.retry_in;
  return retry_in(*error.held_by);
};

constexpr char pause_reason[] = "pause_reason";
constexpr char field_detail[] = "field";
constexpr char paused_at[] = "paused_at";
constexpr char paused_for[] = "paused_for";
template <typename T, const auto& name>
constexpr auto detail_of = [](const Error& error) -> std::optional<T> {
  const auto* detail = error.find<T>(name);
  return detail != nullptr ? std::optional(*detail) : std::nullopt;
};

}  // namespace

Described describe(Type<Holder>) {
  static constexpr auto fields = fields_of<Holder>({
      field<&Holder::name>("name").means("for people: `user@host:pid` unless another was given"),
      field<&Holder::host>("host"),
      field<&Holder::pid>("pid").or_null(),
      field<&Holder::tty>("tty").or_null(),
      field<&Holder::boot_id>("boot_id").or_null(),
      field<&Holder::process_start>("process_start").or_null(),
      field<&Holder::instance>("instance").is_proof(),
  });
  return {"Holder", fields};
}

/// A lease without its name: locks put their name in front, any lease its kind and key.
Described lease_body() {
  static constexpr auto fields = fields_of<LeaseInfo>({
      hidden<&LeaseInfo::kind>(),
      hidden<&LeaseInfo::key>(),
      field<&LeaseInfo::state>("state"),
      field<&LeaseInfo::token>("token").is_proof(),
      field<&LeaseInfo::holder>("holder"),
      field<&LeaseInfo::ttl>("ttl_seconds").or_null(),
      field<&LeaseInfo::acquired_at>("since").or_null(),
      field<&LeaseInfo::heartbeat_at>("heartbeat_at").or_null(),
      field<&LeaseInfo::expires_at>("until").or_null(),
      field<&LeaseInfo::ended_at>("ended_at"),
      field<&LeaseInfo::end_reason>("end_reason").or_null(),
      field<&LeaseInfo::end_detail>("end_detail").or_null(),
      field<&LeaseInfo::waiters>("waiters"),
      field<&LeaseInfo::store_now>("store_now"),
      field<&LeaseInfo::session>("session").when<of_item>("it is the lease of a claimed item"),
      field<&LeaseInfo::label>("label").when<of_item>("it is the lease of a claimed item"),
      field<&LeaseInfo::taken_at>("taken_at")
          .means("when the session took the item")
          .when<of_item>("it is the lease of a claimed item"),
      field<&LeaseInfo::progress_at>("progress_at").when<of_item>("it is the lease of a claimed item"),
      field<&LeaseInfo::heartbeat_age>("heartbeat_age_seconds").when<has_heartbeat>("it is held"),
      field<[](const LeaseInfo& lease) { return format_age(lease.heartbeat_age()); }>("heartbeat_age_human")
          .when<of_item>("it is the lease of a claimed item"),
      field<progress_age>("progress_age_seconds").if_any(),
      field<progress_age_human>("progress_age_human").if_any(),
      field<item_minutes>("claim_duration_minutes").if_any(),
      field<retry_in>("retry_in_seconds").if_any(),
  });
  return {"LeaseBody", fields};
}

namespace {

template <typename T>
Value lease_body_of(const void* object) {
  return Object{lease_body(), static_cast<const LeaseInfo*>(static_cast<const T*>(object))};
}

/// The rest of a lease, inlined among the members of T, which is a lease or has one as its base.
template <typename T>
constexpr Field rest_of_lease() {
  return {.kind = Kind::inlined,
          .get = lease_body_of<T>,
          .type = lease_body,
          .member = std::is_same_v<T, LeaseInfo> ? std::string_view() : detail::mark_of<LeaseInfo>()};
}

template <typename T>
constexpr auto name_of = [](const T& lock) { return lock.key; };

}  // namespace

Described describe(Type<LeaseInfo>) {
  static constexpr Field fields[] = {field<&LeaseInfo::kind>("kind"), field<&LeaseInfo::key>("key"),
                                     rest_of_lease<LeaseInfo>()};
  return {"LeaseInfo", fields};
}

Described describe(Type<Grant>) {
  static constexpr auto fields = fields_of<Grant>({
      field<&Grant::token>("token"),
      field<&Grant::holder>("holder"),
      field<&Grant::ttl>("ttl_seconds"),
      field<&Grant::acquired_at>("since"),
      field<&Grant::expires_at>("until"),
      field<&Grant::trusted_until>("trusted_for_seconds"),
      field<&Grant::replayed>("replayed"),
      hidden<&Grant::key>(),  // each feature writes it under its own key: a name, an id
      hidden<&Grant::lease_id>(),
  });
  return {"Grant", fields};
}

Described describe(Type<Share>) {
  static constexpr auto fields = fields_of<Share>({
      field<&Share::permits>("permits").from(1, bounds::max_permits),
      field<&Share::capacity>("capacity").from(1, bounds::max_permits),
  });
  static const Share fresh;
  return {"Share", fields, &fresh};
}

Described describe(Type<AcquireOptions>) {
  static constexpr auto fields = fields_of<AcquireOptions>({
      field<&AcquireOptions::ttl>("ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
      field<&AcquireOptions::wait>("wait_seconds").from(Duration(0), Duration::max()),
      field<&AcquireOptions::request_id>("request_id").or_null().as_name(),
      field<&AcquireOptions::share>("share"),
      field<&AcquireOptions::lock_delay>("lock_delay_seconds").from(Duration(0), bounds::max_lock_delay),
  });
  static const AcquireOptions fresh;
  return {"AcquireOptions", fields, &fresh};
}

Described describe(Type<LockInfo>) {
  static constexpr auto fields = fields_of<LockInfo>({
      field<name_of<LockInfo>>("name"),
      rest_of_lease<LockInfo>(),
      field<&LockInfo::holders>("holders"),
      field<&LockInfo::permits>("permits"),
      field<&LockInfo::capacity>("capacity"),
      field<&LockInfo::free_at>("free_at"),
      field<&LockInfo::delayed>("delayed"),
      field<&LockInfo::together>("together"),
  });
  return {"LockInfo", fields};
}

Described describe(Type<LockFilter>) {
  static constexpr auto fields = fields_of<LockFilter>({
      field<&LockFilter::prefix>("prefix").or_null().as_text(),
      field<&LockFilter::only_held>("only_held"),
      field<&LockFilter::max>("max").at_least_one(),
      field<&LockFilter::page>("page").or_null().as_text(),
  });
  static const LockFilter fresh;
  return {"LockFilter", fields, &fresh};
}

Described describe(Type<LockHolder>) {
  static constexpr auto fields = fields_of<LockHolder>({
      field<name_of<LockHolder>>("name"),
      rest_of_lease<LockHolder>(),
      field<&LockHolder::permits>("permits").means("how many permits this share has"),
      field<&LockHolder::capacity>("capacity"),
      field<&LockHolder::free_at>("free_at"),
  });
  return {"LockHolder", fields};
}

Described describe(Type<Error>) {
  static constexpr auto fields = fields_of<Error>({
      field<[](const Error& error) { return to_string(error.code); }>("code"),
      hidden<&Error::code>(),
      field<&Error::message>("message").means("what, where and what to do; one line"),
      field<detail_of<std::string, field_detail>>("field").means("the key of the arguments that is wrong").if_any(),
      field<&Error::lost_reason>("lost_reason").if_any(),
      field<&Error::held_by>("held_by").means("the lease in the way, or the latest one; it has no token").if_any(),
      field<&Error::retry_at>("retry_at").if_any(),
      field<retry_after>("retry_in_seconds").if_any(),
      hidden<&Error::retry_in>(),
      field<detail_of<std::string, pause_reason>>("pause_reason").if_any(),
      field<detail_of<Timestamp, paused_at>>("paused_at").if_any(),
      field<detail_of<Duration, paused_for>>("paused_for_seconds").if_any(),
      hidden<&Error::detail>(),
  });
  return {"Error", fields};
}

}  // namespace leasehold::model
