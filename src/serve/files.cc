#include "serve/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "serve/http.h"

namespace leasehold::serve {
namespace {

constexpr std::string_view index_path = "/index.html";
constexpr std::string_view base_at_root = R"(<base href="/">)";
/// Allows only files of this server, and no script in the page itself.
constexpr std::string_view policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src "
    "'self'; "
    "manifest-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

const File* file_at(std::string_view path) {
  const auto files = embedded_files();
  const auto found = std::find_if(files.begin(), files.end(), [&](const File& file) { return file.path == path; });
  return found != files.end() ? &*found : nullptr;
}

/// The pages of web/src/main.tsx. Any other path is unknown, so that a probe of a wrong path fails.
bool is_view(std::string_view path) {
  static constexpr auto views =
      std::to_array<std::string_view>({"/", "/overview", "/leases", "/queues", "/queue", "/jobs", "/job", "/syncs",
                                       "/sync", "/backlog", "/schedules", "/schedule", "/rows", "/store", "/login"});
  return std::find(views.begin(), views.end(), path) != views.end();
}

bool accepts_gzip(const Request& request) {
  return request.headers.get("Accept-Encoding").find("gzip") != std::string_view::npos;
}

bool has_current(const Request& request, std::string_view etag) {
  return request.headers.get("If-None-Match").find(etag) != std::string_view::npos;
}

/// index.html with the base path that its links are relative to.
std::string placed(const Request& request, const File& file) {
  std::string page(file.bytes);
  const auto at = page.find(base_at_root);
  if (at != std::string::npos)
    page.replace(at, base_at_root.size(), fmt::format("<base href=\"{}/\">", request.base_path));
  return page;
}

}  // namespace

Response file_response(const Request& request) {
  const auto* file = file_at(request.path);
  if (file == nullptr && is_view(request.path)) file = file_at(index_path);
  if (file == nullptr) return problem(request, 404, "unknown_route", "there is no such page or file");
  Response response{.headers = {{"Content-Type", std::string(file->content_type)},
                                {"Content-Security-Policy", std::string(policy)},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cache-Control", "no-cache"},
                                {"Vary", "Accept-Encoding"},
                                {"ETag", std::string(file->etag)}}};
  if (has_current(request, file->etag)) {
    response.status = 304;
  } else if (file->path == index_path && !request.base_path.empty()) {
    response.body = placed(request, *file);
  } else if (accepts_gzip(request)) {
    response.headers.set("Content-Encoding", "gzip");
    response.body = std::string(file->gzip);
  } else {
    response.body = std::string(file->bytes);
  }
  return response;
}

}  // namespace leasehold::serve
