// Which errors pass by themselves.
#pragma once

#include <functional>

#include "leasehold/result.h"

namespace leasehold::worker {

/// Tells the program's log; does nothing where it wants to know nothing.
using Tell = std::function<void(const Error&)>;

/// The store may answer if asked again; a verdict may be repeated as it is.
inline bool passes(Errc code) { return code == Errc::unavailable || code == Errc::in_doubt || code == Errc::busy; }

/// An answer of the queue, not a failure: there is nothing for us at the moment.
inline bool is_refusal(Errc code) {
  return code == Errc::empty || code == Errc::at_capacity || code == Errc::paused || code == Errc::rate_limited ||
         code == Errc::busy;
}

/// The lease is gone, as opposed to: it could not be extended this time.
inline bool ends_lease(Errc code) { return code == Errc::lost || code == Errc::not_found || code == Errc::damaged; }

}  // namespace leasehold::worker
