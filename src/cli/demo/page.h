// `leasehold demo --serve`: the page of the demo's store, in a server process of its own.
//
//   auto page = DemoPage::open(demo_url(file), "127.0.0.1:7420");
//   say("watch it: {}", page->link());
//   ...                                              // workers work and die; the page shows it
//   page->wait_for(interrupted);                     // the page stays until Ctrl-C
//
// The server is the same program, so that the demo's own process stays as it is without it. It ends with the demo.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <utility>

#include "leasehold/result.h"

namespace leasehold::cli {

/// Belongs to one thread.
class DemoPage {
 public:
  /// Returns when the server answers. `unavailable`: it ended, since something else has the address.
  static Result<DemoPage> open(const std::string& store_url, const std::string& address);

  DemoPage(DemoPage&& other) noexcept : pid_(std::exchange(other.pid_, -1)), address_(std::move(other.address_)) {}
  DemoPage& operator=(DemoPage&&) = delete;
  ~DemoPage();

  [[nodiscard]] std::string link() const { return "http://" + address_ + "/"; }
  /// Returns when `interrupted` is set, or the server has ended.
  void wait_for(const std::atomic<bool>& interrupted);

 private:
  DemoPage(pid_t pid, std::string address) : pid_(pid), address_(std::move(address)) {}

  bool has_ended();

  pid_t pid_;
  std::string address_;
};

}  // namespace leasehold::cli
