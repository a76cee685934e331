#include "serve/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <utility>
#include <vector>

#include "serve/incoming.h"

namespace leasehold::serve {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr std::size_t read_bytes = std::size_t(64) << 10U;
/// How much of a refused body the server reads and discards.
constexpr std::size_t most_discarded = std::size_t(64) << 20U;

asio::redirect_error_t<asio::use_awaitable_t<>> into(error_code& error) {
  return asio::redirect_error(asio::use_awaitable, error);
}

}  // namespace

Connection::Connection(Network& network, Socket socket, std::string peer, bool is_unix)
    : network_(network),
      socket_(std::move(socket)),
      peer_(std::move(peer)),
      is_unix_(is_unix),
      buffer_(network.limits.head_bytes + read_bytes),
      deadline_(network.io),
      wake_(network.io) {
  ++network_.count;
}

void Connection::start() {
  asio::co_spawn(
      network_.io, [self = shared_from_this()] { return self->run(); }, asio::detached);
}

asio::awaitable<void> Connection::run() {
  try {
    while (co_await serve_one() && !last_ && !network_.draining) give_back_memory();
  } catch (const std::exception&) {
    // Out of memory or threads: this connection ends, the others go on.
  }
  give_back_memory();
  end();
}

asio::awaitable<bool> Connection::serve_one() {
  Incoming incoming(network_.limits.head_bytes);
  if (!co_await read_head(incoming)) co_return false;
  auto admitted = network_.handler->admit(incoming.request);
  if (auto* refused = std::get_if<Response>(&admitted)) {
    if (incoming.has_body) co_return co_await refuse(incoming, std::move(*refused));
    co_return co_await send(incoming, std::move(*refused));
  }
  if (incoming.has_body && !co_await read_body(incoming, std::get<std::size_t>(admitted))) co_return false;
  auto response = co_await ask(&Handler::handle, std::move(incoming.request));
  co_return co_await send(incoming, std::move(response));
}

asio::awaitable<bool> Connection::read_head(Incoming& incoming) {
  error_code error;
  phase_ = Phase::idle;
  if (buffer_.size() == 0) {
    set_deadline(network_.limits.idle);
    co_await socket_.async_wait(Socket::wait_read, into(error));
    if (error) co_return false;
  }
  phase_ = Phase::reading;
  set_deadline(network_.limits.head);
  incoming.request.peer = peer_;
  incoming.request.is_unix = is_unix_;
  error = co_await parse_head(incoming);
  no_deadline();
  if (const auto refusal = incoming.take_head(error, timed_out_); refusal.status != 0) {
    co_await refuse(incoming, refusal.status, refusal.why);
    co_return false;
  }
  co_return !error;
}

asio::awaitable<error_code> Connection::parse_head(Incoming& incoming) {
  incoming.parser.eager(false);
  error_code error;
  while (!incoming.parser.is_header_done()) {
    if (buffer_.size() == 0 || error) {
      error = {};
      const auto room = std::min(read_bytes, buffer_.max_size() - buffer_.size());
      buffer_.commit(co_await socket_.async_read_some(buffer_.prepare(room), into(error)));
      if (error) break;
    }
    const auto bytes = buffer_.cdata();
    buffer_.consume(incoming.put({static_cast<const char*>(bytes.data()), bytes.size()}, error));
    if (error && error != http::error::need_more) break;
  }
  co_return error;
}

asio::awaitable<bool> Connection::read_body(Incoming& incoming, std::size_t most) {
  auto& parser = incoming.parser;
  const auto length = parser.content_length().value_or(most);
  if (length > most) co_return co_await refuse(incoming, 413, fmt::format("the body has more than {} bytes", most));
  if (length > network_.limits.small_body) {
    auto vetted = co_await ask(&Handler::vet, incoming.request);
    forget_question();
    constexpr int go_on = 100;
    if (vetted.status != go_on) co_return co_await refuse(incoming, std::move(vetted));
  }
  parser.body_limit(most);
  parser.eager(true);
  if (!incoming.request.headers.get("Expect").empty() && !co_await write("HTTP/1.1 100 Continue\r\n\r\n")) {
    co_return false;
  }
  phase_ = Phase::reading;
  set_deadline(network_.limits.body);
  error_code error;
  while (!parser.is_done() && !error) {
    co_await http::async_read_some(socket_, buffer_, parser, into(error));
    if (error || count_body(parser.get().body().size())) continue;
    co_return co_await refuse(incoming, 503, "too many large requests at once");
  }
  no_deadline();
  if (const auto refusal = incoming.take_body(error, timed_out_); refusal.status != 0) {
    co_return co_await refuse(incoming, refusal.status, refusal.why);
  }
  co_return !error;
}

asio::awaitable<bool> Connection::refuse(Incoming& incoming, int status, std::string_view why) {
  return refuse(incoming, network_.handler->refuse(incoming.request, status, why));
}

/// Always false: discard() does not parse the body, so the server cannot find the next request.
asio::awaitable<bool> Connection::refuse(Incoming& incoming, Response refusal) {
  incoming.keep_alive = false;
  incoming.parser.get().body() = {};
  give_back_memory();
  constexpr int too_slow = 408;
  const bool still_sends = refusal.status != too_slow;
  co_await send(incoming, std::move(refusal));
  if (still_sends) co_await discard();
  co_return false;
}

/// Reads on while the client is still sending: if the server closed the connection now, the client would lose the
/// answer.
asio::awaitable<void> Connection::discard() {
  if (last_) co_return;
  error_code error;
  socket_.shutdown(asio::socket_base::shutdown_send, error);
  phase_ = Phase::idle;
  set_deadline(network_.limits.body);
  std::vector<char> waste(read_bytes);
  for (std::size_t read = 0; !error && read < most_discarded;) {
    read += co_await socket_.async_read_some(asio::buffer(waste), into(error));
  }
}

asio::awaitable<void> Connection::woken() {
  wake_.expires_at(asio::steady_timer::time_point::max());
  error_code ignored;
  co_await wake_.async_wait(into(ignored));
}

asio::awaitable<Response> Connection::ask(Question question, Request request) {
  phase_ = Phase::answering;
  stop_.emplace();
  if (network_.draining) stop_->request_stop();
  moot_.emplace();
  request.gone = stop_->get_token();
  request.moot = moot_->get_token();
  std::optional<Response> response;
  auto promise = std::make_shared<Promise>([self = shared_from_this(), &response](Response given) mutable {
    asio::post(self->network_.io, [self, &response, given = std::move(given)]() mutable {
      response = std::move(given);
      self->wake_.cancel();
    });
  });
  set_deadline(network_.limits.wait);
  watch_client();
  (network_.handler->*question)(std::move(request),
                                [promise = std::move(promise)](Response given) { promise->keep(std::move(given)); });
  while (!response) co_await woken();
  no_deadline();
  co_return std::move(*response);
}

asio::awaitable<bool> Connection::write(std::string bytes) {
  phase_ = Phase::sending;
  set_deadline(network_.limits.send);
  error_code error;
  co_await asio::async_write(socket_, asio::buffer(bytes), into(error));
  no_deadline();
  co_return !error;
}

asio::awaitable<bool> Connection::send(Incoming& incoming, Response response) {
  forget_question();
  const bool stays = incoming.keep_alive && !last_ && !network_.draining && !client_gone_;
  const bool chunked = response.stream && incoming.chunks_allowed;
  std::string more = stays && (!response.stream || chunked) ? "" : "Connection: close\r\n";
  if (chunked) {
    more += "Transfer-Encoding: chunked\r\n";
  } else if (!response.stream && may_have_body(response.status)) {
    more += fmt::format("Content-Length: {}\r\n", response.body.size());
  }
  auto bytes = head_text(response, more);
  const bool is_head = incoming.parser.get().method() == http::verb::head;
  if (response.stream && !is_head) {
    if (!co_await write(std::move(bytes))) {
      response.stream->client_gone();
      co_return false;
    }
    co_return co_await send_stream(std::move(response.stream), chunked) && stays&& chunked;
  }
  if (response.stream) response.stream->client_gone();
  if (!is_head && may_have_body(response.status)) bytes += response.body;
  const bool sent = co_await write(std::move(bytes));
  co_return sent&& stays;
}

asio::awaitable<bool> Connection::send_stream(std::shared_ptr<Stream> stream, bool chunked) {
  phase_ = Phase::answering;
  stop_.emplace();
  watch_client();
  stream->attach([weak = weak_from_this(), &io = network_.io] {
    asio::post(io, [weak] {
      if (const auto self = weak.lock()) self->wake_.cancel();
    });
  });
  bool alive = true;
  while (alive && !client_gone_ && socket_.is_open()) {
    auto bytes = stream->take();
    if (bytes.empty()) {
      if (stream->finished()) break;
      co_await woken();
      continue;
    }
    if (chunked) bytes = fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
    alive = co_await write(std::move(bytes));
    phase_ = Phase::answering;
    stream->sent();
  }
  const bool ended = alive && !client_gone_ && stream->finished();
  stream->client_gone();
  if (ended && chunked) co_return co_await write("0\r\n\r\n");
  co_return ended;
}

}  // namespace leasehold::serve
