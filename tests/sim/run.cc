#include "sim/run.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "sim/actor.h"
#include "sim/scenario.h"
#include "sim/stage.h"

namespace leasehold::sim {
namespace {

// In ten thousand steps.
constexpr int wall_steps = 15;
constexpr int reboots = 3;
constexpr int restores = 3;
constexpr int to_the_dot = 200;

/// Decides whose turn it is and what time it is; everything else follows.
class Simulation final : public Sleeper {
 public:
  explicit Simulation(const RunOptions& options)
      : world_(options.seed),
        presence_(world_, *this),
        stage_(options, world_),
        order_(mix({options.seed, 0x0d3})),
        time_(mix({options.seed, 0x71e})) {
    stage_.on_change = [this] {
      for (auto& lane : lanes_) {
        if (lane.process) lane.process->tell_change();
      }
    };
  }

  void sleep(Duration how_long) override {
    if (running_ != nullptr) running_->sleep_until(stage_.world.boot_now() + how_long, false);
  }

  Report go() {
    run_single([](Actor& actor) { return set_up(actor); }, "cannot be set up");
    stage_.in_peace = false;
    lanes_.resize(static_cast<std::size_t>(stage_.options.clients));
    while (steps_ < stage_.options.steps && !stage_.finding()) step();
    stage_.in_peace = true;
    end_everybody();
    if (!stage_.finding()) look_at_the_end();
    return {.options = stage_.options,
            .violation = stage_.finding(),
            .steps = steps_,
            .acts = acts_,
            .notes = std::move(stage_.notes)};
  }

 private:
  /// A client and its present life, if it has one.
  struct Lane {
    std::unique_ptr<Process> process;
    std::int64_t lives = 0;
    BootTime born_at{};
  };

  void step() {
    ++steps_;
    let_time_pass();
    stage_.notes.at(stage_.world.age(), steps_);
    happen();
    if (stage_.finding()) return;
    auto* lane = choose();
    if (lane == nullptr) return;
    if (!lane->process) start(*lane);
    enter(*lane->process);
    if (!lane->process->is_over()) return;
    lane->process.reset();
    lane->born_at = stage_.world.boot_now() + Duration(order_.between(0, 3'000'000));
  }

  // Mostly microseconds, seldom seconds, very seldom minutes; and now and then exactly to the end of a lease.
  void let_time_pass() {
    const auto luck = time_.below(10'000);
    Duration by(time_.between(1, 500));
    if (luck < 12) {
      by = Duration(time_.between(10'000'000, 120'000'000));
    } else if (luck < 42) {
      by = Duration(time_.between(400'000, 4'000'000));
    } else if (luck < 300) {
      by = Duration(time_.between(20'000, 400'000));
    } else if (luck < 2'500) {
      by = Duration(time_.between(500, 10'000));
    }
    if (time_.chance(to_the_dot)) by = until_next_expiry().value_or(by);
    stage_.world.pass(by);
  }

  std::optional<Duration> until_next_expiry() {
    const auto now = stage_.now();
    std::optional<Micros> next;
    for (const auto& [id, lease] : *stage_.picture().leases) {
      if (lease.expires_at > now) next = std::min(next.value_or(lease.expires_at), lease.expires_at);
    }
    if (!next) return std::nullopt;
    return Duration(std::max<Micros>(1, *next - now + time_.between(-1, 1)));
  }

  /// Faults of the machine.
  void happen() {
    if (stage_.strikes(Fault::step_wall, wall_steps)) {
      const Duration by(time_.chance(5000) ? time_.between(-3'600'000'000, 3'600'000'000)
                                           : time_.between(-3'000'000, 3'000'000));
      stage_.notes.say("-", "the wall clock is set by {} us", by.count());
      stage_.world.step_wall(by);
    }
    if (stage_.strikes(Fault::reboot, reboots)) {
      end_everybody();
      stage_.reboot();
      wait_for_births();
    } else if (stage_.has_backup() && stage_.may_forget() && stage_.strikes(Fault::restore, restores)) {
      end_everybody();
      stage_.restore();
      wait_for_births();
    }
  }

  void wait_for_births() {
    for (auto& lane : lanes_) lane.born_at = stage_.world.boot_now() + Duration(order_.between(0, 3'000'000));
  }

  /// An actor that can act now. If there is none, time moves to when the first one wakes.
  Lane* choose() {
    std::vector<Lane*> able;
    auto first = BootTime::max();
    for (auto& lane : lanes_) {
      const auto when = lane.process ? lane.process->wakes_at() : lane.born_at;
      first = std::min(first, when);
      if (when <= stage_.world.boot_now()) able.push_back(&lane);
    }
    if (able.empty()) {
      stage_.world.pass(first - stage_.world.boot_now());
      return nullptr;
    }
    return order_.choose(able);
  }

  void start(Lane& lane) {
    const auto client = static_cast<int>(&lane - lanes_.data());
    const auto life = ++lane.lives;
    lane.process =
        std::make_unique<Process>(stage_.world, client, [this, life](Process& process) { live(process, life); });
    stage_.notes.say(lane.process->name(), "is born");
  }

  void enter(Process& process) {
    running_ = &process;
    process.go_on();
    running_ = nullptr;
  }

  /// The life of a process: one act after the other, each with luck of its own, so that leaving one out changes none of
  /// the others.
  void live(Process& process, std::int64_t life) {
    Actor actor(stage_, process, process.client() % 2 == 1);
    for (std::uint64_t number = 0; process.is_alive(); ++number) {
      actor.dice = Dice(mix({stage_.options.seed, static_cast<std::uint64_t>(process.client()),
                             static_cast<std::uint64_t>(life), number}));
      const auto& act = some_act(actor.dice);
      if (!stage_.options.dropped.contains(++acts_)) play(actor, act, acts_);
      process.sleep_until(stage_.world.boot_now() + Duration(actor.dice.between(0, 200'000)), false);
    }
  }

  void play(Actor& actor, const Act& act, std::int64_t number) {
    const auto answer = act.play(actor);
    if (!answer || !actor.process.is_alive()) return;
    stage_.notes.count_act(act.name, *answer);
    actor.say("{} [act {}]: {}", act.name, number, *answer);
  }

  const Act& some_act(Dice& dice) {
    if (acts_to_choose_.empty()) {
      for (const auto& act : all_acts()) {
        if (!stage_.options.features.contains(act.feature)) continue;
        acts_to_choose_.insert(acts_to_choose_.end(), static_cast<std::size_t>(act.weight), &act);
      }
    }
    return *dice.choose(acts_to_choose_);
  }

  void end_everybody() {
    for (auto& lane : lanes_) {
      if (lane.process) finish(*lane.process);
      lane.process.reset();
    }
  }

  /// Nothing it still does reaches the store.
  void finish(Process& process) {
    if (process.is_alive()) stage_.crash(process, "with the machine");
    while (!process.is_over()) enter(process);
  }

  /// One program by itself, in peace.
  void run_single(std::string (*task)(Actor&), const char* otherwise) {
    std::string complaint;
    Process process(stage_.world, stage_.options.clients, [&](Process& self) {
      Actor actor(stage_, self, false);
      complaint = task(actor);
    });
    while (!process.is_over()) {
      if (process.wakes_at() > stage_.world.boot_now()) {
        stage_.world.pass(process.wakes_at() - stage_.world.boot_now());
      }
      stage_.world.pass(Duration(1));
      enter(process);
    }
    stage_.world.end(process.pid());
    if (!complaint.empty()) stage_.report(Violation{"I4", std::string(otherwise) + ": " + complaint});
  }

  // ttl + delay + poll, with room to spare, and until nothing backs off any more: then every request is granted.
  void look_at_the_end() {
    auto last_due = stage_.now() + 120'000'000;
    for (const auto& [id, job] : stage_.picture().jobs->jobs) last_due = std::max(last_due, job.due_at.value_or(0));
    for (const auto& [name, chunk] : stage_.picture().chunks->chunks) last_due = std::max(last_due, chunk.due_at);
    stage_.world.pass(Duration(last_due - stage_.now()));
    stage_.notes.at(stage_.world.age(), steps_);
    stage_.notes.say("-", "everybody is gone, and all leases have run out");
    run_single([](Actor& actor) { return work_off(actor); }, "cannot be had");
  }

  World world_;
  Presence presence_;  ///< before the stage: opening the store asks for the time
  Stage stage_;
  Dice order_;
  Dice time_;
  std::vector<Lane> lanes_;
  std::vector<const Act*> acts_to_choose_;
  Process* running_ = nullptr;
  std::int64_t steps_ = 0;
  std::int64_t acts_ = 0;
};

}  // namespace

Report run(const RunOptions& options) { return Simulation(options).go(); }

}  // namespace leasehold::sim
