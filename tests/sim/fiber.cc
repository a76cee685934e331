#include "sim/fiber.h"

#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace leasehold::sim {
namespace {

Fiber* running = nullptr;

// AddressSanitizer must know which stack the program is on.
#if defined(__SANITIZE_ADDRESS__)
const void* outer_stack = nullptr;
std::size_t outer_size = 0;

void about_to_enter(void** saved, const char* stack, std::size_t size) {
  __sanitizer_start_switch_fiber(saved, stack, size);
}
void about_to_leave(void** saved) { __sanitizer_start_switch_fiber(saved, outer_stack, outer_size); }
void came_inside(void* saved) { __sanitizer_finish_switch_fiber(saved, &outer_stack, &outer_size); }
void came_outside(void* saved) { __sanitizer_finish_switch_fiber(saved, nullptr, nullptr); }
#else
void about_to_enter(void** /*saved*/, const char* /*stack*/, std::size_t /*size*/) {}
void about_to_leave(void** /*saved*/) {}
void came_inside(void* /*saved*/) {}
void came_outside(void* /*saved*/) {}
#endif

}  // namespace

Fiber::Fiber(std::function<void()> body)
    : body_(std::move(body)), stack_(std::make_unique_for_overwrite<char[]>(stack_size)) {
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_.get();
  inside_.uc_stack.ss_size = stack_size;
  inside_.uc_link = nullptr;
  makecontext(&inside_, &Fiber::start, 0);
}

Fiber::~Fiber() = default;

void Fiber::enter() {
  running = this;
  void* saved = nullptr;
  about_to_enter(&saved, stack_.get(), stack_size);
  swapcontext(&outside_, &inside_);
  came_outside(saved);
  running = nullptr;
}

void Fiber::leave() {
  auto* self = running;
  void* saved = nullptr;
  about_to_leave(&saved);
  swapcontext(&self->inside_, &self->outside_);
  came_inside(saved);
}

void Fiber::start() { running->run(); }

void Fiber::run() {
  came_inside(nullptr);
  body_();
  over_ = true;
  body_ = nullptr;
  // Never comes back: null says that this stack is given up.
  about_to_leave(nullptr);
  setcontext(&outside_);
}

}  // namespace leasehold::sim
