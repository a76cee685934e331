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
  std::string path;      ///< sqlite: the file; ":memory:" for none
  bool durable = true;   ///< sqlite: synchronous=full, or normal
  std::string conninfo;  ///< postgresql: the URL without our own options
  std::string schema = "leasehold";
  Prepare prepare = Prepare::automatic;
  int pool = 4;

  [[nodiscard]] bool in_memory() const { return path == ":memory:"; }
};

/// Whether a text looks like the address of a server with a password in it, however mistyped: "user:secret@host",
/// "host=db password=secret". Messages do not repeat it then.
bool may_hold_password(std::string_view text);

/// `invalid_argument` says what is wrong with it and shows the forms there are. Never repeats a password.
Result<StoreUrl> parse_store_url(std::string_view text);

}  // namespace leasehold
