#include "support/copied_database.h"

#include <fmt/format.h>

#include <random>
#include <stdexcept>

#include "leasehold/store.h"
#include "support/recycled_schema.h"
#include "support/results.h"

namespace leasehold::support {
namespace {

std::string with_database(const std::string& url, const std::string& name) {
  const auto host = url.find("://") + 3;
  return url.substr(0, url.find('/', host)) + "/" + name;
}

void migrate(const std::string& url) {
  const auto store = Store::open(url, {.migrate = MigrateOnOpen::yes});
  if (!store) throw std::runtime_error("cannot migrate " + url + ": " + describe(store.error()));
}

/// Makes the template unless another test has. One that was not finished is no template.
std::string template_on(const std::string& url) {
  PgConnection server(url);
  const auto name = "migrated_" + checksum_of_migrations().substr(0, 16);
  const auto finished = fmt::format("SELECT count(*) FROM pg_database WHERE datname = '{}' AND datistemplate", name);
  if (server.scalar(finished) != "0") return name;
  server.run("SELECT pg_advisory_lock(hashtext('template of tests'))");
  if (server.scalar(finished) == "0") {
    server.run("DROP DATABASE IF EXISTS " + name);
    server.run("CREATE DATABASE " + name);
    migrate(with_database(url, name));
    server.run("ALTER DATABASE " + name + " WITH ALLOW_CONNECTIONS false IS_TEMPLATE true");
  }
  server.run("SELECT pg_advisory_unlock(hashtext('template of tests'))");
  return name;
}

}  // namespace

EmptyDatabase::EmptyDatabase(std::string url, const std::string& made_from) : server_(std::move(url)) {
  std::random_device random;
  name_ = fmt::format("t_{:08x}{:08x}", random(), random());
  url_ = with_database(server_, name_);
  PgConnection(server_).run(fmt::format("CREATE DATABASE {} TEMPLATE {}", name_, made_from));
}

void EmptyDatabase::set(const std::string& name, const std::string& value) {
  PgConnection(server_).run(fmt::format("ALTER DATABASE {} SET {} = {}", name_, name, value));
}

CopiedDatabase::CopiedDatabase(const std::string& url) : EmptyDatabase(url, template_on(url)) {}

EmptyDatabase::~EmptyDatabase() {
  try {
    PgConnection(server_).fail("DROP DATABASE IF EXISTS " + name_ + " WITH (FORCE)");
  } catch (const std::runtime_error&) {
    // The server is gone, and the database with it.
  }
}

}  // namespace leasehold::support
