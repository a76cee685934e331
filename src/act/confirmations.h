// The answers that only confirm what was done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/described.h"

namespace leasehold::act {

struct Released {
  std::string name{};
  Token token{};
  bool released = true;
};

struct Removed {
  std::string name{};
  bool removed = true;
};

/// A job that was cancelled or is retried.
struct JobChanged {
  JobId id = 0;
  JobState state = JobState::available;
};

struct JobRemoved {
  JobId id = 0;
  bool removed = true;
};

struct JobsRedriven {
  std::int64_t redriven = 0;
};

struct QueuePurged {
  std::string name{};
  std::int64_t purged = 0;
};

struct ChunkSkipped {
  std::string set{};
  std::string key{};
  ChunkState state = ChunkState::skipped;
};

struct ChunkSetRemoved {
  std::string name{};
  std::int64_t chunks = 0;
  bool removed = true;
};

struct ItemAdded {
  std::string key{};
  bool created = false;
};

/// An item that is done, or open again.
struct ItemChanged {
  std::string key{};
  ItemState state = ItemState::open;
};

struct ItemNoted {
  std::string key{};
  bool noted = true;
};

struct ItemRemoved {
  std::string key{};
  bool removed = true;
};

struct ClaimReleased {
  std::string key{};
  std::optional<Token> token{};
  bool released = true;
};

struct PathsReleased {
  std::string session{};
  std::int64_t released = 0;
};

struct Triggered {
  std::string name{};
  std::optional<LeaseInfo> held_by{};
};

model::Described describe(model::Type<Released>);
model::Described describe(model::Type<Removed>);
model::Described describe(model::Type<JobChanged>);
model::Described describe(model::Type<JobRemoved>);
model::Described describe(model::Type<JobsRedriven>);
model::Described describe(model::Type<QueuePurged>);
model::Described describe(model::Type<ChunkSkipped>);
model::Described describe(model::Type<ChunkSetRemoved>);
model::Described describe(model::Type<ItemAdded>);
model::Described describe(model::Type<ItemChanged>);
model::Described describe(model::Type<ItemNoted>);
model::Described describe(model::Type<ItemRemoved>);
model::Described describe(model::Type<ClaimReleased>);
model::Described describe(model::Type<PathsReleased>);
model::Described describe(model::Type<Triggered>);

}  // namespace leasehold::act
