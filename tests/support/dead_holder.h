// A holder on this host whose process has died.
#pragma once

#include <cstdio>
#include <sstream>
#include <string>

#include "leasehold/lease.h"
#include "support/process.h"

namespace leasehold::support {

LEASEHOLD_ROLE(says_who_it_is) {
  const auto self = Holder::self();
  printf("%lld %lld\n", static_cast<long long>(self.pid), static_cast<long long>(self.process_start));
  return 0;
}

LEASEHOLD_ROLE(says_who_it_is_and_waits) {
  const auto self = Holder::self();
  printf("%lld %lld\n", static_cast<long long>(self.pid), static_cast<long long>(self.process_start));
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}

/// A process of this host that lives until the test ends it.
class Mortal {
 public:
  explicit Mortal(const std::string& name) : holder_(Holder::self(name)) {
    std::istringstream line(process_.read_line(std::chrono::seconds(10)).value_or(""));
    line >> holder_.pid >> holder_.process_start;
  }
  [[nodiscard]] const Holder& holder() const { return holder_; }
  void die() {
    process_.close_input();
    process_.finish(std::chrono::seconds(10));
  }

 private:
  Process process_ = Process::self("says_who_it_is_and_waits");
  Holder holder_;
};

/// A process of this host that has ended.
inline Holder dead_holder(const std::string& name) {
  auto process = Process::self("says_who_it_is");
  std::istringstream line(process.read_line(std::chrono::seconds(10)).value_or(""));
  auto holder = Holder::self(name);
  line >> holder.pid >> holder.process_start;
  process.finish(std::chrono::seconds(10));
  return holder;
}

}  // namespace leasehold::support
