// Instead of the page that a build embeds: two files are enough to find the one that a request means.
#include <array>

#include "serve/pages.h"

namespace leasehold::serve {

std::span<const File> embedded_files() {
  static constexpr auto files =
      std::to_array<File>({{"/index.html", "text/html; charset=utf-8", "<base href=\"/\">", "\x1f\x8b", "\"1\""},
                           {"/app.js", "text/javascript; charset=utf-8", "1", "\x1f\x8b", "\"2\""}});
  return files;
}

}  // namespace leasehold::serve
