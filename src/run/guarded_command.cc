#include "run/guarded_command.h"

#include <cerrno>
#include <utility>

namespace leasehold::run {

using Kind = Message::Kind;

namespace {

/// True if it was sent, or never can be: if the peer is gone, take_messages() reports how it ended.
bool said(const Channel& channel, const Message& message) {
  return channel.send(message) || errno == EPIPE || errno == ECONNRESET;
}

}  // namespace

Result<GuardedCommand> GuardedCommand::start(const Warden& warden, Streams streams, const Terms& terms) {
  auto channel = warden.new_guardian(std::move(streams));
  if (!channel) return std::move(channel).error();
  GuardedCommand command(warden, std::move(*channel));
  const auto until = terms.trusted_until.time_since_epoch().count();
  if (!terms.command.empty() && !said(command.channel_, {.kind = Kind::command, .text = packed(terms.command)})) {
    return Error{.code = Errc::invalid_argument, .message = "cannot pass on the command: it is too long"};
  }
  if (!said(command.channel_, {.kind = Kind::grace, .number = terms.grace.count()}) ||
      !said(command.channel_, {.kind = Kind::go, .number = until, .text = packed(terms.environment)})) {
    return Error{.code = Errc::internal, .message = "cannot pass the command its environment"};
  }
  return command;
}

std::optional<Ending> GuardedCommand::take_messages() {
  Message message;
  for (;;) {
    const auto state = channel_.receive(message);
    if (state == Channel::State::empty) return std::nullopt;
    if (state == Channel::State::closed) {
      warden_->end_what_came_to_us();
      if (started_) return Ending{.kind = Ending::Kind::guardian_died};
      // Closed without a message: the warden lacked the resources even to receive the request or to refuse it.
      return Ending{.kind = Ending::Kind::start_failed, .exit_code = 126, .error = EAGAIN};
    }
    started_ |= message.kind == Kind::started;
    if (message.kind == Kind::left_behind) remark_ = describe_left_behind(message);
    if (auto ending = ending_in(message)) return ending;
  }
}

void GuardedCommand::extend(BootTime trusted_until) const {
  channel_.send({.kind = Kind::extend, .number = trusted_until.time_since_epoch().count()});
}

void GuardedCommand::stop(Duration patience) const {
  channel_.send({.kind = Kind::stop, .number = patience.count()});
  warden_->wake();
}

}  // namespace leasehold::run
