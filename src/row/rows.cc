#include "row/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "adopt/ledger.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "model/bounds.h"

namespace leasehold {

using adopt::Arguments;
using row::number_at;
using storage::TextRows;

namespace {

std::string key_name(std::size_t place) { return fmt::format("key{}", place + 1); }

/// The names :key1, :key2 … live as long as the program: Arguments borrows them.
std::string_view key_place(std::size_t place) {
  static const auto names = [] {
    std::array<std::string, 16> made;
    for (std::size_t i = 0; i < made.size(); ++i) made.at(i) = key_name(i);
    return made;
  }();
  return names.at(place);
}

std::int64_t wall_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Timestamp moment_at(const TextRows& answer, std::size_t at, std::string_view column) {
  return Timestamp(Duration(number_at(answer, at, column).value_or(0)));
}

Error nothing_to_claim(std::string_view table) {
  return {.code = Errc::empty, .message = fmt::format("{} has no row to claim now", table)};
}

std::optional<std::string> as_text(const std::optional<Duration>& span) {
  if (!span) return std::nullopt;
  return std::to_string(span->count());
}

}  // namespace

Result<Rows> Rows::open(std::string_view url, std::string_view table, const OpenOptions& options) {
  auto impl = std::make_shared<Impl>(std::string(url), options.call_timeout);
  if (auto read = impl->read_ledger(table, BootClock::now() + options.call_timeout); !read)
    return std::move(read).error();
  return Rows(std::move(impl));
}

Result<void> Rows::Impl::read_ledger(std::string_view wanted, BootTime deadline) {
  return connections.with(deadline, [&](storage::Direct& database) -> Result<void> {
    auto found = adopt::find_published(database, wanted, deadline);
    if (!found) return std::move(found).error();
    table = found->schema + "." + found->table;
    for (auto& entry : found->entries) {
      if (entry.kind == "act") {
        auto values = row::value_places(entry.up);
        acts[entry.name] = {.sql = std::move(entry.up), .writes = entry.down == "write", .values = std::move(values)};
      }
      if (entry.name == "key") key_columns = texts_from_json(entry.up);
      if (entry.name == "shape") shape = entry.up;
      if (entry.name == "ttl_us") ttl = adopt::duration_in(entry.up);
      if (entry.name == "heartbeat_us") heartbeat = adopt::duration_in(entry.up);
    }
    return {};
  });
}

Result<TextRows> Rows::Impl::run(std::string_view act, Arguments arguments, const Call& call, std::string_view list) {
  const auto found = acts.find(act);
  if (found == acts.end()) {
    return Error{
        .code = Errc::not_found,
        .message = fmt::format("{} has no {}: its file does not describe it, or an older leasehold adopted it; "
                               "apply the file again",
                               table, act)};
  }
  const auto deadline = BootClock::now() + call.timeout.value_or(call_timeout);
  return connections.with(deadline, [&](storage::Direct& database) -> Result<TextRows> {
    TextRows answer;
    const auto ask = [&]() -> Result<void> {
      auto all = arguments;
      // SQLite has no clock of its own, so this reads ours, once it has the write lock.
      all.emplace_back("now_us", std::to_string(wall_us()));
      auto ran = database.run(adopt::with_arguments(found->second.sql, all, list), deadline);
      if (!ran) return std::move(ran).error();
      answer = std::move(*ran);
      return {};
    };
    const bool grouped = found->second.writes && !database.is_postgres();
    auto done = grouped ? adopt::in_transaction(database, deadline, ask) : ask();
    if (!done) return std::move(done).error();
    return answer;
  });
}

Result<Arguments> Rows::Impl::arguments_for(const RowKey& key) const {
  if (key.size() != key_columns.size()) {
    std::string names;
    for (const auto& column : key_columns) names += (names.empty() ? "" : ", ") + column;
    return invalid(fmt::format("{}: its key has {} value{} ({}), and {} came", table, key_columns.size(),
                               key_columns.size() == 1 ? "" : "s", names, key.size()));
  }
  Arguments arguments;
  for (std::size_t i = 0; i < key.size(); ++i) arguments.emplace_back(key_place(i), key[i]);
  return arguments;
}

namespace {

/// One request; the moment before it was sent bounds the trust in its answer.
struct Asked {
  BootTime before = BootClock::now();

  [[nodiscard]] RowGrant grant(const TextRows& answer, std::size_t at, const Holder& holder, Duration ttl) const {
    RowGrant grant;
    grant.key = texts_from_json(answer.at(at, "key").value_or("[]"));
    grant.token = {number_at(answer, at, "token").value_or(0)};
    grant.holder = holder;
    grant.expires_at = moment_at(answer, at, "until_us");
    grant.trusted_until = before + ttl - trust_margin(ttl);
    grant.row = answer.at(at, "row").value_or("{}");
    return grant;
  }

  /// An end is rounded up to the precision of its column, never down, so the whole ttl can be trusted. A tenth of it is
  /// left to the holder after the stop token fires.
  static Duration trust_margin(Duration ttl) { return ttl / 10; }
};

Holder holder_of(const Call& call) { return call.holder ? *call.holder : Holder::self(); }

Result<void> check_claim(const Rows::Impl& rows, const RowClaimOptions& options, const Call& call) {
  if (options.max < 1 || options.max > 1000) return invalid(fmt::format("{}: max must be 1 to 1000", rows.table));
  if (options.ttl && *options.ttl < std::chrono::seconds(1))
    return invalid(rows.table + ": the ttl must be at least 1s");
  if (trimmed(holder_of(call).name).empty()) return invalid(rows.table + ": a claim needs the name of its holder");
  if (call.lease) return invalid(rows.table + ": a row has a lease of its own; it cannot share one");
  return {};
}

/// Repeats `ask` until it succeeds, the wait is over, or the caller stops it.
template <typename Ask>
auto ask_until(Duration wait, const std::stop_token& stop, Ask&& ask) -> decltype(ask()) {
  using namespace std::chrono_literals;
  const auto until = BootClock::now() + std::min<Duration>(wait, std::chrono::hours(24 * 365));
  for (Duration pause = 50ms;; pause = std::min<Duration>(2 * pause, 1s)) {
    auto answer = ask();
    if (answer || BootClock::now() >= until || stop.stop_requested()) return answer;
    const auto code = answer.error().code;
    const bool may_change = code == Errc::empty || code == Errc::held || code == Errc::busy || code == Errc::not_due ||
                            code == Errc::blocked;
    if (!may_change) return answer;
    sleep_until(std::min(until, BootClock::now() + pause), stop);
  }
}

}  // namespace

Result<std::vector<RowGrant>> Rows::claim(const RowClaimOptions& options, const Call& call) const {
  if (auto checked = check_claim(*impl_, options, call); !checked) return std::move(checked).error();
  const auto holder = holder_of(call);
  return ask_until(options.wait, call.stop, [&]() -> Result<std::vector<RowGrant>> {
    const Asked asked;
    auto answer = impl_->run(
        "claim", {{"holder", holder.name}, {"max", std::to_string(options.max)}, {"ttl_us", as_text(options.ttl)}},
        call);
    if (!answer) return std::move(answer).error();
    std::vector<RowGrant> grants;
    for (std::size_t i = 0; i < answer->rows.size(); ++i) {
      grants.push_back(asked.grant(*answer, i, holder, options.ttl.value_or(impl_->ttl)));
    }
    if (!grants.empty()) return grants;
    if (!impl_->acts.contains("refused")) return nothing_to_claim(impl_->table);
    auto why = impl_->run("refused", {}, call);
    if (!why) return std::move(why).error();
    if (why->rows.empty() || !why->at(0, "outcome")) return nothing_to_claim(impl_->table);
    return row::refusal_from(*impl_, {}, *why, 0);
  });
}

Result<RowGrant> Rows::claim_key(const RowKey& key, const RowClaimOptions& options, const Call& call) const {
  if (auto checked = check_claim(*impl_, options, call); !checked) return std::move(checked).error();
  auto arguments = impl_->arguments_for(key);
  if (!arguments) return std::move(arguments).error();
  const auto holder = holder_of(call);
  arguments->emplace_back("holder", holder.name);
  arguments->emplace_back("ttl_us", as_text(options.ttl));
  return ask_until(options.wait, call.stop, [&]() -> Result<RowGrant> {
    const Asked asked;
    auto answer = impl_->run("claim_key", *arguments, call);
    if (!answer) return std::move(answer).error();
    if (answer->at(0, "outcome").value_or("") != "granted") return row::refusal_from(*impl_, key, *answer, 0);
    return asked.grant(*answer, 0, holder, options.ttl.value_or(impl_->ttl));
  });
}

std::vector<Result<RowGrant>> Rows::heartbeat(const std::vector<RowProof>& rows, std::optional<Duration> ttl,
                                              const Call& call) const {
  std::vector<Result<RowGrant>> answers;
  if (rows.empty()) return answers;
  std::string list;
  for (const auto& proof : rows) {
    auto checked = impl_->arguments_for(proof.key);
    if (!checked) return {rows.size(), std::move(checked).error()};
    list += list.empty() ? "(" : ", (";
    for (const auto& part : proof.key) list += storage::quote_literal(part) + ", ";
    list += storage::quote_literal(std::to_string(proof.token.value)) + ")";
  }
  const Asked asked;
  auto answer = impl_->run("heartbeat", {{"ttl_us", as_text(ttl)}}, call, list);
  if (!answer) return {rows.size(), std::move(answer).error()};
  for (const auto& proof : rows) {
    const auto at = row::find_answer(*answer, proof);
    if (!at) {
      answers.emplace_back(row::removed(*impl_, proof.key));
    } else if (answer->at(*at, "outcome").value_or("") != "extended") {
      answers.emplace_back(row::refusal_from(*impl_, proof.key, *answer, *at));
    } else {
      auto grant = asked.grant(*answer, *at, holder_of(call), ttl.value_or(impl_->ttl));
      grant.key = proof.key;
      grant.token = proof.token;
      answers.emplace_back(std::move(grant));
    }
  }
  return answers;
}

Result<RowInfo> Rows::show(const RowKey& key) const {
  auto arguments = impl_->arguments_for(key);
  if (!arguments) return std::move(arguments).error();
  auto answer = impl_->run("show", std::move(*arguments));
  if (!answer) return std::move(answer).error();
  if (answer->rows.empty()) {
    return Error{.code = Errc::not_found,
                 .message = fmt::format("{} {} does not exist", impl_->table, quoted(row::text_of(key)))};
  }
  return row::info_from(*answer, 0);
}

Result<Page<RowInfo>> Rows::list(const RowFilter& filter) const {
  if (auto checked = check_list_max(filter.max); !checked) return std::move(checked).error();
  std::int64_t skip = 0;
  if (!filter.page.empty()) {
    const TextRows page{.columns = {"page"}, .rows = {{filter.page}}};
    skip = number_at(page, 0, "page").value_or(-1);
    if (skip < 0) return invalid(fmt::format("{} is no page: pass `next` of the previous answer", quoted(filter.page)));
  }
  auto answer = impl_->run("ls", {{"state", filter.state.empty() ? std::nullopt : std::optional(filter.state)},
                                  {"max", std::to_string(filter.max + 1)},
                                  {"skip", std::to_string(skip)}});
  if (!answer) return std::move(answer).error();
  Page<RowInfo> page;
  const auto shown = std::min(answer->rows.size(), static_cast<std::size_t>(filter.max));
  for (std::size_t i = 0; i < shown; ++i) page.items.push_back(row::info_from(*answer, i));
  if (answer->rows.size() > shown) page.next = std::to_string(skip + filter.max);
  return page;
}

Result<std::vector<RowRecovered>> Rows::recover(const RowRecoverOptions& options) const {
  auto answer = impl_->run("recover", {{"older_us", std::to_string(std::max(options.older_than, Duration{}).count())},
                                       {"dry", options.dry_run ? "true" : "false"}});
  if (!answer) return std::move(answer).error();
  std::vector<RowRecovered> recovered;
  for (std::size_t i = 0; i < answer->rows.size(); ++i) {
    auto& one = recovered.emplace_back();
    one.key = texts_from_json(answer->at(i, "key").value_or("[]"));
    one.previous_holder.name = answer->at(i, "held_by").value_or("");
    one.expired_at = moment_at(*answer, i, "expired_at_us");
  }
  return recovered;
}

const std::string& Rows::table() const { return impl_->table; }
const std::vector<std::string>& Rows::key_columns() const { return impl_->key_columns; }
Duration Rows::ttl() const { return impl_->ttl; }
Duration Rows::heartbeat_pause() const { return impl_->heartbeat; }

}  // namespace leasehold
