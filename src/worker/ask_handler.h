// Calls the user's code on a thread of ours.
#pragma once

#include <exception>

namespace leasehold::worker {

/// What `ask` says. Nothing may come out of it, so an exception says fail(what()).
template <typename Verdict, typename Ask>
Verdict verdict_of(Ask&& ask) {
  try {
    return ask();
  } catch (const std::exception& error) {
    return Verdict::fail(error.what());
  } catch (...) {
    return Verdict::fail("the handler threw something that is no std::exception");
  }
}

}  // namespace leasehold::worker
