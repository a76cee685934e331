// Pictures of the store, taken by a thread of their own: keys answer at once, however long the store takes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/top_picture.h"

namespace leasehold::cli {

/// What there is to show.
struct TopNews {
  TopPicture picture;
  std::string trouble;  ///< why the picture is not newer; empty: it is the newest
};

/// Belongs to one thread, whose signals are blocked already: the one that takes pictures inherits that.
class TopFeed {
 public:
  /// Looks again after `every` at the latest, and sooner when something changes. `reader` has taken `first`.
  TopFeed(Store store, TopReader reader, TopPicture first, Duration every);
  TopFeed(const TopFeed&) = delete;
  TopFeed& operator=(const TopFeed&) = delete;
  /// The thread may be in a call that takes long, and is not waited for; it holds on to what it needs.
  ~TopFeed();

  /// To poll: readable when there is news.
  [[nodiscard]] int fd() const;
  /// The newest.
  [[nodiscard]] TopNews take() const;
  /// While paused, the store is left alone.
  void set_paused(bool paused) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace leasehold::cli
