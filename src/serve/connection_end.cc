// How a connection ends: with its client, at a deadline, or when the server drains.
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "serve/connection.h"

namespace leasehold::serve {

namespace asio = boost::asio;
using boost::system::error_code;

void Connection::end() {
  no_deadline();
  error_code ignored;
  socket_.shutdown(asio::socket_base::shutdown_both, ignored);
  socket_.close(ignored);
  network_.connections.erase(shared_from_this());
  if (std::exchange(owed_, false) && --network_.owed == 0) network_.on_paid();
}

void Connection::drain() {
  last_ = true;
  if (phase_ == Phase::idle) return abort();
  owed_ = true;
  ++network_.owed;
  if (stop_) stop_->request_stop();
}

void Connection::abort() {
  last_ = true;
  stop_answer();
  error_code ignored;
  socket_.close(ignored);
  wake_.cancel();
}

void Connection::set_deadline(Duration time) {
  timed_out_ = false;
  deadline_.expires_after(time);
  deadline_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (!error && self && self->deadline_.expiry() <= asio::steady_timer::clock_type::now()) self->on_deadline();
  });
}

void Connection::no_deadline() { deadline_.expires_at(asio::steady_timer::time_point::max()); }

void Connection::on_deadline() {
  if (phase_ == Phase::answering) return stop_answer();
  timed_out_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

bool Connection::count_body(std::size_t size) {
  const auto small = network_.limits.small_body;
  const auto counted = size > small ? size - small : 0;
  if (network_.body_memory - memory_ + counted > network_.limits.body_memory) return false;
  network_.body_memory += counted - memory_;
  memory_ = counted;
  return true;
}

void Connection::give_back_memory() { network_.body_memory -= std::exchange(memory_, 0); }

void Connection::stop_answer() {
  if (moot_) moot_->request_stop();
  if (stop_) stop_->request_stop();
}

void Connection::forget_question() {
  stop_.reset();
  moot_.reset();
  error_code ignored;
  socket_.cancel(ignored);
}

void Connection::watch_client() {
  socket_.async_wait(Socket::wait_read, [weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (error || !self || !self->stop_) return;
    char next = 0;
    const auto got = ::recv(self->socket_.native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
    // More bytes are the next request. While they are unread, the server cannot see that the client has gone.
    if (got > 0 || (got < 0 && errno == EAGAIN)) return;
    self->client_gone_ = true;
    self->stop_answer();
    self->wake_.cancel();
  });
}

}  // namespace leasehold::serve
