// Names, origins, addresses and proxies, without a socket.
#include <gtest/gtest.h>

#include "serve/gate.h"
#include "serve/listen.h"
#include "serve/site.h"

namespace leasehold::support {
namespace {

int status_of(const serve::Gate& gate, serve::Headers headers) {
  const auto refusal = gate.refusal_of({.method = "GET", .path = "/", .headers = std::move(headers)});
  return refusal ? refusal->status : 200;
}

TEST(GateTest, ANameThatIsNotOursIsRefused) {
  const serve::Gate gate({.hosts = {"leases.example.org"}});
  for (const auto* host : {"localhost", "LocalHost:7420", "127.0.0.1:7420", "[::1]:7420", "192.0.2.7",
                           "leases.example.org", "leases.example.org:443"}) {
    EXPECT_EQ(status_of(gate, {{"Host", host}}), 200) << host;
  }
  // Pages of these reach a server on loopback once their name resolves to 127.0.0.1.
  for (const auto* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "localhost:x", "a b",
                           "evil.example:7420", "[::1", "::1]", "user@localhost"}) {
    EXPECT_EQ(status_of(gate, {{"Host", host}}), 421) << host;
  }
}

TEST(GateTest, OnlyPagesOfThisServerMayCallIt) {
  const serve::Gate gate({.hosts = {"leases.example.org"}});
  EXPECT_EQ(status_of(gate, {{"Host", "localhost:7420"}, {"Origin", "http://localhost:7420"}}), 200);
  EXPECT_EQ(status_of(gate, {{"Host", "LocalHost"}, {"Origin", "http://localhost:80"}}), 200);
  for (const auto* origin : {"http://evil.example", "http://localhost:8080", "null",
                             "http://localhost:7420.evil.example", "file://", "chrome-extension://abc"}) {
    EXPECT_EQ(status_of(gate, {{"Host", "localhost:7420"}, {"Origin", origin}}), 403) << origin;
  }
  EXPECT_EQ(status_of(gate, {{"Host", "localhost"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "no-cors"}}),
            403);
  EXPECT_EQ(status_of(gate, {{"Host", "localhost"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}}),
            200);
}

TEST(GateTest, APageOfTheOtherSchemeIsForeign) {
  const serve::Gate gate({.hosts = {"leases.example.org"}, .proxies = {"192.0.2.1"}});
  const auto status = [&](const std::string& peer, const std::string& proto, const std::string& origin) {
    serve::Request request{.method = "GET", .path = "/", .peer = peer};
    request.headers = {{"Host", "leases.example.org"}, {"Origin", origin}};
    if (!proto.empty()) request.headers.set("X-Forwarded-Proto", proto);
    const auto refusal = gate.refusal_of(request);
    return refusal ? refusal->status : 200;
  };
  const std::string encrypted = "https://leases.example.org";
  const std::string plain = "http://leases.example.org";
  EXPECT_EQ(status("192.0.2.9", "", plain), 200);
  EXPECT_EQ(status("192.0.2.9", "", encrypted), 403);
  EXPECT_EQ(status("192.0.2.9", "https", encrypted), 403) << "this proxy is not trusted";
  EXPECT_EQ(status("192.0.2.1", "https", encrypted), 200);
  EXPECT_EQ(status("192.0.2.1", "https", encrypted + ":443"), 200);
  EXPECT_EQ(status("192.0.2.1", "https", plain), 403);
  EXPECT_EQ(status("192.0.2.1", "", encrypted), 200) << "the proxy does not tell";
  EXPECT_EQ(status("192.0.2.1", "", plain), 200);
}

TEST(GateTest, OnlyTrustedProxiesNameTheClient) {
  const serve::Gate gate({.proxies = {"192.0.2.1", "unix"}});
  const auto seen = [&](serve::Request request) {
    request.headers = {{"X-Forwarded-For", "10.9.9.9, 203.0.113.5"}, {"X-Forwarded-Proto", "https"}};
    gate.look_behind_proxy(request);
    return request.peer + (request.is_https ? " https" : "");
  };
  EXPECT_EQ(seen({.peer = "192.0.2.1"}), "203.0.113.5 https");
  EXPECT_EQ(seen({.peer = "192.0.2.2"}), "192.0.2.2");
  EXPECT_EQ(seen({.is_unix = true}), "203.0.113.5 https");
}

TEST(ListenTest, AddressesAreReadAndShown) {
  for (const auto* text : {"127.0.0.1:7420", "[::1]:80", "unix:/run/leasehold/http", "0.0.0.0:0"}) {
    const auto address = serve::listen_address_from(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address->text(), text);
  }
  EXPECT_EQ(serve::listen_address_from("localhost:7420")->text(), "127.0.0.1:7420");
  for (const auto* text :
       {"", ":7420", "7420", "127.0.0.1", "127.0.0.1:70000", "::1:80", "[::1]", "example.org:80", "unix:"}) {
    EXPECT_FALSE(serve::listen_address_from(text).ok()) << text;
  }
}

TEST(ListenTest, LoopbackAndSocketsAreOfThisMachineAlone) {
  for (const auto* text : {"127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "unix:/x"}) {
    EXPECT_TRUE(serve::listen_address_from(text)->is_local()) << text;
  }
  for (const auto* text : {"0.0.0.0:1", "[::]:1", "192.0.2.7:1"}) {
    EXPECT_FALSE(serve::listen_address_from(text)->is_local()) << text;
  }
}

TEST(HttpTest, QueriesAreDecoded) {
  const auto members = serve::query_members("a=1&b=x+y%20%2f&&c&d==");
  ASSERT_TRUE(members.ok());
  std::string shown;
  for (const auto& [name, value] : *members) shown += name + ":" + value + ";";
  EXPECT_EQ(shown, "a:1;b:x y /;c:;d:=;");
  for (const auto* broken : {"a=%", "a=%2", "%zz=1", "a=%ff"})
    EXPECT_FALSE(serve::query_members(broken).ok()) << broken;
}

TEST(HttpTest, OnlyPathsBelowTheBasePathAreOurs) {
  EXPECT_EQ(serve::path_below("", "/x"), "/x");
  EXPECT_EQ(serve::path_below("/lease", "/lease/x"), "/x");
  EXPECT_EQ(serve::path_below("/lease", "/lease"), "/");
  EXPECT_EQ(serve::path_below("/lease", "/leases"), std::nullopt);
  EXPECT_EQ(serve::path_below("/lease", "/"), std::nullopt);
}

}  // namespace
}  // namespace leasehold::support
