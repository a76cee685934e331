// How a lock stands at a moment: what those who wait for it or watch it compare.
#pragma once

#include "leasehold/lock.h"
#include "storage/backend.h"
#include "storage/statements.h"

namespace leasehold::lock {

using Picture = sql::LockInfo;

// Wake-ups are hints; this is the truth.
constexpr Duration look_again = std::chrono::milliseconds(500);

Result<Picture> look_at(storage::Backend& backend, std::string_view name, BootTime deadline);

/// Somebody who was refused at `before` may get it now.
bool is_better(const Picture& now, const Picture& before);

/// Somebody else has it, or nobody any more; of shares, another one is the one that is told.
bool has_changed_hands(const Picture& now, const Picture& before);

/// That, or one of several shares came or went.
bool is_news(const Picture& now, const Picture& before);

/// How long a look can wait for: wake-ups do not tell that a lease runs out.
Duration until_next_look(const Picture& now);

LockInfo info_from(const Picture& picture);

}  // namespace leasehold::lock
