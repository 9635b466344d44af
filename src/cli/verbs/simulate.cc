#include "cli/verbs/simulate.h"

#include "base/env/real_env.h"
#include "cli/simulate/cluster.h"
#include "cli/simulate/simulate.h"
#include "cli/verbs/internal/check_seconds.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <cstdlib>
#include <memory>
#include <string>

namespace codeflare::cli {

namespace {

// The rest is checked where amounts are read; there nothing means that none was said.
std::string given(const std::string& text) {
  return text.empty() ? "expected an amount such as 4, 500m or 16Gi" : "";
}

// The place is taken anew whenever the time is over: less than a second would be nothing but that.
std::string check_holding_time(const std::string& text) {
  if (std::string problem = check_seconds(text); !problem.empty()) {
    return problem;
  }
  const double seconds = std::strtod(text.c_str(), nullptr);
  return seconds > 0 && seconds < 1 ? "expected 0, or seconds from 1 on, got \"" + text + "\"" : "";
}

void add_options(CLI::App& verb, Chosen& chosen) {
  auto flags = std::make_shared<simulate::SimulateFlags>();
  verb.add_option("TRACE", flags->trace, "trace file; - for standard input")->required();
  verb.add_option("--format", flags->format,
                  "format of the trace: csv, or swf of the Parallel Workloads Archive")
      ->check(CLI::IsMember({"csv", "swf"}))
      ->type_name("csv|swf");
  verb.add_option("--nodes", flags->nodes, "number of nodes, all of the same size")
      ->check(CLI::Range(std::int64_t{1}, simulate::kNodesMax))
      ->type_name("N");
  const auto amount = [&](const char* name, std::string& to, const char* about) {
    verb.add_option(name, to, about)->check(given)->type_name("AMOUNT");
  };
  amount("--cpus", flags->cpus, "CPUs of each node, such as 96");
  amount("--memory", flags->memory, "memory of each node, such as 64Gi");
  amount("--gpus", flags->gpus, "GPUs of each node");
  verb.add_option("--cluster", flags->cluster,
                  "file with nodes and quota instead: output of 'kubectl get nodes -o yaml', or as "
                  "in docs/simulate.md")
      ->type_name("FILE");
  verb.add_option(
          "--policy", flags->policies,
          "best-effort, fifo, backfill, priority, preemption; combine with +, compare with commas")
      ->type_name("POLICY,...")
      ->capture_default_str();
  verb.add_option("--holding-time", flags->holding_seconds,
                  "how long fifo and backfill reserve nodes for the first in the queue, at least "
                  "1; 0: no limit")
      ->type_name("SECONDS")
      ->check(check_holding_time);
  verb.add_flag("--elastic", flags->elastic,
                "trainings that grow and shrink; TRACE has the columns name, time, application, "
                "num_replicas and batch_size");
  verb.add_option("--speeds", flags->speeds,
                  "with --elastic: measured speeds, a folder for each application")
      ->type_name("DIR");
  verb.add_option("--elastic-policy", flags->elastic_policies,
                  "throughput, fair, strict-priority, original; to compare, joined by commas")
      ->type_name("POLICY,...")
      ->capture_default_str();
  verb.add_option("--interval", flags->interval_seconds,
                  "with --elastic: time between decisions; 0: at every event")
      ->type_name("SECONDS")
      ->check(check_seconds);
  verb.add_option("--resize-time", flags->resize_seconds,
                  "with --elastic: time without progress after a start or resize")
      ->type_name("SECONDS")
      ->check(check_seconds)
      ->capture_default_str();
  verb.add_option("--growth-cooldown", flags->cooldown_seconds,
                  "with --elastic: least time between two resizes that grow a training")
      ->type_name("SECONDS")
      ->check(check_seconds);
  verb.add_flag("--known-work", flags->known_work,
                "with --elastic: trainings report how much work is left");
  verb.add_flag("--up-to-requested", flags->up_to_requested,
                "with --elastic: grow up to num_replicas, not as far as speeds were measured");
  verb.add_flag("--skip-bad", flags->skip_bad, "skip lines that cannot be parsed");
  verb.add_option("-o,--output", flags->output, "output format: json")
      ->check(CLI::IsMember({"json", "table"}))
      ->type_name("json|table");
  verb.callback([&chosen, flags] {
    chosen = [flags] {
      RealEnv world;
      const std::unique_ptr<Console> console = process_console();
      return simulate::run_simulate(world.env(), *console, *flags);
    };
  });
}

}  // namespace

constinit const Verb kSimulate = {
    .word = "simulate",
    .about = "Replay a trace of jobs through the scheduler",
    .examples =
        "codeflare simulate jobs.csv --nodes 16 --cpus 96 --gpus 8 --policy "
        "best-effort,fifo,backfill\n"
        "  kubectl get nodes -o yaml > nodes.yaml; codeflare simulate jobs.csv --cluster "
        "nodes.yaml",
    .add = add_options};

}  // namespace codeflare::cli
