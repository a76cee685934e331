// Answers besides those of acts: the files of the page, and the Model Context Protocol.
#pragma once

#include <span>
#include <stop_token>
#include <string_view>

#include "leasehold/store.h"
#include "serve/callers.h"
#include "serve/http.h"

namespace leasehold::serve {

struct File {
  std::string_view path{};  ///< "/index.html"
  std::string_view content_type{};
  std::string_view bytes{};
  std::string_view gzip{};  ///< the same, compressed
  std::string_view etag{};  ///< "\"5f3a...\""
};

/// From web/dist; empty if leasehold was built without it. Generated, see cmake/embed_files.cmake.
std::span<const File> embedded_files();

/// The file at the path of a GET. A view of the page, such as "/jobs", gets index.html, in which `<base href="/">`
/// becomes the base path.
Response file_response(const Request& request);

// POST /mcp: one message per request, without state between them.

/// Tools that change something need the scope `work`. `?tools=jobs,chunks` adds toolsets. The server cannot watch the
/// process of a session: a session lives for mcp::unkept_ttl after the last call that named it.
/// With `read_only` only the tools that change nothing exist.
Response mcp_response(const Request& request, const Store& store, const Caller& caller, bool read_only,
                      const std::stop_token& stop);

}  // namespace leasehold::serve
