// Reads the rows of a topic, and finds what has changed since the last read.
//
//   auto rows = read_rows(store, Topic::leases);
//   for (const auto& frame : seen.changes(*rows)) send(frame);      // nothing if nothing has changed
//   for (const auto& frame : snapshot(*rows)) send_to_a_new_client(frame);
//
// Rows are encoded as in the answers of acts, with one more member: "row", which names the row within its topic. Every
// reader sees the stream, so no row shows a proof: tokens and instances are null, and so is large metadata of sessions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "leasehold/events.h"
#include "leasehold/result.h"
#include "leasehold/store.h"
#include "model/field.h"
#include "serve/topics.h"

namespace leasehold::serve {

/// The most rows of a topic that a stream shows.
inline constexpr int max_rows = 2000;

struct Row {
  std::string name{};           ///< unique in its topic, and the same for as long as the row exists
  std::uint64_t fingerprint{};  ///< of all values that do not change by themselves
  model::Object object{};
};

struct Rows {
  Topic topic{};
  std::vector<Row> rows{};
  bool truncated = false;              ///< there are more than max_rows
  std::shared_ptr<const void> keep{};  ///< the structs that `rows` refers to
};

Result<Rows> read_rows(const Store& store, Topic topic);

/// Frames with all rows: the first has "full":true and replaces what the client knows, the others add to it.
std::vector<std::string> snapshot(const Rows& rows);

/// An event as JSON, without proofs.
std::string json_of(const Event& event);

/// What clients know of a topic. Belongs to one thread.
class SeenRows {
 public:
  /// Frames with what differs from the rows of the last call.
  std::vector<std::string> changes(const Rows& now);

 private:
  std::unordered_map<std::string, std::uint64_t> fingerprints_;
  bool truncated_ = false;
};

}  // namespace leasehold::serve
