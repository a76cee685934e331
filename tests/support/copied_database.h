// A database for one test with real processes, with the schema in it.
//
// Real processes may outlive their test by a moment, so what they used is never used again; and to make a schema takes
// half a second. So it is made once, in a database that is a template from then on, and every test gets a copy: that
// takes a tenth. The copy is dropped together with whoever still uses it.
//
// Only on a server of tools/throwaway-postgres.
#pragma once

#include <string>

namespace leasehold::support {

class CopiedDatabase {
 public:
  /// On the server of `url`. Throws std::runtime_error.
  explicit CopiedDatabase(std::string url);
  CopiedDatabase(const CopiedDatabase&) = delete;
  CopiedDatabase& operator=(const CopiedDatabase&) = delete;
  ~CopiedDatabase();

  /// Of libpq, without leasehold's own options.
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  std::string server_;
  std::string name_;
  std::string url_;
};

}  // namespace leasehold::support
