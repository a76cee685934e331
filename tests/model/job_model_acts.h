// One step of a random sequence: how it is drawn, and how it looks when a sequence is printed.
#pragma once

#include <rapidcheck.h>

#include <ostream>

#include "model/job_model_words.h"

namespace leasehold::model {

enum class JobVerb {
  enqueue,
  claim,
  attach,
  heartbeat,
  complete,
  fail,
  release,
  snooze,
  cancel,
  retry,
  remove,
  redrive,
  purge,
  recover,
  open,
  extend,
  close,
  limit,
  pause,
  show,
  show_queue,
  advance,
  complete_many,
  release_many,
  enqueue_many,
  hand_in,
  show_batch
};

inline const char* to_string(JobVerb verb) {
  static constexpr const char* words[] = {
      "enqueue", "claim",         "attach",       "heartbeat",    "complete", "fail",      "release",
      "snooze",  "cancel",        "retry",        "remove",       "redrive",  "purge",     "recover",
      "open",    "extend",        "close",        "limit",        "pause",    "show",      "show_queue",
      "advance", "complete_many", "release_many", "enqueue_many", "hand_in",  "show_batch"};
  return words[static_cast<std::size_t>(verb)];
}

/// What a number means depends on the verb. A job is named by how many were claimed or enqueued after it, a token by
/// how many grants of that job came after it, so that a sequence means the same on every store; -1: one that never was.
struct JobAct {
  JobVerb verb = JobVerb::show;
  int queue = 0;
  int job = 0;
  int ago = 0;
  int holder = 0;
  int number = 0;  ///< a priority, how many, a limit
  int key = 0;     ///< a dedupe key, group, request id; 0: none
  int choice = 0;  ///< of what else there is to choose
  int extra = 0;   ///< of batches, metadata, cursors, and what a taken dedupe key does
  Moment span = 0;
};

inline std::ostream& operator<<(std::ostream& out, const JobAct& act) {
  return out << "\n  " << to_string(act.verb) << " queue" << act.queue << " jobs_ago " << act.job << " grants_ago "
             << act.ago << " holder" << act.holder << " number " << act.number << " key " << act.key << " choice "
             << act.choice << " extra " << act.extra << " span " << act.span << "us";
}

inline rc::Gen<JobAct> any_job_act() {
  using rc::gen::element;
  using rc::gen::inRange;
  using rc::gen::set;
  using V = JobVerb;
  const auto verb = rc::gen::weightedElement<V>(
      {{12, V::enqueue},   {14, V::claim},    {4, V::attach},        {4, V::heartbeat},    {5, V::complete},
       {6, V::fail},       {3, V::release},   {3, V::snooze},        {3, V::cancel},       {5, V::retry},
       {2, V::remove},     {1, V::redrive},   {1, V::purge},         {3, V::recover},      {2, V::open},
       {2, V::extend},     {2, V::close},     {5, V::limit},         {1, V::pause},        {3, V::show},
       {2, V::show_queue}, {9, V::advance},   {3, V::complete_many}, {2, V::release_many}, {6, V::enqueue_many},
       {6, V::hand_in},    {2, V::show_batch}});
  // The clock often stops exactly where something ends, or a microsecond before: that is where mistakes live.
  const auto span = element<Moment>(0, 1, 4'000, 5'000, 9'000, 999'999, 1'000'000, 5'000'000, 9'999'999, 10'000'000,
                                    60'000'000, 300'000'000, -2'000'000);
  return rc::gen::build<JobAct>(
      set(&JobAct::verb, verb), set(&JobAct::queue, rc::gen::weightedElement<int>({{4, 0}, {1, 1}})),
      set(&JobAct::job, rc::gen::weightedOneOf<int>({{9, inRange(0, 4)}, {1, inRange(-1, 9)}})),
      set(&JobAct::ago, rc::gen::weightedElement<int>({{8, 0}, {2, 1}, {1, 2}, {1, -1}})),
      set(&JobAct::holder, inRange(0, 3)), set(&JobAct::number, inRange(0, 4)),
      set(&JobAct::key, rc::gen::weightedElement<int>({{2, 0}, {4, 1}, {2, 2}, {1, 3}})),
      set(&JobAct::choice, inRange(0, 8)), set(&JobAct::extra, inRange(0, 10)), set(&JobAct::span, span));
}

}  // namespace leasehold::model
