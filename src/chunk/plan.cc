// Planning a set: what it is made of, all or nothing, as often as one likes.
#include <algorithm>
#include <string>

#include "base/names.h"
#include "base/sha256.h"
#include "chunk/answer.h"
#include "chunk/chunks.h"
#include "core/chunk_limits.h"
#include "core/limits.h"
#include "lease/retry.h"
#include "storage/query.h"

namespace leasehold {
namespace chunk {
namespace {

// So many chunks travel in one statement,
constexpr std::size_t batch_size = 1000;
// and for each such statement a plan may take so much longer than other calls.
constexpr Duration time_per_batch = std::chrono::seconds(1);

using Planned = std::span<const PlannedChunk>;

/// Tells whether a chunk is still what was planned: by whom, under which key, what.
Result<std::string> hash_of(std::string_view planner, const PlannedChunk& chunk) {
  std::string identity(planner);
  identity.append("\n").append(chunk.key).append("\n").append(chunk.spec);
  return sha256_hex(identity);
}

/// A plan on its way into the store.
class Planning {
 public:
  Planning(storage::Transaction& transaction, std::string_view set) : transaction_(transaction), set_(set) {}

  Result<void> begin(const PlanOptions& options) {
    const auto& settings = options.settings;
    auto begun = storage::query_one(transaction_, sql::ChunkPlanBegin{.set_name = set_,
                                                                      .planner = options.planner,
                                                                      .failure_budget = settings.failure_budget,
                                                                      .crash_budget = settings.crash_budget,
                                                                      .backoff_base = settings.backoff_base,
                                                                      .backoff_most = settings.backoff_most,
                                                                      .default_ttl = settings.default_ttl});
    if (!begun) return std::move(begun).error();
    plan_no_ = begun->plan_no;
    outcome_.created = begun->created;
    return {};
  }

  Result<void> add(Planned batch, std::size_t first_position, std::string_view planner) {
    std::vector<std::string> hashes;
    hashes.reserve(batch.size());
    for (const auto& chunk : batch) {
      auto hash = hash_of(planner, chunk);
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
    auto added = storage::query_one(transaction_, sql::ChunkPlanAdd{.set_name = set_,
                                                                    .plan_no = plan_no_,
                                                                    .first_position = std::int64_t(first_position),
                                                                    .keys = keys,
                                                                    .specs = specs,
                                                                    .hashes = hash_views});
    if (!added) return std::move(added).error();
    outcome_.added += added->added;
    outcome_.replaced += added->replaced;
    outcome_.kept += added->kept;
    outcome_.differing += added->differing;
    outcome_.left += added->left;
    return {};
  }

  Result<PlanOutcome> end() {
    auto ended = storage::query_one(transaction_, sql::ChunkPlanEnd{.set_name = set_, .plan_no = plan_no_});
    if (!ended) return std::move(ended).error();
    const auto state = chunk_set_state_from(ended->set_state);
    if (!state) return odd_answer(describe(set_), ended->set_state);
    if (auto committed = transaction_.commit(); !committed) return std::move(committed).error();
    outcome_.removed = ended->removed;
    outcome_.left += ended->left;
    outcome_.total = ended->total;
    outcome_.state = *state;
    return outcome_;
  }

 private:
  storage::Transaction& transaction_;
  std::string_view set_;
  std::int64_t plan_no_ = 0;
  PlanOutcome outcome_;
};

Result<PlanOutcome> plan(storage::Backend& backend, std::string_view set, Planned chunks, const PlanOptions& options,
                         BootTime deadline) {
  auto transaction = backend.begin(deadline);
  if (!transaction) return std::move(transaction).error();
  Planning planning(**transaction, set);
  if (auto begun = planning.begin(options); !begun) return std::move(begun).error();
  for (std::size_t first = 0; first < chunks.size(); first += batch_size) {
    const auto batch = chunks.subspan(first, std::min(batch_size, chunks.size() - first));
    if (auto added = planning.add(batch, first, options.planner); !added) return std::move(added).error();
  }
  return planning.end();
}

}  // namespace
}  // namespace chunk

Result<PlanOutcome> Chunks::plan(std::string_view set, std::span<const PlannedChunk> chunks,
                                 const PlanOptions& options) const {
  if (auto checked = check_plan(set, chunks, options); !checked) return std::move(checked).error();
  const auto batches = static_cast<std::int64_t>(chunks.size() / chunk::batch_size);
  const auto deadline = impl_->deadline() + batches * chunk::time_per_batch;
  // Not repeated where the answer was lost: planning again does no harm, but would tell that nothing has changed.
  return lease::ask_until_free(deadline, [&] { return chunk::plan(*impl_->backend, set, chunks, options, deadline); });
}

Result<void> Chunks::configure(std::string_view set, const ChunkSetSettings& settings) const {
  if (auto checked = check_name("set name", set); !checked) return checked;
  if (auto checked = check_chunk_settings(settings); !checked) return checked;
  const sql::ChunkConfigure statement{.set_name = set,
                                      .failure_budget = settings.failure_budget,
                                      .crash_budget = settings.crash_budget,
                                      .backoff_base = settings.backoff_base,
                                      .backoff_most = settings.backoff_most,
                                      .default_ttl = settings.default_ttl};
  auto answer = storage::query_one(*impl_->backend, statement, impl_->deadline());
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "ok") return {};
  if (answer->outcome == "not_found") return chunk::no_such_set(set);
  return chunk::odd_answer(chunk::describe(set), answer->outcome);
}

}  // namespace leasehold
