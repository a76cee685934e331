// From the bytes that a terminal sends to the keys that `leasehold top` knows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::cli {

struct TopKey {
  enum Meaning {
    quit,
    pause,
    help,
    overview,
    panel,
    next_panel,
    previous_panel,
    up,
    down,
    page_up,
    page_down,
    top,
    bottom
  };
  Meaning meaning = quit;
  std::size_t number = 0;  ///< of a panel, from 1

  friend bool operator==(const TopKey&, const TopKey&) = default;
};

/// Over a slow line the few bytes of one key may come in pieces. Belongs to one thread.
class TopKeys {
 public:
  /// The keys that are complete; what means nothing here is left out.
  std::vector<TopKey> take(std::string_view bytes);

  /// Whether the beginning of a key is there. If its rest does not come soon, it was the escape key alone.
  [[nodiscard]] bool expects_more() const { return !pending_.empty(); }
  std::vector<TopKey> give_up_waiting();

 private:
  std::string pending_;
};

}  // namespace leasehold::cli
