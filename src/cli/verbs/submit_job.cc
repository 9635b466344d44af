#include "cli/verbs/submit_job.h"

#include "cli/verbs/follow_job.h"
#include "cli/verbs/internal/job_flags.h"
#include "cli/verbs/show_job.h"
#include "json/parse.h"
#include "json/write.h"
#include "json/yaml.h"
#include "model/quantity.h"
#include "sdk/ddp_file.h"
#include "sdk/jobs.h"
#include "sdk/shell_command.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace codeflare::cli {

namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<SubmitJobFlags>>();
  SubmitJobFlags& flags = typed->flags;
  verb.add_option("NAME", flags.first_word, "name of the job, which becomes Ray's submission id");
  verb.add_option("COMMAND", flags.command, "command to run on the cluster, behind --");
  verb.add_option("--name", flags.name, "name of the job, instead of NAME")->type_name("NAME");
  verb.add_option("--working-dir", flags.working_dir,
                  "directory to package and upload, or a URI; the command starts there")
      ->type_name("DIR");
  CLI::Option* file = verb.add_option("--runtime-env", flags.runtime_env_file,
                                      "file with Ray's runtime environment, as YAML or JSON")
                          ->type_name("FILE");
  verb.add_option("--runtime-env-json", flags.runtime_env_json, "Ray's runtime environment")
      ->type_name("JSON")
      ->excludes(file);
  verb.add_option("--env", flags.env, "environment variable; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb.add_option("--metadata", flags.metadata, "note to keep with the job; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb.add_option("--entrypoint-num-cpus", flags.num_cpus, "CPUs reserved for the command")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--entrypoint-num-gpus", flags.num_gpus, "GPUs reserved for the command")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--entrypoint-memory", flags.memory,
                  "memory reserved for the command: bytes, or an amount such as 2Gi")
      ->type_name("AMOUNT");
  verb.add_option("--entrypoint-resources", flags.resources,
                  "further resources reserved for the command: {\"name\": amount}")
      ->type_name("JSON");
  verb.add_flag("-f,--follow", flags.follow, "print the log until the job has ended");
  verb.add_flag("--wait", flags.wait, "wait until the job has ended");
  add_ddp_flags(verb, flags.ddp);
  internal::finish_job(verb, chosen, typed, run_submit_job, internal::kWaitHelp);
  add_own_cluster_flags(verb, flags.own_cluster);
}

Result<std::map<std::string, std::string>> pairs(std::string_view option,
                                                 const std::vector<std::string>& texts) {
  std::map<std::string, std::string> map;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(invalid_argument(std::string(option) + ": " + text + " is not KEY=VALUE"));
    }
    map.insert_or_assign(text.substr(0, equals), text.substr(equals + 1));
  }
  return map;
}

Result<std::map<std::string, double>> read_resources(const std::string& text) {
  std::map<std::string, double> resources;
  if (text.empty()) {
    return resources;
  }
  const Error wrong = invalid_argument("--entrypoint-resources: " + text +
                                       " is not a JSON object of numbers, such as {\"tpu\": 1}");
  const Result<json::Document> document = json::parse(text);
  if (!document || !document->root.is_object()) {
    return fail(wrong);
  }
  for (const json::Member& member : document->root.members()) {
    if (!member.value.is_number()) {
      return fail(wrong);
    }
    resources.emplace(member.key, std::strtod(std::string(member.value.number()).c_str(), nullptr));
  }
  return resources;
}

Result<std::optional<std::uint64_t>> read_memory(const std::string& text) {
  if (text.empty()) {
    return std::optional<std::uint64_t>();
  }
  const Result<model::Quantity> amount = model::Quantity::parse(text);
  if (!amount || amount->value() < 0) {
    return fail(invalid_argument("--entrypoint-memory: " + text + " is not an amount such as 2Gi"));
  }
  return std::optional(static_cast<std::uint64_t>(amount->value()));
}

Result<std::string> read_runtime_env(FileSystem& files, const SubmitJobFlags& flags) {
  if (flags.runtime_env_file.empty()) {
    return flags.runtime_env_json;
  }
  const Result<std::string> text = files.read(flags.runtime_env_file, kFileBytesMax);
  if (!text) {
    return fail(invalid_argument(text.error().message));
  }
  const Result<std::vector<json::Document>> documents = json::parse_yaml(*text);
  if (!documents || documents->size() != 1) {
    return fail(
        invalid_argument(flags.runtime_env_file + ": " +
                         (documents ? "expected one YAML document" : documents.error().message)));
  }
  return json::to_text(documents->front().root);
}

Result<sdk::JobSpec> spec_of(Session& session, const SubmitJobFlags& flags) {
  sdk::JobSpec spec{.name = flags.name,
                    .command = sdk::shell_command(flags.command),
                    .working_dir = flags.working_dir,
                    .num_cpus = flags.num_cpus,
                    .num_gpus = flags.num_gpus};
  TRY_ASSIGN(spec.runtime_env, read_runtime_env(session.env().files, flags));
  TRY_ASSIGN(spec.env, pairs("--env", flags.env));
  TRY_ASSIGN(spec.metadata, pairs("--metadata", flags.metadata));
  TRY_ASSIGN(spec.memory_bytes, read_memory(flags.memory));
  TRY_ASSIGN(spec.resources, read_resources(flags.resources));
  return spec;
}

Task<int> follow_or_wait(Session& session, SubmitJobFlags flags) {
  if (flags.follow) {
    LogsJobFlags followed;
    static_cast<JobFlags&>(followed) = flags;
    followed.follow = true;
    co_return co_await run_logs_job(session, std::move(followed));
  }
  if (flags.wait) {
    WaitJobFlags waited;
    static_cast<JobFlags&>(waited) = flags;
    co_return co_await run_wait_job(session, std::move(waited));
  }
  co_return kDone;
}

void tell_queued(Session& session, const SubmitJobFlags& flags) {
  if (session.output() == Output::name) {
    session.console().out("job/" + flags.name + "\n");
    return;
  }
  session.console().out("job/" + flags.name + " submitted\n");
  if (!flags.follow && !flags.wait) {
    const std::string rest =
        " job " + flags.name + (session.ns_given() ? " -n " + session.ns() : "");
    session.console().out("Next: codeflare logs" + rest + " -f, codeflare status" + rest +
                          ", codeflare cancel" + rest + "\n");
  }
}

// An option that says what the job is, rather than where it runs and who waits for it.
bool describes(const SubmitJobFlags& flags) {
  return flags.ddp != DdpFlags() || !flags.working_dir.empty() || !flags.runtime_env_file.empty() ||
         !flags.runtime_env_json.empty() || !flags.env.empty() || !flags.metadata.empty() ||
         flags.num_cpus || flags.num_gpus || !flags.memory.empty() || !flags.resources.empty();
}

// A DDP job: of the options, else of NAME.job.yaml if nothing says what to run. Nothing: the job is
// a plain command.
Result<std::optional<sdk::DdpDefinition>> ddp_of(Session& session, const SubmitJobFlags& flags) {
  if (flags.ddp.any()) {
    if (flags.name.empty()) {
      return fail(invalid_argument("NAME is missing: the name of the job"));
    }
    DdpJob job{.name = flags.name,
               .script_args = flags.command,
               .env = flags.env,
               .working_dir = flags.working_dir};
    return ddp_definition(flags.ddp, job);
  }
  const std::string path = sdk::ddp_file_name(flags.name);
  FileSystem& files = session.env().files;
  if (!flags.command.empty() || flags.name.empty() || flags.own_cluster.wanted ||
      !files.exists(path)) {
    return std::optional<sdk::DdpDefinition>();
  }
  if (describes(flags)) {
    return fail(invalid_argument(path +
                                 " describes the job already; edit the file, or run "
                                 "'codeflare define job " +
                                 flags.name + "' with all options"));
  }
  return sdk::read_ddp_file(files, path, flags.name);
}

// In pods of its own.
Task<int> run_submit_ddp(Session& session, SubmitJobFlags flags, sdk::DdpDefinition definition) {
  const Result<void> done = co_await submit_ddp(session, std::move(definition));
  if (!done) {
    co_return report_coded(session.console(), done.error());
  }
  if (!is_table(session.output()) && session.output() != Output::name && !flags.wait &&
      !flags.follow) {
    co_return co_await run_status_job(session, flags);
  }
  tell_queued(session, flags);
  co_return co_await follow_or_wait(session, std::move(flags));
}

// The job as a Ray cluster gets it.
Task<Result<sdk::JobSpec>> spec_for(Session& session, SubmitJobFlags flags,
                                    std::optional<sdk::DdpDefinition> ddp) {
  if (!ddp) {
    co_return spec_of(session, flags);
  }
  if (flags.cluster.empty()) {
    co_return fail(invalid_argument(
        "a job with --script, --m or a file takes its sizes from the Ray cluster: name the cluster "
        "with --cluster-name instead of --address"));
  }
  co_return co_await ddp_for_cluster(session, *std::move(ddp), std::move(flags.cluster));
}

Task<int> run_submit_own(Session& session, SubmitJobFlags flags, sdk::JobSpec spec) {
  ProgressLine line(session.console());
  line.show("job/" + flags.name + ": submitting");
  const Result<std::vector<std::string>> notes =
      co_await submit_with_cluster(session, flags.own_cluster, flags.ddp, std::move(spec));
  line.clear();
  if (!notes && notes.error().code == ErrorCode::cancelled) {
    session.console().err(
        "interrupted; to continue, run the same command. To check: codeflare status job " +
        flags.name + "\n");
    co_return kInterrupted;
  }
  if (!notes) {
    co_return notes.error().message.empty() ? int{kUsage}
                                            : report_coded(session.console(), notes.error());
  }
  for (const std::string& note : *notes) {
    session.console().err("note: " + note + "\n");
  }
  if (!is_table(session.output()) && session.output() != Output::name && !flags.wait &&
      !flags.follow) {
    co_return co_await run_status_job(session, flags);
  }
  tell_queued(session, flags);
  co_return co_await follow_or_wait(session, std::move(flags));
}

void tell_submitted(Session& session, const SubmitJobFlags& flags, const sdk::JobTarget& target) {
  if (session.output() == Output::name) {
    session.console().out("job/" + flags.name + "\n");
    return;
  }
  session.console().out("job/" + flags.name + " submitted to " + target.to_string() + "\n");
  if (!flags.follow && !flags.wait) {
    const std::string rest = " job " + flags.name + internal::target_words(session, target);
    session.console().out("Next: codeflare logs" + rest + " -f, codeflare status" + rest +
                          ", codeflare cancel" + rest + "\n");
  }
}

}  // namespace

constinit const Verb kCreateJob = {
    .word = "create",
    .noun = "job",
    .about = "Run a command on a Ray cluster: the same as 'submit job'",
    .examples = "codeflare create job train -c demo -- python train.py",
    .add = add_options};
constinit const Verb kSubmitJob = {
    .word = "submit",
    .noun = "job",
    .about = "Run a command on a Ray cluster, existing or its own, or train with torch in pods",
    .examples =
        "codeflare submit job train -c demo --working-dir . -f -- python train.py\n"
        "  codeflare submit job train --own-cluster --workers 2 -f -- python train.py\n"
        "  codeflare submit job train --script train.py -j 2x1 --cpu 2 -f\n"
        "  codeflare submit job train   # as train.job.yaml says",
    .add = add_options};

Task<int> run_submit_job(Session& session, SubmitJobFlags flags) {
  if (flags.name.empty()) {
    flags.name = flags.first_word;
  } else if (!flags.first_word.empty()) {
    flags.command.insert(flags.command.begin(), flags.first_word);
  }
  const bool elsewhere = !flags.cluster.empty() || !flags.address.empty();
  if (const std::string wrong = contradiction(flags.own_cluster, flags.ddp, elsewhere);
      !wrong.empty()) {
    co_return report_usage(session.console(), wrong);
  }
  Result<std::optional<sdk::DdpDefinition>> ddp = ddp_of(session, flags);
  if (!ddp) {
    co_return report_coded(session.console(), ddp.error());
  }
  if (*ddp && !elsewhere) {
    co_return co_await run_submit_ddp(session, std::move(flags), **std::move(ddp));
  }
  if (!*ddp && flags.command.empty() && !flags.name.empty()) {
    co_return report_usage(session.console(),
                           "COMMAND is missing: add it behind --, such as -- python main.py, or "
                           "write " +
                               sdk::ddp_file_name(flags.name) + " with 'codeflare define job " +
                               flags.name + "'");
  }
  Result<sdk::JobSpec> spec = co_await spec_for(session, flags, *std::move(ddp));
  if (!spec) {
    co_return report_coded(session.console(), spec.error());
  }
  if (flags.own_cluster.wanted) {
    co_return co_await run_submit_own(session, std::move(flags), *std::move(spec));
  }
  const Result<sdk::JobTarget> target = co_await internal::job_target(session, flags);
  if (!target) {
    co_return report_coded(session.console(), target.error());
  }
  sdk::Jobs jobs = internal::jobs_of(session);
  ProgressLine line(session.console());
  line.show("job/" + flags.name + ": submitting to " + target->to_string());
  const Result<std::vector<std::string>> notes = co_await jobs.submit(*target, *std::move(spec));
  line.clear();
  if (!notes && notes.error().code == ErrorCode::cancelled) {
    session.console().err(
        "interrupted; the job may have been submitted. To check: codeflare "
        "status job " +
        flags.name + internal::target_words(session, *target) + "\n");
    co_return kInterrupted;
  }
  if (!notes) {
    co_return report_coded(session.console(), notes.error());
  }
  for (const std::string& note : *notes) {
    session.console().err("note: " + note + "\n");
  }
  flags.cluster = target->cluster.name;
  if (!is_table(session.output()) && session.output() != Output::name) {
    if (!flags.wait && !flags.follow) {
      co_return co_await run_status_job(session, flags);
    }
  } else {
    tell_submitted(session, flags, *target);
  }
  co_return co_await follow_or_wait(session, std::move(flags));
}

}  // namespace codeflare::cli
