// leasehold serve: serve the store over HTTP.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "base/digest.h"
#include "base/quiet_thread.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/signals.h"
#include "cli/store_trouble.h"
#include "leasehold/scheduler.h"
#include "observe/log.h"
#include "serve/server.h"

namespace leasehold::cli {
namespace {

struct ServeOptions {
  std::vector<std::string> listen{"127.0.0.1:7420"};
  std::string base_path;
  std::vector<std::string> hosts;
  std::vector<std::string> proxies;
  bool read_only = false;
  bool no_auth = false;
  bool insecure = false;
  bool scheduler = false;
  std::string log = "info";
};

/// "/lease/" as "/lease".
Result<std::string> base_path_from(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  if (!path.empty() && !path.starts_with('/')) path.insert(0, "/");
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-_.~";
  if (path.find_first_not_of(plain) != std::string::npos || path.find("//") != std::string::npos) {
    return invalid("a base path has letters, digits and -_.~ between its slashes: " + leasehold::quoted(path));
  }
  return path;
}

/// Passwords and tokens must not cross a network in the clear.
Result<void> check_exposure(const ServeOptions& options, const serve::ListenAddress& address) {
  if (address.is_local()) return {};
  if (options.no_auth) {
    return invalid(address.text() + " can be reached from other machines: --no-auth is for loopback and Unix sockets");
  }
  if (options.insecure || !options.proxies.empty()) return {};
  return invalid(address.text() +
                 " can be reached from other machines, without encryption: name the proxy that encrypts with "
                 "--trust-proxy, or add --insecure");
}

Result<serve::ServerOptions> server_options(const ServeOptions& options) {
  serve::ServerOptions made;
  for (const auto& text : options.listen) {
    const auto address = serve::listen_address_from(text);
    if (!address) return address.error();
    if (auto checked = check_exposure(options, *address); !checked) return checked.error();
    made.listen.push_back(*address);
  }
  auto base_path = base_path_from(options.base_path);
  if (!base_path) return base_path.error();
  made.site = {.base_path = std::move(*base_path),
               .read_only = options.read_only,
               .callers = {.no_auth = options.no_auth},
               .gate = {.hosts = options.hosts, .proxies = options.proxies}};
  return made;
}

/// Each connection is a descriptor; the usual soft limit is below the number that we accept.
void allow_many_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 16384);
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

observe::LogLevel level_from(const std::string& word) {
  if (word == "debug") return observe::LogLevel::debug;
  if (word == "warning") return observe::LogLevel::warning;
  return word == "error" ? observe::LogLevel::error : observe::LogLevel::info;
}

/// Enqueues the jobs of due schedules as long as it exists.
class SchedulerThread {
 public:
  SchedulerThread(const Store& store, observe::Log& log)
      : thread_(start_quiet_thread([this, store, &log] { run(store, log); })) {}
  SchedulerThread(const SchedulerThread&) = delete;
  SchedulerThread& operator=(const SchedulerThread&) = delete;
  ~SchedulerThread() {
    stop_.request_stop();
    thread_.join();
  }

 private:
  void run(const Store& store, observe::Log& log) const {
    SchedulerOptions options;
    options.on_trouble = [&log](const Error& error) { log.warning(error.message); };
    if (const auto summary = Scheduler(store, std::move(options)).run(stop_.get_token()); !summary) {
      log.error(summary.error().message);
    }
  }

  std::stop_source stop_;
  std::thread thread_;
};

/// Each store has a cookie of its own: a browser sends those of one host to all its ports.
std::string cookie_name_for(const Context& context) {
  const auto url = context.store_url();
  const auto digest = url ? sha256_hex(*url) : Result<std::string>(std::string());
  return "leasehold_" + (digest ? digest->substr(0, 8) : std::string());
}

void tell_to_create_token(serve::Server& server, observe::Log& log) {
  const auto has_tokens = server.has_tokens();
  if (!has_tokens || *has_tokens) return;
  log.warning("the store has no API token",
              {{observe::LogKey::detail, "create one: leasehold token create NAME --scope admin"}});
}

/// For a person at the terminal, who has no token yet. In a journal, others could read the link and log in with it.
void show_login_link(serve::Server& server, observe::Log& log) {
  if (::isatty(STDERR_FILENO) == 0) return tell_to_create_token(server, log);
  const auto link = server.new_login_link();
  if (!link) return log.warning("no login link", {{observe::LogKey::detail, link.error().message}});
  if (!*link) return;
  for (const auto& address : server.addresses()) {
    if (address.is_unix()) continue;
    say("leasehold: the store has no API token; to log in once, open http://{}{}", address.text(), **link);
    return;
  }
  say("leasehold: the store has no API token; to log in once, open {} through your proxy", **link);
}

int run_server(const Context& context, const ServeOptions& options) {
  auto made = server_options(options);
  if (!made) return report(context, made.error());
  observe::Log log(STDERR_FILENO, observe::LogForm::automatic, level_from(options.log));
  made->site.log = &log;
  made->site.callers.log = &log;
  made->site.callers.cookie = cookie_name_for(context);
  allow_many_descriptors();
  std::stop_source stop;
  std::atomic<serve::Server*> running = nullptr;
  const StopSignals signals({.on_first =
                                 [&] {
                                   stop.request_stop();
                                   if (auto* server = running.load()) server->drain();
                                 },
                             .on_another = [] { ::_exit(exit_code_after(SIGTERM)); },
                             .on_alarm = [] {}});
  auto patience = as_long_as_needed;
  const auto store = open_within(patience, context, Opening::or_make, stop.get_token());
  if (!store) return signals.first() != 0 ? exit_code::ok : report(context, store.error());
  const auto server = serve::Server::open(*store, *made);
  if (!server) return report(context, server.error());
  for (const auto& address : (*server)->addresses()) log.info("listening", {{observe::LogKey::listen, address.text()}});
  show_login_link(**server, log);
  std::optional<SchedulerThread> scheduler;
  if (options.scheduler) scheduler.emplace(*store, log);
  running = server->get();
  if (signals.first() != 0) (*server)->drain();
  (*server)->run();
  running = nullptr;
  log.info("ended");
  return exit_code::ok;
}

}  // namespace

void add_serve(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "serve", "Serve the store over HTTP: the API, a page for the browser, metrics",
      {"leasehold serve", "leasehold serve --listen unix:/run/leasehold/http --host leases.example.org",
       "curl -d '{\"queue\":\"mail\"}' -H 'Authorization: Bearer lht_...' localhost:7420/api/v1/job/claim"});
  auto options = std::make_shared<ServeOptions>();
  command
      ->add_option("--listen", options->listen,
                   "Where to listen: ADDRESS:PORT or unix:PATH; may be repeated (default 127.0.0.1:7420)")
      ->type_name("ADDRESS");
  command->add_option("--base-path", options->base_path, "Serve everything below this path")->type_name("PATH");
  command->add_flag("--read-only", options->read_only, "Refuse every act that changes something");
  command->add_flag("--no-auth", options->no_auth,
                    "Let every program of this machine in, without a token; only on loopback and Unix sockets");
  command->add_flag("--scheduler", options->scheduler, "Also enqueue the jobs of due schedules");
  command
      ->add_option("--host", options->hosts,
                   "A name of this server besides localhost, as browsers see it behind a proxy; may be repeated")
      ->type_name("NAME");
  command
      ->add_option("--trust-proxy", options->proxies,
                   "Believe the X-Forwarded headers of this address, or of Unix sockets (`unix`); may be repeated")
      ->type_name("ADDRESS");
  command->add_flag("--insecure", options->insecure,
                    "Listen on addresses that other machines reach, although tokens then travel unencrypted");
  add_choice(*command, "--log", options->log, {"debug", "info", "warning", "error"},
             "The least important lines to log on stderr (default info)");
  set_action(*command, context, [&context, options] { return run_server(context, *options); });
}

}  // namespace leasehold::cli
