// Options and arguments that the commands about jobs and queues share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "leasehold/queue.h"
#include "wire/job_envelope.h"

namespace leasehold::cli {

CLI::Option* add_queue_name(CLI::App& command, std::string& queue);
CLI::Option* add_job_id(CLI::App& command, JobId& id);
/// An option that names a job.
CLI::Option* add_job_option(CLI::App& command, const std::string& names, JobId& id, const std::string& help);

/// A job as its holder names it: the id (else LEASEHOLD_JOB_ID, as `leasehold work` sets it) and the token.
struct HeldJob {
  JobId id = 0;
  Token token;
};
void add_held_job(CLI::App& command, HeldJob& job);

/// What `job add` and `job import` let people say about a job, but for its payload and its dedupe key.
void add_job_settings(CLI::App& command, wire::JobEnvelope& job);

/// A limit: a number from 1, or "none", which is zero.
CLI::Option* add_limit(CLI::App& command, const std::string& names, std::optional<int>& value, const std::string& help);

}  // namespace leasehold::cli
