// Reads a request: Boost.Beast's parser, the refusal of a bad request, and the request as a plain value. It does not
// know where the bytes come from. Only connection.cc and the fuzzer of HTTP see this.
#pragma once

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "serve/http.h"

namespace leasehold::serve {

/// Belongs to one thread.
struct Incoming {
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  explicit Incoming(std::size_t max_head) {
    parser.header_limit(static_cast<std::uint32_t>(max_head));
    // The limit depends on the path, which is not known yet.
    parser.body_limit(boost::none);
  }

  /// Gives bytes to the parser and returns how many it used.
  std::size_t put(std::string_view bytes, boost::system::error_code& error) {
    // The parser joins the lines of a folded header, but a proxy in front of us may read them otherwise.
    if (!parser.is_header_done() && !bytes.starts_with("\r\n")) {
      const auto head = bytes.substr(0, bytes.find("\r\n\r\n"));
      is_folded = is_folded || head.find("\r\n ") != head.npos || head.find("\r\n\t") != head.npos;
    }
    return parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  }

  /// After the parser has read a head, or ended with an error. Status 0 and an error: the connection ends without an
  /// answer.
  Refusal take_head(boost::system::error_code error, bool timed_out) {
    const auto& head = parser.get();
    fill(head);
    if (error) return refusal_for(error, timed_out);
    if (is_folded) return {400, "a header must not go on in the next line"};
    has_body = parser.chunked() || parser.content_length().value_or(0) > 0;
    keep_alive = parser.keep_alive();
    chunks_allowed = head.version() >= 11;
    return defect_of(request, head.version());
  }
  /// After the parser has read a body, or ended with an error.
  Refusal take_body(boost::system::error_code error, bool timed_out) {
    if (error) return refusal_for(error, timed_out);
    request.body = std::move(parser.get().body());
    return {};
  }

  Parser parser{};
  Request request{};
  bool is_folded = false;  ///< a header has more than one line
  bool has_body = false;
  bool keep_alive = false;
  bool chunks_allowed = true;  ///< of the response: not with HTTP/1.0

 private:
  static Refusal refusal_for(boost::system::error_code error, bool timed_out) {
    namespace http = boost::beast::http;
    if (timed_out) return {408, "the request took too long"};
    if (error == http::error::header_limit) return {431, "the head is too large"};
    if (error == http::error::body_limit) return {413, "the body is too large"};
    // The connection itself failed or ended: there is nothing to answer.
    if (error.category() != make_error_code(http::error::bad_method).category()) return {};
    if (error == http::error::end_of_stream || error == http::error::partial_message) return {};
    return {400, "this is not HTTP/1.1"};
  }

  void fill(const boost::beast::http::request_header<>& head) {
    request.method = std::string(head.method_string());
    const std::string_view target(head.target().data(), head.target().size());
    const auto question = std::min(target.find('?'), target.size());
    request.path = std::string(target.substr(0, question));
    request.query = std::string(target.substr(std::min(question + 1, target.size())));
    for (const auto& field : head) {
      request.headers.add(std::string_view(field.name_string()), std::string(field.value()));
    }
  }
};

}  // namespace leasehold::serve
