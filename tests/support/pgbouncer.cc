#include "support/pgbouncer.h"

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

namespace leasehold::support {
namespace {

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = fd >= 0 && ::bind(fd, generic, size) == 0 && ::getsockname(fd, generic, &size) == 0;
  ::close(fd);
  if (!bound) throw std::runtime_error("no free port on the loopback interface");
  return ntohs(address.sin_port);
}

std::map<std::string, std::string> parse(const std::string& url) {
  std::map<std::string, std::string> parts;
  auto* options = PQconninfoParse(url.c_str(), nullptr);
  if (options == nullptr) throw std::runtime_error("not a PostgreSQL URL: " + url);
  for (auto* option = options; option->keyword != nullptr; ++option) {
    if (option->val != nullptr) parts[option->keyword] = option->val;
  }
  PQconninfoFree(options);
  return parts;
}

std::string configuration(std::map<std::string, std::string> server, int port) {
  std::string text = "[databases]\npooled =";
  for (const auto* name : {"host", "port", "dbname", "user", "password"}) {
    if (server.contains(name)) text += " " + std::string(name) + "=" + server[name];
  }
  // Two server connections and no reset: a client that leans on its session is found out at once.
  text += "\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " + std::to_string(port) +
          "\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 2\n"
          "server_round_robin = 1\n";
  return text;
}

}  // namespace

PgBouncer::PgBouncer(const std::string& server_url) {
  const int port = free_port();
  const auto file = folder_.file("pgbouncer.ini");
  std::ofstream(file) << configuration(parse(server_url), port);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  Arguments argv{"/usr/sbin/pgbouncer", file};
  if (::geteuid() == 0) argv.insert(argv.begin() + 1, {"-u", "nobody"});
  process_.emplace(Process::start(argv));
  url_ = "postgresql://anyone@127.0.0.1:" + std::to_string(port) + "/pooled";
  if (!eventually([&] { return PQping(url_.c_str()) == PQPING_OK; })) {
    const auto ended = process_->finish(std::chrono::seconds(0));
    throw std::runtime_error("pgbouncer did not come up: " + ended.err);
  }
}

}  // namespace leasehold::support
