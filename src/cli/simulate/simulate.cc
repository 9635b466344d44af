#include "cli/simulate/simulate.h"

#include "cli/simulate/cluster.h"
#include "cli/simulate/elastic_replay.h"
#include "cli/simulate/policy.h"
#include "cli/simulate/replay.h"
#include "cli/simulate/report.h"
#include "cli/simulate/trace.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace codeflare::cli::simulate {

namespace {

constexpr std::size_t kTraceBytesMax = std::size_t{4} << 30;

Result<Cluster> cluster_of(Env env, const SimulateFlags& flags) {
  if (flags.cluster.empty()) {
    return make_cluster(
        {.count = flags.nodes, .cpus = flags.cpus, .memory = flags.memory, .gpus = flags.gpus});
  }
  TRY_ASSIGN(const std::string text, env.files.read(flags.cluster));
  return read_cluster(text, flags.cluster);
}

Result<Trace> trace_of(Env env, Console& console, const SimulateFlags& flags) {
  const bool input = flags.trace == "-";
  Result<std::string> text =
      input ? console.read_input(kTraceBytesMax) : env.files.read(flags.trace, kTraceBytesMax);
  if (!text) {
    return fail(std::move(text).error());
  }
  const TraceOptions options{.file = input ? "standard input" : flags.trace,
                             .skip_bad = flags.skip_bad};
  const bool swf = flags.format.empty() ? flags.trace.ends_with(".swf") : flags.format == "swf";
  TRY_ASSIGN(Trace trace, swf ? read_swf(*text, options) : read_csv(*text, options));
  if (trace.jobs.empty()) {
    return fail(invalid_argument(options.file + ": no job can be replayed"));
  }
  return trace;
}

// Skipped lines are reported, so that nobody takes a part for the whole.
void tell_gaps(Console& console, const Trace& trace) {
  for (const std::string& line : trace.first_skipped) {
    console.err("skipped " + line + "\n");
  }
  if (trace.skipped > trace.first_skipped.size()) {
    console.err("skipped " + std::to_string(trace.skipped) + " lines in all\n");
  }
  if (trace.left_out > 0) {
    console.err("left out " + std::to_string(trace.left_out) +
                " jobs without run time or processors\n");
  }
  if (trace.parts > 0) {
    console.err("left out " + std::to_string(trace.parts) +
                " lines about parts of jobs (status 2 to 4): the line of the whole job counts\n");
  }
  if (!trace.unknown_columns.empty()) {
    std::string names;
    for (const std::string& name : trace.unknown_columns) {
      names += (names.empty() ? "" : ", ") + name;
    }
    console.err("ignored columns: " + names + "\n");
  }
}

// An option or a file is wrong, or the file could not be read.
int report_input(Console& console, const Error& error) {
  return error.code == ErrorCode::invalid_argument ? report_usage(console, error.message)
                                                   : report_file(console, error);
}

Duration seconds_of(double seconds) {
  return Duration(std::llround(std::clamp(seconds, 0.0, 1e9) * 1e9));
}

int run_elastic(Env env, Console& console, const SimulateFlags& flags, const Cluster& cluster) {
  if (flags.speeds.empty()) {
    return report_usage(console,
                        "--elastic needs --speeds DIR: a folder for each application, with "
                        "placements.csv and validation-<batch size>.csv");
  }
  const ElasticPlay common{.policy = {},
                           .rule = {},
                           .interval = seconds_of(flags.interval_seconds),
                           .resize = seconds_of(flags.resize_seconds),
                           .cooldown = seconds_of(flags.cooldown_seconds),
                           .known_work = flags.known_work,
                           .up_to_requested = flags.up_to_requested};
  const auto plays = parse_elastic_policies(flags.elastic_policies, common);
  if (!plays) {
    return report_usage(console, plays.error().message);
  }
  const Result<Applications> applications = read_applications(env.files, flags.speeds);
  if (!applications) {
    return report_input(console, applications.error());
  }
  const bool input = flags.trace == "-";
  const Result<std::string> text =
      input ? console.read_input(kTraceBytesMax) : env.files.read(flags.trace, kTraceBytesMax);
  if (!text) {
    return report_input(console, text.error());
  }
  const auto trainings =
      read_trainings(*text, input ? "standard input" : flags.trace, *applications);
  if (!trainings) {
    return report_input(console, trainings.error());
  }
  std::vector<ElasticOutcome> outcomes;
  for (const ElasticPlay& play : *plays) {
    outcomes.push_back(replay_elastic(*trainings, cluster, play));
  }
  console.out(flags.output == "json" ? to_json(outcomes, cluster) : to_text(outcomes, cluster));
  return kDone;
}

}  // namespace

int run_simulate(Env env, Console& console, const SimulateFlags& flags) {
  if (flags.cluster.empty() == (flags.nodes == 0)) {
    return report_usage(console,
                        "cluster size is missing; give --nodes N with --cpus, --gpus and --memory "
                        "of each, or --cluster FILE");
  }
  const Result<std::vector<Policy>> policies = parse_policies(
      flags.policies, Duration(std::llround(std::clamp(flags.holding_seconds, 0.0, 1e9) * 1e9)));
  if (!policies) {
    return report_usage(console, policies.error().message);
  }
  const Result<Cluster> cluster = cluster_of(env, flags);
  if (!cluster) {
    return report_input(console, cluster.error());
  }
  if (flags.elastic) {
    return run_elastic(env, console, flags, *cluster);
  }
  const Result<Trace> trace = trace_of(env, console, flags);
  if (!trace) {
    return report_input(console, trace.error());
  }
  tell_gaps(console, *trace);
  ProgressLine line(console);
  std::vector<Summary> summaries;
  for (const Policy& policy : *policies) {
    const auto progress = [&](double part) {
      line.show(policy.name + ": " + std::to_string(static_cast<int>(100 * part)) + "%");
    };
    summaries.push_back(summarize(replay(*trace, *cluster, policy, progress), *cluster));
  }
  line.clear();
  console.out(flags.output == "json" ? to_json(summaries, *trace, *cluster) : to_text(summaries));
  return kDone;
}

}  // namespace codeflare::cli::simulate
