#include "cli/verbs/run.h"

#include "cli/gather/queue_state.h"
#include "cli/verbs/internal/attach_terminal.h"
#include "cli/verbs/internal/pip_environment.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/internal/wait_line.h"
#include "cli/views/table.h"
#include "json/yaml.h"
#include "sdk/gang_jobs.h"
#include "sdk/program_image.h"
#include "up/context.h"
#include "up/images.h"
#include "up/processes.h"
#include "up/state.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

using internal::Typed;

void add_sizes(CLI::App& verb, sdk::RunSpec& spec) {
  verb.add_option("--cpus,--cpu", spec.cpus, "CPUs of each pod, such as 2 or 500m (default 1)")
      ->type_name("AMOUNT");
  verb.add_option("--memory", spec.memory,
                  "memory of each pod, such as 4Gi; a bare number is in gigabytes "
                  "(default: no limit)")
      ->type_name("AMOUNT");
  verb.add_option("--gpus,--gpu", spec.gpus, "GPUs of each pod (default 0)")->type_name("N");
  verb.add_option("--pods", spec.pods,
                  "pods that start together, with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT "
                  "(default 1)")
      ->type_name("N");
  verb.add_option("--time", spec.time, "time limit, such as 6h or 90m (default: none)")
      ->type_name("TIME");
  verb.add_option("--priority", spec.priority, "priority in the queue (default 0)")->type_name("N");
  verb.add_option("--quota", spec.quota,
                  "quota node to charge; TREE may be left out where there is only one; may be "
                  "repeated")
      ->type_name("[TREE=]NODE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

void add_surroundings(CLI::App& verb, RunFlags& flags) {
  verb.add_option("--env", flags.spec.env, "environment variable; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  CLI::Option* image =
      verb.add_option("--image", flags.spec.image,
                      "container image (default: this machine's programs on 'codeflare up', else "
                      "CODEFLARE_IMAGE)")
          ->type_name("IMAGE");
  verb.add_option("--dir", flags.directory,
                  "directory to send along, where the command starts; '' sends none (default: the "
                  "working directory)")
      ->type_name("DIR");
  CLI::Option* venv =
      verb.add_option("--venv", flags.venv,
                      "Python virtual environment of this machine, on 'codeflare up' only")
          ->type_name("DIR")
          ->excludes(image);
  verb.add_option(
          "--pip", flags.pip,
          "requirements of Python packages: a kept environment on 'codeflare up', elsewhere "
          "installed when the pod starts")
      ->type_name("FILE")
      ->excludes(venv);
  verb.add_option("--data-dir", flags.data_directory,
                  "data directory of the 'codeflare up' that --venv and --pip are for")
      ->type_name("DIR");
}

std::string back_words(const Session& session) {
  return session.ns_given() ? " -n " + session.ns() : "";
}

// After a second Ctrl-C, or when the terminal is gone.
Task<int> cancel_now(Session& session, std::string name) {
  const std::unique_ptr<sdk::JobHandle> job =
      sdk::gang_handle(session.client(), {session.ns(), name});
  const Result<sdk::JobStop> stop = co_await job->stop(false);
  if (!stop && stop.error().code == ErrorCode::not_found) {
    co_return kInterrupted;  // before it was submitted
  }
  if (!stop) {
    co_return report_coded(session.console(), stop.error());
  }
  session.console().err("job/" + name + " cancelled\n");
  co_return kInterrupted;
}

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Typed<RunFlags>>();
  RunFlags& flags = typed->flags;
  verb.add_option("COMMAND", flags.spec.command, "command to run, behind --");
  verb.add_option("--name", flags.spec.name, "name of the job (default: made from the command)")
      ->type_name("NAME");
  add_sizes(verb, flags.spec);
  add_surroundings(verb, flags);
  CLI::Option* detach =
      verb.add_flag("-d,--detach", flags.detach, "return as soon as the job is queued");
  verb.add_flag("--pty", flags.spec.terminal,
                "connect this terminal to the command, such as bash; the job ends with it")
      ->excludes(detach);
  verb.add_option_function<std::string>(
          "--dry-run", [&flags](const std::string&) { flags.dry_run = true; },
          "client: print the AppWrapper and send nothing")
      ->check(CLI::IsMember({"client"}))
      ->type_name("client");
  internal::add_connection_flags(verb, typed->session);
  verb.callback([&chosen, typed] {
    chosen = [typed] {
      const auto start = [&](Session& session) {
        RunFlags& given = typed->flags;
        if (given.spec.name.empty()) {
          // Known here too, so that a second Ctrl-C can cancel the job.
          given.spec.name = sdk::run_name(given.spec.command, session.env().random);
        }
        return run_run(session, given);
      };
      const auto second = [&](Session& session) {
        return cancel_now(session, typed->flags.spec.name);
      };
      if (typed->flags.dry_run) {
        return internal::run_offline(typed->session, start);
      }
      if (typed->flags.spec.terminal) {
        const auto on_terminal = [&](Session& session, WaitList& window) {
          typed->flags.window = &window;
          return start(session);
        };
        return internal::run_on_terminal(typed->session, on_terminal, second);
      }
      return internal::run_detachable(typed->session, start, second);
    };
  });
}

// The directory that goes along: what was named, else the working directory unless that is a
// place where people keep everything. Empty: none.
Result<std::string> code_directory(Session& session, const RunFlags& flags) {
  if (flags.directory) {
    return flags.directory->empty() ? Result<std::string>("") : up::absolute_path(*flags.directory);
  }
  TRY_ASSIGN(std::string here, up::absolute_path("."));
  if (here.ends_with("/.")) {
    here.resize(std::max<std::size_t>(here.size() - 2, 1));
  }
  if (here == "/" || here == session.env().variables.get("HOME").value_or("")) {
    session.console().err("note: " + here +
                          " is not copied to the job; send a directory with --dir\n");
    return "";
  }
  return here;
}

// An image that stands for the virtual environment on the node of this machine's `codeflare up`.
Result<std::string> venv_image(Session& session, const RunFlags& flags) {
  FileSystem& files = session.env().files;
  TRY_ASSIGN(const std::string venv, up::absolute_path(flags.venv));
  TRY_ASSIGN(const up::ChosenCluster cluster,
             up::choose_cluster(session.env(), flags.data_directory));
  const std::string& directory = cluster.directory;
  const Result<std::optional<up::UpState>> state = up::read_up_state(files, directory);
  if (!state || !*state || !session.server().contains((*state)->server)) {
    return fail(invalid_argument("--venv works with the 'codeflare up' of this machine, and " +
                                 session.server() + " is not the one of " + directory +
                                 "; use --image, or name its --data-dir"));
  }
  up::ImageFlags image{.name = "codeflare/venv" + venv, .python_venv = venv};
  std::string name;
  for (const char c : image.name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '-' || c == '_';
    name += plain ? c : '_';
  }
  image.name = name;
  Result<node::ImageEntry> entry = up::image_entry(files, image);
  if (!entry) {
    return fail(invalid_argument(entry.error().message));
  }
  TRY(up::put_image(files, directory, *std::move(entry)));
  return name;
}

Task<Result<std::string>> image_for(Session& session, RunFlags flags) {
  if (!flags.spec.image.empty()) {
    co_return flags.spec.image;
  }
  if (flags.dry_run) {
    co_return session.env()
        .variables.get("CODEFLARE_IMAGE")
        .value_or(std::string(sdk::kMachineImage));
  }
  if (!flags.venv.empty()) {
    co_return venv_image(session, flags);
  }
  co_return co_await sdk::default_image(session.client());
}

// The packages of --pip: an environment of this machine on its own `codeflare up`, else a command
// that installs them first.
Task<Result<void>> add_packages(Session& session, RunFlags& flags) {
  const Env env = session.env();
  if (flags.pip.empty()) {
    co_return Result<void>();
  }
  CO_TRY_ASSIGN(const std::string file, up::absolute_path(flags.pip));
  const bool here = !flags.dry_run && flags.spec.image.empty() &&
                    (co_await sdk::is_own_server(session.client())).value_or(false);
  if (here) {
    CO_TRY_ASSIGN(flags.venv, co_await internal::kept_environment(env, session.console(), file));
    co_return Result<void>();
  }
  CO_TRY_ASSIGN(const std::string requirements,
                co_await run_blocking(env, [&] { return env.files.read(file); }));
  internal::PipCommand wrapped = internal::with_packages(flags.spec.command, requirements);
  flags.spec.command = std::move(wrapped.command);
  flags.spec.env.push_back(std::move(wrapped.variable));
  co_return Result<void>();
}

// Puts the only quota tree before nodes without one. Without any tree the words stay as they are.
Task<Result<void>> add_trees(Session& session, std::vector<std::string>& quota) {
  const auto bare = [](const std::string& word) { return !word.empty() && !word.contains('='); };
  if (std::ranges::none_of(quota, bare)) {
    co_return Result<void>();
  }
  const std::set<std::string> trees = co_await quota_trees(session);
  for (std::string& word : quota) {
    if (!bare(word) || trees.empty()) {
      continue;
    }
    if (trees.size() > 1) {
      std::string names;
      for (const std::string& tree : trees) {
        names += (names.empty() ? "" : ", ") + tree;
      }
      co_return fail(invalid_argument("--quota: '" + word + "' may be in any of the quota trees " +
                                      names + "; write TREE=NODE, such as " + *trees.begin() + "=" +
                                      word));
    }
    word.insert(0, *trees.begin() + "=");
  }
  co_return Result<void>();
}

// All that can be wrong on this side is found before anything is sent.
Task<Result<sdk::GangSubmission>> prepare(Session& session, RunFlags flags) {
  if (flags.spec.command.empty()) {
    co_return fail(invalid_argument(
        "COMMAND is missing: add it behind --, such as codeflare run -- python train.py"));
  }
  sdk::RunSpec& spec = flags.spec;
  spec.ns = session.ns();
  spec.program_image = sdk::program_image(session.env().variables);
  spec.image_given = !spec.image.empty();
  if (!flags.dry_run) {
    CO_TRY(co_await add_trees(session, spec.quota));
  }
  sdk::RunSpec trial = spec;
  trial.image = std::string(sdk::kMachineImage);
  CO_TRY(sdk::run_submission(trial));
  CO_TRY(co_await add_packages(session, flags));
  CO_TRY_ASSIGN(const std::string directory, code_directory(session, flags));
  if (!directory.empty()) {
    Result<sdk::CodeArchive> code = co_await run_blocking(
        session.env(), [&] { return sdk::pack_code(session.env().files, directory); });
    if (!code) {
      co_return fail(std::move(code).error().with_context("--dir"));
    }
    spec.code = *std::move(code);
    session.console().err("code: " + directory + " (" + spec.code->summary() + ")\n");
  }
  CO_TRY_ASSIGN(spec.image, co_await image_for(session, flags));
  co_return sdk::run_submission(spec);
}

int report_preparation(Session& session, const Error& error) {
  const int code = report_coded(session.console(), error);
  return error.code == ErrorCode::too_large ? int{kUsage} : code;
}

int print_manifest(Session& session, const sdk::GangSubmission& submission) {
  const Result<json::Document> manifest = sdk::gang_manifest(submission);
  if (!manifest) {
    return report_preparation(session, manifest.error());
  }
  session.console().out(
      session.output() == Output::json
          ? machine_text([&](json::Arena&) { return manifest->root; }, Output::json)
          : json::to_yaml(manifest->root, {.sorted = false}));
  return kDone;
}

Task<Result<void>> write_out(Session& session, std::string text) {
  session.console().out(text);
  co_return Result<void>();
}

int end_code(const sdk::JobInfo& job) {
  if (job.phase == sdk::JobPhase::succeeded) {
    return kDone;
  }
  return job.exit_code && *job.exit_code != 0 ? *job.exit_code : int{kFailed};
}

// As `attach`, with this terminal.
Task<int> attach_shell(Session& session, std::string name, WaitList& window) {
  const Result<sdk::JobInfo> end = co_await internal::attach_terminal(session, name, window);
  if (!end && end.error().code == ErrorCode::cancelled) {
    co_return kInterrupted;
  }
  if (!end) {
    // The allocation ends with its terminal.
    const int code = report_coded(session.console(), end.error(), "job " + name);
    co_await cancel_now(session, std::move(name));
    co_return code;
  }
  // People see the exit code of a shell; any other end has a reason.
  if (end->phase != sdk::JobPhase::succeeded && end->reason != "ExitCode") {
    session.console().err("job/" + name + " " + one_line(progress_line(*end)) + "\n");
  }
  co_return end_code(*end);
}

Task<int> attach(Session& session, std::string name) {
  const std::unique_ptr<sdk::JobHandle> job =
      sdk::gang_handle(session.client(), {session.ns(), name});
  internal::WaitLine line(session);
  sdk::JobFollow options{.sink =
                             [&](std::string text) {
                               line.clear();
                               return write_out(session, std::move(text));
                             },
                         .observer =
                             [&](const sdk::JobInfo& now) {
                               if (now.phase != sdk::JobPhase::running) {
                                 line.show("job/" + name + ": " + one_line(progress_line(now)));
                               }
                             }};
  const Result<sdk::JobEnd> end = co_await job->follow(std::move(options));
  line.clear();
  if (!end && end.error().code == ErrorCode::cancelled) {
    session.console().err("detached; the job is not stopped. To come back: codeflare logs job " +
                          name + " -f" + back_words(session) +
                          "\nTo cancel the job, press Ctrl-C again within 2 seconds.\n");
    co_return kInterrupted;
  }
  if (!end) {
    co_return report_coded(session.console(), end.error());
  }
  if (end->log_error) {
    session.console().err("warning: the end of the log could not be read: " +
                          one_line(end->log_error->message) + "\n");
  }
  if (end->job.phase != sdk::JobPhase::succeeded) {
    session.console().err("job/" + name + " " + one_line(progress_line(end->job)) + "\n");
  }
  co_return end_code(end->job);
}

}  // namespace

constinit const Verb kRun = {
    .word = "run",
    .about = "Queue a command, show its log and end with its exit code",
    .examples =
        "codeflare run --gpus 2 --time 6h -- python train.py\n"
        "  codeflare run --gpus 1 --pty -- bash\n"
        "  codeflare run --pods 2 --cpus 4 --memory 8Gi --detach -- python train.py",
    .add = add_options};

Task<int> run_run(Session& session, RunFlags flags) {
  const Console& console = session.console();
  if (flags.spec.terminal && !flags.dry_run &&
      !(console.in_is_terminal() && console.out_is_terminal())) {
    co_return report_usage(session.console(),
                           "--pty: standard input and output must be a terminal; leave --pty out "
                           "in scripts");
  }
  Result<sdk::GangSubmission> submission = co_await prepare(session, flags);
  if (!submission) {
    co_return report_preparation(session, submission.error());
  }
  if (flags.dry_run) {
    co_return print_manifest(session, *submission);
  }
  const std::string name = submission->gang.name;
  const Result<sdk::Submitted> submitted =
      co_await sdk::submit_gang(session.client(), *std::move(submission));
  if (!submitted && submitted.error().code == ErrorCode::cancelled) {
    session.console().err(
        "interrupted before job/" + name + " was complete; run the same command with --name " +
        name + " to continue, or: codeflare delete job " + name + back_words(session) + "\n");
    co_return kInterrupted;
  }
  if (!submitted) {
    co_return report_coded(session.console(), submitted.error(), "job " + name);
  }
  if (!flags.detach) {
    session.console().err("job/" + name + (submitted->resumed ? " resumed\n" : " submitted\n"));
    if (flags.window != nullptr) {
      co_return co_await attach_shell(session, name, *flags.window);
    }
    co_return co_await attach(session, name);
  }
  if (session.output() == Output::name) {
    session.console().out("job/" + name + "\n");
    co_return kDone;
  }
  const std::string rest = " job " + name + back_words(session);
  session.console().out("job/" + name + " submitted\nNext: codeflare logs" + rest +
                        " -f, codeflare status" + rest + ", codeflare cancel" + rest + "\n");
  co_return kDone;
}

}  // namespace codeflare::cli
