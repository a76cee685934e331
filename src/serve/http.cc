#include "serve/http.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace leasehold::serve {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower(c);
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

}  // namespace

std::string_view Headers::get(std::string_view name) const {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return same_name(one.first, name); });
  return found != all_.end() ? std::string_view(found->second) : std::string_view();
}

std::size_t Headers::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.end(), [&](const auto& one) { return same_name(one.first, name); }));
}

void Headers::set(std::string_view name, std::string value) {
  std::erase_if(all_, [&](const auto& one) { return same_name(one.first, name); });
  add(name, std::move(value));
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      const auto high = i + 1 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
      if (!high || !low) return std::nullopt;
      decoded += static_cast<char>(*high * 16 + *low);
      i += 2;
    }
  }
  return decoded;
}

Result<std::vector<QueryMember>> query_members(std::string_view query) {
  std::vector<QueryMember> members;
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const auto member = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (member.empty()) continue;
    const auto equals = std::min(member.find('='), member.size());
    auto name = percent_decoded(member.substr(0, equals));
    auto value = percent_decoded(member.substr(std::min(equals + 1, member.size())));
    if (!name || !value || !is_utf8(*name) || !is_utf8(*value)) {
      return invalid("the query has a broken escape or is not UTF-8: " + quoted(member));
    }
    members.push_back({std::move(*name), std::move(*value)});
  }
  return members;
}

bool Stream::write(std::string_view bytes) {
  std::unique_lock lock(mutex_);
  if (gone_ || closed_) return false;
  waiting_ += bytes;
  wake(lock);
  return true;
}

std::size_t Stream::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size() + under_way_;
}

void Stream::drop_waiting() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
}

void Stream::close() {
  std::unique_lock lock(mutex_);
  if (closed_) return;
  closed_ = true;
  wake(lock);
}

bool Stream::gone() const {
  const std::lock_guard lock(mutex_);
  return gone_;
}

void Stream::wake(std::unique_lock<std::mutex>& lock) const {
  const auto wake = wake_;
  lock.unlock();
  if (wake) wake();
}

void Stream::attach(std::function<void()> wake) {
  std::unique_lock lock(mutex_);
  wake_ = std::move(wake);
  this->wake(lock);
}

std::string Stream::take() {
  const std::lock_guard lock(mutex_);
  under_way_ = waiting_.size();
  return std::exchange(waiting_, {});
}

void Stream::sent() {
  const std::lock_guard lock(mutex_);
  under_way_ = 0;
}

bool Stream::finished() const {
  const std::lock_guard lock(mutex_);
  return closed_ && waiting_.empty();
}

void Stream::client_gone() {
  const std::lock_guard lock(mutex_);
  gone_ = true;
  waiting_.clear();
  under_way_ = 0;
  wake_ = nullptr;
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return status < 400 ? "OK" : "Internal Server Error";
  }
}

namespace {

Refusal ambiguity_in(const Headers& headers, unsigned version) {
  const auto lengths = headers.count("Content-Length");
  const auto encodings = headers.count("Transfer-Encoding");
  if (lengths > 1) return {400, "several Content-Length headers"};
  if (headers.get("Content-Length").find_first_not_of("0123456789") != std::string_view::npos) {
    return {400, "Content-Length is not a number"};
  }
  if (lengths + encodings > 1) return {400, "more than one of Content-Length and Transfer-Encoding"};
  if (encodings == 1) {
    if (version < 11) return {400, "Transfer-Encoding needs HTTP/1.1"};
    if (!same_name(headers.get("Transfer-Encoding"), "chunked")) {
      return {501, "the only known Transfer-Encoding is chunked"};
    }
  }
  const auto hosts = headers.count("Host");
  if (hosts > 1 || (hosts == 0 && version >= 11)) return {400, "one Host header is required"};
  return {};
}

}  // namespace

Refusal defect_of(const Request& head, unsigned version) {
  if (version != 11 && version != 10) return {400, "only HTTP/1.1 and HTTP/1.0 are understood"};
  if (const auto refusal = ambiguity_in(head.headers, version); refusal.status != 0) return refusal;
  if (!head.path.starts_with('/')) return {400, "the target of a request is a path"};
  const auto expects = head.headers.get("Expect");
  if (!expects.empty() && !same_name(expects, "100-continue")) return {417, "an unknown Expect header"};
  return {};
}

std::string head_text(const Response& response, std::string_view more) {
  auto head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  for (const auto& [name, value] : response.headers) {
    // A value that a caller chose must not break the line.
    if (value.find_first_of("\r\n") == std::string::npos) head += fmt::format("{}: {}\r\n", name, value);
  }
  return fmt::format("{}{}\r\n", head, more);
}

bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace leasehold::serve
