#include "storage/postgres/watch_list.h"

#include "storage/boot_wait.h"

namespace leasehold::postgres {

class WatchList::Watch final : public storage::ChangeWatch {
 public:
  Watch(std::shared_ptr<WatchList> list, std::string_view topic) : list_(std::move(list)), topic_(topic) {
    const std::lock_guard lock(list_->mutex_);
    list_->watches_.push_back(this);
  }

  ~Watch() override {
    const std::lock_guard lock(list_->mutex_);
    std::erase(list_->watches_, this);
  }

  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void wait(BootTime until) override {
    std::unique_lock lock(list_->mutex_);
    storage::wait_until(woken_, lock, until, [&] { return changed_; });
    changed_ = false;
  }

  void wake() override {
    const std::lock_guard lock(list_->mutex_);
    note_change();
  }

  /// Under the list's mutex.
  void note_change() {
    changed_ = true;
    woken_.notify_one();
  }
  [[nodiscard]] bool wants(std::string_view topic) const { return topic_.empty() || topic_ == topic; }

 private:
  std::shared_ptr<WatchList> list_;
  std::string topic_;
  bool changed_ = false;
  std::condition_variable woken_;
};

std::unique_ptr<storage::ChangeWatch> WatchList::add(std::string_view topic) {
  return std::make_unique<Watch>(shared_from_this(), topic);
}

void WatchList::wake(std::string_view topic) {
  const std::lock_guard lock(mutex_);
  for (auto* watch : watches_) {
    if (watch->wants(topic)) watch->note_change();
  }
}

void WatchList::wake_all() {
  const std::lock_guard lock(mutex_);
  for (auto* watch : watches_) watch->note_change();
}

}  // namespace leasehold::postgres
