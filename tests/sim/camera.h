// Takes pictures of the store past the library: with SQL of its own, so that a mistake there is not made twice.
#pragma once

#include <sqlite3.h>

#include <map>
#include <memory>
#include <string_view>

#include "sim/picture.h"
#include "sim/world.h"

namespace leasehold::sim {

/// Which parts of the store a statement may change.
struct Parts {
  bool locks = false;
  bool claims = false;
  bool jobs = false;
  bool chunks = false;
  bool schedules = false;

  static Parts all() { return {true, true, true, true, true}; }
  /// By the statement's name.
  static Parts touched_by(std::string_view statement);
};

class Camera {
 public:
  Camera(const World& world, sqlite3* connection);
  ~Camera();
  Camera(const Camera&) = delete;
  Camera& operator=(const Camera&) = delete;

  /// Takes the picture after `before`; what is not in `parts` is as it was.
  Picture take(const Picture& before, const Parts& parts);
  [[nodiscard]] Micros now() const;

 private:
  class Query;
  Query& query(const char* sql);
  std::shared_ptr<const OpenLeases> open_leases();
  std::shared_ptr<const LocksPart> locks();
  std::shared_ptr<const Holdings> claims();
  std::shared_ptr<const JobsPart> jobs();
  std::shared_ptr<const ChunksPart> chunks();
  std::shared_ptr<const SchedulesPart> schedules();
  std::vector<EventRow> news();
  std::map<std::int64_t, std::string> endings(const Picture& before, const Picture& after);

  const World& world_;
  sqlite3* connection_;
  std::map<const char*, std::unique_ptr<Query>> queries_;
  Micros offset_ = 0;  ///< from the boot-time clock to the store's
  std::int64_t last_event_ = 0;
};

}  // namespace leasehold::sim
