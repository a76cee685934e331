// Writes docs/http.md, the routes of `leasehold serve`, from the acts.
//
//   http_page > docs/http.md          cmake --build --preset dev --target write_http_page
//   http_page --check docs/http.md    exits with 1 if the page is not current
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "act/act.h"
#include "model/errors.h"
#include "serve/api.h"

namespace leasehold {
namespace {

constexpr std::string_view intro =
    "# HTTP\n\n"
    "The routes of `leasehold serve`. [server.md](server.md) describes how to run it, its tokens, answers and limits; "
    "[json.md](json.md) describes the\nanswers key by key. `http_page` writes this page from the acts, and a test "
    "fails "
    "if the page is not current.\n\n"
    "| route | answers | needs |\n|---|---|---|\n"
    "| `GET /` | the page; its files and views | |\n"
    "| `GET /healthz` | 200 while the process lives | |\n"
    "| `GET /readyz` | 200 if the store answers, else 503 | |\n"
    "| `GET /openapi.json` | this API for programs, OpenAPI 3.1 | |\n"
    "| `GET /metrics`, `GET /metrics/store` | what this process does, and what is in the store, for Prometheus | "
    "`read` "
    "|\n"
    "| `GET /api/v1/whoami` | the caller: name, scope, patterns; whether the server only reads | any token |\n"
    "| `GET /api/v1/stream` | the [live stream](stream.md) | `read` |\n"
    "| `POST /mcp` | the [Model Context Protocol](agents.md), a message per request | `read`, or `work` |\n"
    "| `POST /login` | a cookie for the `token` in the form | |\n"
    "| `GET /login?once=...` | a cookie for the link that `serve` prints | |\n"
    "| `POST /logout` | takes the cookie back | |\n";

constexpr std::string_view acts_intro =
    "\n## Acts\n\n"
    "Each act is a `POST` with its arguments as a JSON object. Acts that only read are also a `GET` with a query. "
    "*Asks*: "
    "the answer says `granted`, and the\nrefusals in parentheses are answers with status 200. *Waits*: takes "
    "`wait_seconds`.\n";

std::string feature_of(const act::Act& act) { return std::string(act.name.substr(0, act.name.find('.'))); }

std::string refusals_of(const act::Act& act) {
  std::string text;
  for (const auto code : act.refusals) {
    const bool is_answer = act::asks(act) && may_wait(code);
    text += fmt::format("{}{}`{}`{}", text.empty() ? "" : ", ", is_answer ? "(" : "", to_string(code),
                        is_answer ? ")" : fmt::format(" {}", row_of(code).http_status));
  }
  return text;
}

std::string notes_of(const act::Act& act) {
  std::string text;
  if (act::asks(act)) text = "asks";
  if (act.waits) text += text.empty() ? "waits" : ", waits";
  if (serve::max_body_of(act) > serve::max_body) text += text.empty() ? "16 MiB" : ", 16 MiB";
  return text;
}

std::string page() {
  std::string text(intro);
  text += acts_intro;
  std::string feature;
  for (const auto& act : act::all()) {
    if (act.local) continue;
    if (feature_of(act) != feature) {
      feature = feature_of(act);
      text += fmt::format("\n### {}\n\n| route | does | scope | | refusals |\n|---|---|---|---|---|\n", feature);
    }
    text += fmt::format("| `{}{}` | {} | {} | {} | {} |\n", act::only_reads(act) ? "GET, POST " : "POST ",
                        serve::path_of(act), act.help, act::word_of(act.scope), notes_of(act), refusals_of(act));
  }
  return text;
}

int run(const std::vector<std::string>& arguments) {
  const auto text = page();
  if (arguments.size() != 2 || arguments.front() != "--check") {
    std::cout << text;
    return 0;
  }
  std::ifstream file(arguments.back(), std::ios::binary);
  const std::string committed{std::istreambuf_iterator<char>(file), {}};
  if (committed == text) return 0;
  std::cerr << arguments.back() << " is not current: run cmake --build --preset dev --target write_http_page\n";
  return 1;
}

}  // namespace
}  // namespace leasehold

int main(int argc, char** argv) { return leasehold::run({argv + 1, argv + argc}); }
