// A database for one test with real processes, with the schema in it.
//
// Real processes may outlive their test by a moment, so what they used is never used again; and to make a schema takes
// half a second. So it is made once, in a database that is a template from then on, and every test gets a copy: that
// takes a tenth. The copy is dropped together with the connections that still use it.
//
// Only on a server of tools/throwaway-postgres.
#pragma once

#include <string>
#include <utility>

namespace leasehold::support {

/// A database with nothing in it.
class EmptyDatabase {
 public:
  /// On the server of `url`. Throws std::runtime_error.
  explicit EmptyDatabase(std::string url) : EmptyDatabase(std::move(url), "template1") {}
  EmptyDatabase(const EmptyDatabase&) = delete;
  EmptyDatabase& operator=(const EmptyDatabase&) = delete;
  ~EmptyDatabase();

  /// ALTER DATABASE ... SET, for later connections.
  void set(const std::string& name, const std::string& value);

  /// Of libpq, without leasehold's own options.
  [[nodiscard]] const std::string& url() const { return url_; }

 protected:
  EmptyDatabase(std::string url, const std::string& made_from);

 private:
  std::string server_;
  std::string name_;
  std::string url_;
};

class CopiedDatabase : public EmptyDatabase {
 public:
  /// On the server of `url`. Throws std::runtime_error.
  explicit CopiedDatabase(const std::string& url);
};

}  // namespace leasehold::support
