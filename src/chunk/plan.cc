// Plans a set, as often as the caller likes. A plan that fits into one step is written all or nothing.
#include <fmt/format.h>
#include <algorithm>
#include <string>

#include "base/digest.h"
#include "base/text.h"
#include "chunk/chunks.h"
#include "lease/call.h"
#include "leasehold/chunk.h"
#include "model/bounds.h"
#include "model/words.h"
#include "storage/query.h"

namespace leasehold {

namespace chunk {
namespace {

// Chunks in one transaction: other writers of a SQLite file wait for it.
constexpr std::size_t batch_size = 1000;

using Planned = std::span<const PlannedChunk>;

/// Shows whether a chunk is still as planned: planner version, key and spec.
Result<std::string> hash_of(std::string_view planner, const PlannedChunk& chunk) {
  std::string identity(planner);
  identity.append("\n").append(chunk.key).append("\n").append(chunk.spec);
  return sha256_hex(identity);
}

Error superseded(std::string_view set) {
  return {.code = Errc::race,
          .message =
              describe(set) +
              " was removed, or planned with another planner version, during this plan; plan again to apply this one"};
}

/// A plan on its way into the store. The first step is a transaction; further steps run without one.
class Planning {
 public:
  Planning(storage::Backend& backend, Duration call_timeout, std::string_view set, Planned chunks,
           const PlanOptions& options)
      : backend_(backend), call_timeout_(call_timeout), set_(set), chunks_(chunks), options_(options) {}

  /// The first step; the whole plan if it fits.
  Result<void> begin() {
    auto transaction = backend_.begin(deadline());
    if (!transaction) return std::move(transaction).error();
    transaction_ = transaction->get();
    auto begun = begin_in_transaction();
    transaction_ = nullptr;
    if (!begun) return begun;
    return (*transaction)->commit();
  }

  /// The remaining steps.
  Result<PlanOutcome> go_on() {
    while (planned_ < chunks_.size()) {
      if (auto added = again_if_busy([&] { return add_next(); }); !added) return std::move(added).error();
    }
    while (!swept_) {
      if (auto swept = again_if_busy([&] { return sweep(); }); !swept) return std::move(swept).error();
    }
    if (!ended_) {
      if (auto ended = again_if_busy([&] { return end(); }); !ended) return std::move(ended).error();
    }
    return outcome_;
  }

 private:
  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout_; }

  template <typename Statement>
  Result<typename Statement::Row> ask(const Statement& statement) {
    return transaction_ != nullptr ? storage::query_one(*transaction_, statement)
                                   : storage::query_one(backend_, statement, deadline());
  }
  template <typename Step>
  Result<void> again_if_busy(Step&& step) {
    return lease::StoreCall(backend_, deadline()).repeat(lease::IfLost::give_up, step);
  }

  Result<void> begin_in_transaction() {
    const auto& settings = options_.settings;
    auto begun = ask(sql::ChunkPlanBegin{.set_name = set_,
                                         .planner = options_.planner,
                                         .max_failures = settings.max_failures,
                                         .max_crashes = settings.max_crashes,
                                         .backoff_base = settings.backoff_base,
                                         .backoff_max = settings.backoff_max,
                                         .default_ttl = settings.default_ttl});
    if (!begun) return std::move(begun).error();
    plan_no_ = begun->plan_no;
    outcome_.created = begun->created;
    if (!chunks_.empty()) {
      if (auto added = add_next(); !added) return added;
    }
    if (planned_ < chunks_.size()) return {};
    if (auto swept = sweep(); !swept) return swept;
    return swept_ ? end() : Result<void>{};
  }

  Result<void> add_next() {
    const auto batch = chunks_.subspan(planned_, std::min(batch_size, chunks_.size() - planned_));
    std::vector<std::string> hashes;
    hashes.reserve(batch.size());
    for (const auto& chunk : batch) {
      auto hash = hash_of(options_.planner, chunk);
      if (!hash) return std::move(hash).error();
      hashes.push_back(std::move(*hash));
    }
    const std::vector<std::string_view> hash_views(hashes.begin(), hashes.end());
    std::vector<std::string_view> keys;
    std::vector<std::string_view> specs;
    for (const auto& chunk : batch) {
      keys.emplace_back(chunk.key);
      specs.emplace_back(chunk.spec);
    }
    auto added = ask(sql::ChunkPlanAdd{.set_name = set_,
                                       .planner = options_.planner,
                                       .plan_no = plan_no_,
                                       .first_position = std::int64_t(planned_),
                                       .keys = keys,
                                       .specs = specs,
                                       .hashes = hash_views});
    if (!added) return std::move(added).error();
    if (added->superseded) return superseded(set_);
    outcome_.added += added->added;
    outcome_.replaced += added->replaced;
    outcome_.kept += added->kept;
    outcome_.differing += added->differing;
    outcome_.left += added->left;
    planned_ += batch.size();
    return {};
  }

  /// Removes chunks of an earlier planner version that are not in this plan.
  Result<void> sweep() {
    auto step = ask(sql::ChunkPlanSweep{.set_name = set_,
                                        .planner = options_.planner,
                                        .plan_no = plan_no_,
                                        .after_key = swept_to_,
                                        .batch = std::int64_t(batch_size)});
    if (!step) return std::move(step).error();
    if (step->superseded) return superseded(set_);
    outcome_.removed += step->removed;
    outcome_.total += step->stay;
    left_in_sweep_ += step->left;
    swept_ = step->last_key.empty();
    swept_to_ = std::move(step->last_key);
    return {};
  }

  Result<void> end() {
    auto ended = ask(sql::ChunkPlanEnd{.set_name = set_,
                                       .planner = options_.planner,
                                       .plan_no = plan_no_,
                                       .removed = outcome_.removed,
                                       .left = left_in_sweep_,
                                       .total = outcome_.total});
    if (!ended) return std::move(ended).error();
    if (!ended->set_state) return superseded(set_);
    const auto state = from_word<ChunkSetState>(*ended->set_state);
    if (!state) return odd_answer(describe(set_), *ended->set_state);
    outcome_.left += left_in_sweep_;
    outcome_.state = *state;
    ended_ = true;
    return {};
  }

  storage::Backend& backend_;
  Duration call_timeout_;
  std::string_view set_;
  Planned chunks_;
  const PlanOptions& options_;
  storage::Transaction* transaction_ = nullptr;
  std::int64_t plan_no_ = 0;
  std::size_t planned_ = 0;
  std::string swept_to_{};
  std::int64_t left_in_sweep_ = 0;
  bool swept_ = false;
  bool ended_ = false;
  PlanOutcome outcome_{.set = std::string(set_)};
};

Result<Planning> begin_plan(Planning planning) {
  if (auto begun = planning.begin(); !begun) return std::move(begun).error();
  return planning;
}

}  // namespace
}  // namespace chunk

Result<PlanOutcome> Chunks::plan(std::string_view set, std::span<const PlannedChunk> chunks,
                                 const PlanOptions& options) const {
  if (auto checked = check_plan(set, chunks, options); !checked) return std::move(checked).error();
  const chunk::Planning fresh(*impl_->backend, impl_->call_timeout, set, chunks, options);
  // Not repeated if the answer was lost: planning again does no harm, but would report that nothing has changed.
  auto begun = impl_->new_call().repeat(lease::IfLost::give_up, [&] { return chunk::begin_plan(fresh); });
  if (!begun) return std::move(begun).error();
  return begun->go_on();
}

Result<void> Chunks::set(std::string_view set, const ChunkSetSettings& settings) const {
  if (auto checked = check_name("set name", set); !checked) return checked;
  if (auto checked = check_chunk_settings(settings); !checked) return checked;
  const sql::ChunkSetSettings statement{.set_name = set,
                                        .max_failures = settings.max_failures,
                                        .max_crashes = settings.max_crashes,
                                        .backoff_base = settings.backoff_base,
                                        .backoff_max = settings.backoff_max,
                                        .default_ttl = settings.default_ttl};
  auto answer = impl_->new_call().ask(statement);
  if (!answer) return std::move(answer).error();
  if (!answer->outcome.done()) return chunk::set_refusal(answer->outcome, set);
  return {};
}

// Plans a range of numbers in equal pieces.
namespace {

PlannedChunk piece(std::int64_t from, std::int64_t to) {
  return {.key = fmt::format("{}-{}", from, to), .spec = fmt::format(R"({{"from":{},"to":{}}})", from, to)};
}

}  // namespace

Result<std::vector<PlannedChunk>> plan_range(std::int64_t first, std::int64_t last, std::int64_t size) {
  if (first > last) return invalid(fmt::format("the range {}..{} ends before it begins", first, last));
  if (size < 1) return invalid(fmt::format("chunks of {} numbers are empty: write 1 or more", size));
  // The distance between the first and the last number may not fit into a signed number.
  const auto distance = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  const auto further_chunks = distance / static_cast<std::uint64_t>(size);
  if (further_chunks >= bounds::max_range_chunks) {
    return invalid(fmt::format("{}..{} in chunks of {} makes more than {} chunks: make them larger", first, last, size,
                               bounds::max_range_chunks));
  }
  std::vector<PlannedChunk> chunks;
  chunks.reserve(further_chunks + 1);
  auto from = first;
  for (std::uint64_t i = 0; i < further_chunks; ++i, from += size) chunks.push_back(piece(from, from + (size - 1)));
  chunks.push_back(piece(from, last));
  return chunks;
}

}  // namespace leasehold
