// HTTP/1.1 over TCP and Unix sockets: one network thread reads requests and sends responses; a Handler answers.
//
//   auto transport = Transport::open({address}, {}, handler);
//   if (!transport) return report(transport.error());
//   on_sigterm([&] { (*transport)->drain(); });
//   (*transport)->run();                          // returns once everything under way is answered
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/time.h"
#include "serve/http.h"
#include "serve/listen.h"

namespace leasehold::serve {

struct Limits {
  std::size_t connections = 4096;
  std::size_t head_bytes = std::size_t(16) << 10U;
  /// A body of at most this size is always read. A larger one is read once Handler::vet() has let its sender in, and
  /// its bytes beyond this size count towards `body_memory` as they arrive.
  std::size_t small_body = std::size_t(64) << 10U;
  std::size_t body_memory = std::size_t(256) << 20U;  ///< for the large bodies of all requests together
  Duration head = std::chrono::seconds(10);           ///< for a head, from its first byte
  Duration body = std::chrono::seconds(30);           ///< for a body
  Duration idle = std::chrono::seconds(75);           ///< between two requests of a connection
  Duration send = std::chrono::seconds(60);           ///< for a response, and for each part of a stream
  Duration wait = std::chrono::seconds(60);           ///< then Request::gone fires
  Duration drain = std::chrono::seconds(25);          ///< from drain() to the end of every connection
};

class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  /// Gets a head before its body, and returns how many bytes the body may have, or the response. Runs on the network
  /// thread, so it must not block.
  virtual std::variant<std::size_t, Response> admit(const Request& head) = 0;
  /// Decides whether the sender of this head may send a large body, or one of unknown size: the answer is status 100,
  /// or the refusal. Answers as handle() does.
  virtual void vet(Request head, std::function<void(Response)> answer) = 0;
  /// Answers once, from any thread, now or later. Runs on the network thread, so it must not block.
  virtual void handle(Request request, std::function<void(Response)> answer) = 0;
  /// The response to a head or body that the transport refuses; of a broken head, `head` has what could be read.
  virtual Response refuse(const Request& head, int status, std::string_view why) = 0;
};

class Transport {
 public:
  /// `unavailable` if an address is taken.
  static Result<std::unique_ptr<Transport>> open(const std::vector<ListenAddress>& addresses, const Limits& limits,
                                                 Handler& handler);
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// With the ports that the system has chosen.
  [[nodiscard]] virtual const std::vector<ListenAddress>& addresses() const = 0;
  /// Serves on the calling thread until it has drained.
  virtual void run() = 0;
  /// Ends waits, closes idle connections, and answers the requests that are under way. From any thread.
  virtual void drain() = 0;
  /// Calls `call` on the network thread, again and again while run() runs.
  virtual void every(Duration interval, std::function<void()> call) = 0;
  [[nodiscard]] virtual std::size_t connections() const = 0;
};

}  // namespace leasehold::serve
