// A server of the Model Context Protocol on two descriptors, one message per line.
//
// Revisions 2025-06-18 to 2026-07-28. Nothing happens before a tool is called: clients start servers just to look.
// Calls run on threads of their own, so one that waits delays no other.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mcp/desk.h"
#include "mcp/message.h"
#include "mcp/tool.h"

namespace leasehold::mcp {

// What the server answers: the methods of the protocol, in all revisions.

/// JSON of a result, or an error.
using Reply = std::variant<std::string, RpcError>;

/// A tool was called: its name, and "ok" or the word of the refusal.
using NoteCall = std::function<void(std::string_view tool, std::string_view outcome)>;

/// Threading: from any thread.
class Protocol {
 public:
  Protocol(Desk& desk, std::vector<Tool> tools, NoteCall note = {})
      : desk_(desk), tools_(std::move(tools)), note_(std::move(note)) {}

  Reply answer(const Message& request, const std::stop_token& stop);
  /// Whether answering may take long: then no other request should wait for it.
  static bool may_wait(const Message& request);

 private:
  [[nodiscard]] std::string list_tools() const;
  Reply call(const Message& request, bool is_modern, const std::stop_token& stop);
  Reply dispatch(const Message& request, bool is_modern, const std::stop_token& stop);

  Desk& desk_;
  const std::vector<Tool> tools_;
  const NoteCall note_;
};

struct ServerOptions {
  std::vector<Toolset> toolsets{Toolset::claims, Toolset::locks};
  OpenStore open{};
  Holder agent{};  ///< the process whose life the sessions share
  int in = 0;
  int out = 1;
};

/// Returns when the input ends or the agent's process is gone; then its sessions are closed.
void serve(const ServerOptions& options);

}  // namespace leasehold::mcp
