// A server in this process, on the store of the test.
//
//   class ApiTest : public ServerTest {};
//   LEASEHOLD_ON_BOTH_STORES(ApiTest);
//
//   start();
//   EXPECT_EQ(post("job/claim", R"({"queue":"mail"})", token(Scope::work)).status, 200);
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "serve/http_client.h"
#include "serve/openapi_check.h"
#include "serve/server.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {

class ServerTest : public StoreTest {
 protected:
  void TearDown() override {
    end();
    StoreTest::TearDown();
  }

  void start(serve::SiteOptions site = {}, const serve::Limits& limits = {}) {
    start_over(store(), std::move(site), limits);
  }
  /// On another handle of the store, such as one whose calls fail on demand.
  void start_over(const Store& served, serve::SiteOptions site, const serve::Limits& limits = {}) {
    auto opened =
        serve::Server::open(served, {.listen = {{.host = "127.0.0.1"}}, .site = std::move(site), .limits = limits});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    server_ = std::move(*opened);
    thread_ = std::thread([this] { server_->run(); });
  }
  void start_without_auth() { start({.callers = {.no_auth = true}}); }
  void end() {
    if (!thread_.joinable()) return;
    server_->drain();
    thread_.join();
    server_.reset();
  }
  serve::Server& server() { return *server_; }
  [[nodiscard]] HttpClient client() const { return HttpClient(server_->addresses().front()); }

  /// The secret of a new token.
  std::string token(Scope scope, std::vector<std::string> only = {}) {
    const auto made = store().access().create_token(
        {.name = "token-" + std::to_string(++tokens_), .scope = scope, .only = std::move(only)});
    EXPECT_TRUE(ok(made));
    return made ? made->secret : "";
  }
  static serve::Headers with(const std::string& token, serve::Headers headers = {}) {
    if (!token.empty()) headers.set("Authorization", "Bearer " + token);
    return headers;
  }
  [[nodiscard]] HttpAnswer get(const std::string& path, const std::string& token = {},
                               const serve::Headers& headers = {}) const {
    return checked(path, client().ask("GET", path, "", with(token, headers)));
  }
  /// An act: post("job/claim", ...).
  HttpAnswer post(const std::string& act, const std::string& arguments, const std::string& token = {},
                  const serve::Headers& headers = {}) {
    return checked("/api/v1/" + act, client().ask("POST", "/api/v1/" + act, arguments, with(token, headers)));
  }
  /// Every answer must be as /openapi.json says.
  static HttpAnswer checked(const std::string& path, HttpAnswer answer) {
    EXPECT_EQ(wrong_in_answer(path, answer), "") << path << " " << answer.status << " " << answer.body;
    return answer;
  }

 private:
  std::unique_ptr<serve::Server> server_;
  std::thread thread_;
  int tokens_ = 0;
};

}  // namespace leasehold::support
