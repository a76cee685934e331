#include "serve/token_watch.h"

#include <set>
#include <string>
#include <vector>

namespace leasehold::serve {
namespace {

Result<std::set<std::int64_t>> active_tokens(const Store& store) {
  std::set<std::int64_t> active;
  std::string next;
  do {
    auto page = store.access().tokens({.state = TokenState::active, .max = defaults::list_max, .page = next});
    if (!page) return std::move(page).error();
    for (const auto& token : page->items) active.insert(token.id);
    next = page->next.value_or("");
  } while (!next.empty());
  return active;
}

}  // namespace

std::shared_ptr<std::stop_source> TokenWatch::watch(std::int64_t token_id) {
  if (token_id == 0) return std::make_shared<std::stop_source>();
  const std::lock_guard lock(mutex_);
  auto& known = watched_[token_id];
  auto watched = known.lock();
  // A source that has stopped stays stopped. The server has admitted this caller since, so the caller gets a new
  // source.
  if (!watched || watched->stop_requested()) known = watched = std::make_shared<std::stop_source>();
  return watched;
}

void TokenWatch::forget_unwatched() {
  std::erase_if(watched_, [](const auto& one) { return one.second.expired(); });
}

bool TokenWatch::idle() {
  const std::lock_guard lock(mutex_);
  forget_unwatched();
  return watched_.empty();
}

Result<void> TokenWatch::check() {
  std::map<std::int64_t, std::shared_ptr<std::stop_source>> asked;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, watched] : watched_) {
      if (auto kept = watched.lock()) asked.emplace(id, std::move(kept));
    }
  }
  if (asked.empty()) return {};
  const auto active = active_tokens(store_);
  if (!active) return active.error();
  for (const auto& [id, watched] : asked) {
    if (!active->contains(id)) watched->request_stop();
  }
  return {};
}

}  // namespace leasehold::serve
