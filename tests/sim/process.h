// One life of a client: a fiber with a process id. It gives its turn away at every statement and whenever it sleeps.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "sim/fiber.h"
#include "sim/world.h"

namespace leasehold::sim {

class Process {
 public:
  Process(World& world, int client, std::function<void(Process&)> body)
      : world_(world),
        client_(client),
        pid_(world.spawn()),
        name_("c" + std::to_string(client) + "#" + std::to_string(pid_)),
        fiber_([this, body = std::move(body)] { body(*this); }) {}

  [[nodiscard]] int client() const { return client_; }
  [[nodiscard]] std::int64_t pid() const { return pid_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_alive() const { return alive_; }
  [[nodiscard]] bool is_over() const { return fiber_.is_over(); }

  // From inside its fiber:

  /// Lets others act first. False: this process has ended meanwhile, and nothing it does counts any more.
  bool give_way() { return sleep_until(world_.boot_now(), false); }
  /// The same until a moment, or with `or_change` until the store has changed.
  bool sleep_until(BootTime when, bool or_change) {
    if (!alive_) return false;
    wake_at_ = when;
    wakes_on_change_ = or_change;
    Fiber::leave();
    wakes_on_change_ = false;
    return alive_;
  }
  /// The process is gone. Its fiber runs on to the end of the call it is in, but its calls reach no store any more.
  void end() {
    alive_ = false;
    world_.end(pid_);
  }

  // From the scheduler:

  void go_on() { fiber_.enter(); }
  [[nodiscard]] BootTime wakes_at() const { return wake_at_; }
  void tell_change() {
    if (wakes_on_change_) wake_at_ = world_.boot_now();
  }

 private:
  World& world_;
  int client_;
  std::int64_t pid_;
  std::string name_;
  bool alive_ = true;
  bool wakes_on_change_ = false;
  BootTime wake_at_{};
  Fiber fiber_;
};

}  // namespace leasehold::sim
