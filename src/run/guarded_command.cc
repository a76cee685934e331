#include "run/guarded_command.h"

#include <utility>

namespace leasehold::run {

using Kind = Message::Kind;

Result<GuardedCommand> GuardedCommand::start(const Warden& warden, Streams streams, const Terms& terms) {
  auto channel = warden.new_guardian(std::move(streams));
  if (!channel) return std::move(channel).error();
  GuardedCommand command(warden, std::move(*channel));
  const auto until = terms.trusted_until.time_since_epoch().count();
  if (!terms.command.empty() && !command.channel_.send({.kind = Kind::command, .text = packed(terms.command)})) {
    return Error{.code = Errc::invalid_argument, .message = "cannot hand over the command: it is too long"};
  }
  if (!command.channel_.send({.kind = Kind::grace, .number = terms.grace.count()}) ||
      !command.channel_.send({.kind = Kind::go, .number = until, .text = packed(terms.environment)})) {
    return Error{.code = Errc::internal, .message = "cannot hand the command its environment"};
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
      return Ending{.kind = Ending::Kind::guardian_died};
    }
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
