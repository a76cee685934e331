// Where a store is: sqlite:PATH, sqlite::memory:, postgresql://...
#pragma once

#include <string>
#include <string_view>

#include "leasehold/result.h"

namespace leasehold {

struct StoreUrl {
  enum class Kind { sqlite, postgres };
  enum class Prepare { automatic, off };

  Kind kind = Kind::sqlite;
  std::string path;      ///< sqlite: the file; ":memory:" for no file
  bool durable = true;   ///< sqlite: synchronous=full, or normal
  std::string conninfo;  ///< postgresql: the URL without our own options
  std::string schema = "leasehold";
  Prepare prepare = Prepare::automatic;
  int pool = 4;

  [[nodiscard]] bool in_memory() const { return path == ":memory:"; }
};

/// Whether a text looks like a server address with a password in it, even if mistyped: "user:secret@host", "host=db
/// password=secret". Messages then do not repeat it.
bool may_hold_password(std::string_view text);

/// `invalid_argument` names the problem and shows the accepted forms. It never repeats a password.
Result<StoreUrl> parse_store_url(std::string_view text);

}  // namespace leasehold
