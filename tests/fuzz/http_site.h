// The server for the fuzzer of HTTP: a site on a store in memory that tells which statements wrote, a token of each
// scope, and connections that end where the input ends.
#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fuzz/property.h"
#include "leasehold/leasehold.h"
#include "serve/incoming.h"
#include "serve/site.h"
#include "serve/transport.h"
#include "store/store.h"

namespace leasehold::fuzz {

/// The names of the statements that may write.
class Written {
 public:
  void note(std::string_view name) {
    const std::lock_guard lock(mutex_);
    names_.emplace(name);
  }
  void note(const storage::Statement& statement) {
    if (statement.access == storage::Access::write) note(statement.name);
  }
  /// Since the last call.
  std::set<std::string, std::less<>> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(names_, {});
  }

 private:
  std::mutex mutex_;
  std::set<std::string, std::less<>> names_;
};

class WatchedTransaction final : public storage::Transaction {
 public:
  WatchedTransaction(std::unique_ptr<storage::Transaction> inner, Written& written)
      : inner_(std::move(inner)), written_(written) {}

  Result<storage::Rows> query(const storage::Statement& statement, std::span<const storage::Param> params) override {
    written_.note(statement);
    return inner_->query(statement, params);
  }
  Result<storage::Rows> run_script(std::string_view sql) override {
    written_.note("a script");
    return inner_->run_script(sql);
  }
  Result<void> commit() override { return inner_->commit(); }

 private:
  std::unique_ptr<storage::Transaction> inner_;
  Written& written_;
};

class WatchedBackend final : public storage::Backend {
 public:
  explicit WatchedBackend(std::shared_ptr<storage::Backend> inner) : inner_(std::move(inner)) {}

  Written& written() { return written_; }

  Result<storage::Rows> query(const storage::Statement& statement, std::span<const storage::Param> params,
                              BootTime deadline) override {
    written_.note(statement);
    return inner_->query(statement, params, deadline);
  }
  std::vector<Result<storage::Rows>> query_each(std::span<const storage::Question> questions,
                                                BootTime deadline) override {
    for (const auto& question : questions) written_.note(*question.statement);
    return inner_->query_each(questions, deadline);
  }
  Result<std::unique_ptr<storage::Transaction>> begin(BootTime deadline) override {
    auto begun = inner_->begin(deadline);
    if (!begun) return begun;
    return std::unique_ptr<storage::Transaction>(std::make_unique<WatchedTransaction>(std::move(*begun), written_));
  }
  Result<std::unique_ptr<storage::Transaction>> begin_scratch(BootTime deadline) override {
    return inner_->begin_scratch(deadline);
  }
  std::unique_ptr<storage::ChangeWatch> watch(std::string_view topic) override { return inner_->watch(topic); }
  [[nodiscard]] const storage::Dialect& dialect() const override { return inner_->dialect(); }
  [[nodiscard]] std::string localize(std::string_view sql) const override { return inner_->localize(sql); }
  Result<bool> shares_session(BootTime deadline) override { return inner_->shares_session(deadline); }
  [[nodiscard]] Facts facts() const override { return inner_->facts(); }
  void close() override { inner_->close(); }

 private:
  std::shared_ptr<storage::Backend> inner_;
  Written written_;
};

/// A token as inputs name it, since the secret is another one in each run.
struct KnownToken {
  std::string_view name{};
  Scope scope = Scope::read;
  std::string_view only{};  ///< empty: everything
};

inline constexpr auto known_tokens = std::to_array<KnownToken>({{"{read}", Scope::read},
                                                                {"{produce}", Scope::produce},
                                                                {"{work}", Scope::work},
                                                                {"{admin}", Scope::admin},
                                                                {"{mail}", Scope::admin, "queue:mail*"}});

class FuzzedSite {
 public:
  FuzzedSite() : memory_(open_memory_store(wall_clock()).value()) {
    for (const auto& token : known_tokens) {
      NewToken made{.name = std::string(token.name), .scope = token.scope};
      if (!token.only.empty()) made.only.emplace_back(token.only);
      secrets_[token.name] = memory_.access().create_token(made).value().secret;
    }
    backend_ = std::make_shared<WatchedBackend>(memory_.impl().backend);
    site_.emplace(store_over(backend_, {}), serve::SiteOptions{});
  }

  serve::Site& site() { return *site_; }
  Store& store() { return memory_; }
  WatchedBackend& backend() { return *backend_; }
  [[nodiscard]] const std::map<std::string_view, std::string>& secrets() const { return secrets_; }

  /// The response, without waiting for anything: the client is gone already.
  serve::Response answer(serve::Request request) {
    std::stop_source gone;
    gone.request_stop();
    request.gone = gone.get_token();
    const auto promise = std::make_shared<std::promise<serve::Response>>();
    auto answered = promise->get_future();
    site_->handle(std::move(request), [promise](serve::Response response) { promise->set_value(std::move(response)); });
    return answered.get();
  }

 private:
  static std::shared_ptr<const Clock> wall_clock() {
    return std::shared_ptr<const Clock>(&system_clock(), [](const Clock*) {});
  }

  Store memory_;
  std::map<std::string_view, std::string> secrets_;
  std::shared_ptr<WatchedBackend> backend_;
  std::optional<serve::Site> site_;
};

/// What a client sends before it closes its end, read as connection.cc reads it.
class FuzzedConnection {
 public:
  explicit FuzzedConnection(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  serve::Refusal read_head(serve::Incoming& incoming) {
    auto& parser = incoming.parser;
    parser.eager(false);
    const auto error = read(incoming, [&] { return parser.is_header_done(); });
    const auto refusal = incoming.take_head(error, false);
    broken_ = broken_ || error.failed();
    return refusal;
  }
  serve::Refusal read_body(serve::Incoming& incoming, std::size_t most) {
    auto& parser = incoming.parser;
    if (parser.content_length().value_or(most) > most) return {413, "the body has too many bytes"};
    parser.body_limit(most);
    parser.eager(true);
    const auto error = read(incoming, [&] { return parser.is_done(); });
    broken_ = broken_ || error.failed();
    return incoming.take_body(error, false);
  }
  /// Whether what follows cannot be a request.
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  boost::system::error_code read(serve::Incoming& incoming, const std::function<bool()>& is_read) {
    namespace http = boost::beast::http;
    boost::system::error_code error;
    while (!is_read()) {
      // The client has closed its end.
      if (rest_.empty()) return http::error::partial_message;
      const auto used = incoming.put(rest_, error);
      require(used <= rest_.size(), "the parser reads no further than the input");
      rest_.remove_prefix(used);
      if (error == http::error::need_more && used == 0) return http::error::partial_message;
      if (error && error != http::error::need_more) return error;
      error = {};
    }
    return error;
  }

  std::string_view rest_;
  bool broken_ = false;
};

}  // namespace leasehold::fuzz
