// A function that can be left in its middle and gone on with later: how many processes share one thread.
//
//   Fiber fiber([&] { first(); Fiber::leave(); second(); });
//   fiber.enter();   // first
//   fiber.enter();   // second; fiber.is_over() from then on
//
// All fibers of a program belong to one thread.
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>

namespace leasehold::sim {

class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  /// Only one that is over, or was never entered: what stands on its stack would be lost.
  ~Fiber();

  /// From outside: runs until it leaves or is over.
  void enter();
  /// From inside: back to the caller of enter().
  static void leave();
  [[nodiscard]] bool is_over() const { return over_; }

 private:
  static constexpr std::size_t stack_size = 512 * 1024;
  static void start();
  void run();

  std::function<void()> body_;
  std::unique_ptr<char[]> stack_;
  ucontext_t inside_{};
  ucontext_t outside_{};
  bool over_ = false;
};

}  // namespace leasehold::sim
