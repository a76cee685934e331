// One connection. Only connection.cc, connection_end.cc and transport.cc see this: Boost.Asio takes long to compile.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <functional>
#include <optional>
#include <set>

#include "serve/transport.h"

namespace leasehold::serve {

class Connection;
struct Incoming;

/// The state of one answer. The last owner posts it, so a handler that forgets to answer leaves no connection open.
class Promise {
 public:
  explicit Promise(std::function<void(Response)> keep) : keep_(std::move(keep)) {}
  Promise(const Promise&) = delete;
  Promise& operator=(const Promise&) = delete;
  ~Promise() {
    if (!kept_.exchange(true)) keep_({.status = 500});
  }
  void keep(Response response) {
    if (!kept_.exchange(true)) keep_(std::move(response));
  }

 private:
  std::function<void(Response)> keep_;
  std::atomic<bool> kept_ = false;
};

/// What connections share; belongs to the network thread.
struct Network {
  Limits limits{};
  Handler* handler = nullptr;
  std::set<std::shared_ptr<Connection>> connections{};
  std::atomic<std::size_t> count = 0;
  std::size_t body_memory = 0;
  bool draining = false;
  std::size_t owed = 0;  ///< connections that were under way when the drain began
  std::function<void()> on_paid{};
  boost::asio::io_context io{1};  ///< last: what it runs uses the others
};

/// Belongs to the network thread.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  Connection(Network& network, Socket socket, std::string peer, bool is_unix);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { --network_.count; }

  void start();
  /// Closes it if it is idle; otherwise it closes after its response.
  void drain();
  void abort();

 private:
  enum class Phase { idle, reading, answering, sending };

  boost::asio::awaitable<void> run();
  /// False: the connection ends.
  boost::asio::awaitable<bool> serve_one();
  boost::asio::awaitable<bool> read_head(Incoming& incoming);
  boost::asio::awaitable<boost::system::error_code> parse_head(Incoming& incoming);
  boost::asio::awaitable<bool> read_body(Incoming& incoming, std::size_t most);
  boost::asio::awaitable<bool> refuse(Incoming& incoming, int status, std::string_view why);
  boost::asio::awaitable<bool> refuse(Incoming& incoming, Response refusal);
  boost::asio::awaitable<void> discard();
  using Question = void (Handler::*)(Request request, std::function<void(Response)> answer);
  boost::asio::awaitable<Response> ask(Question question, Request request);
  boost::asio::awaitable<bool> send(Incoming& incoming, Response response);
  boost::asio::awaitable<bool> send_stream(std::shared_ptr<Stream> stream, bool chunked);
  boost::asio::awaitable<bool> write(std::string bytes);
  boost::asio::awaitable<void> woken();

  void watch_client();
  void set_deadline(Duration time);
  void no_deadline();
  void on_deadline();
  /// Counts a body that has grown to `size` bytes; false: there is no room for it.
  bool count_body(std::size_t size);
  void give_back_memory();
  void stop_answer();
  void forget_question();
  void end();

  Network& network_;
  Socket socket_;
  const std::string peer_;
  const bool is_unix_;
  boost::beast::flat_buffer buffer_;
  boost::asio::steady_timer deadline_;
  boost::asio::steady_timer wake_;
  Phase phase_ = Phase::idle;
  std::optional<std::stop_source> stop_;  ///< Request::gone of the request that is being answered
  std::optional<std::stop_source> moot_;  ///< Request::moot
  std::size_t memory_ = 0;                ///< our part of Network::body_memory
  bool timed_out_ = false;
  bool client_gone_ = false;
  bool last_ = false;  ///< it reads no further request
  bool owed_ = false;
};

}  // namespace leasehold::serve
