#include "cli/verbs/checkpoint.h"

#include "base/env/file_handle.h"
#include "base/env/real_env.h"
#include "base/human_duration.h"
#include "checkpoint/client.h"
#include "checkpoint/crc32c.h"
#include "checkpoint/documents.h"
#include "checkpoint/key_file.h"
#include "checkpoint/token.h"
#include "cli/views/table.h"
#include "net/client.h"
#include "net/url.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

using checkpoint::Checkpoint;
using checkpoint::JobKey;
using checkpoint::JobSummary;

// A connection to the service and the job that was meant.
struct Connection {
  std::unique_ptr<net::HttpClient> http;
  std::unique_ptr<checkpoint::Client> client;
};

std::string service_url(Env env, const CheckpointFlags& flags) {
  if (!flags.service.empty()) {
    return flags.service.contains("://") ? flags.service : "http://" + flags.service;
  }
  const std::string host = env.variables.get("CHECKPOINT_SERVICE_ENDPOINT").value_or("127.0.0.1");
  const std::string port = env.variables.get("CHECKPOINT_SERVICE_PORT").value_or("5555");
  return "http://" + host + ":" + port;
}

Result<Secret> read_token(Env env, const CheckpointFlags& flags) {
  if (!flags.key_file.empty()) {
    TRY_ASSIGN(const Secret key, checkpoint::read_key(env.files, flags.key_file));
    return checkpoint::mint_token(key, {.job = {.ns = flags.ns, .uid = "*"}});
  }
  if (flags.token_file.empty()) {
    return Secret();
  }
  TRY_ASSIGN(std::string text, env.files.read(flags.token_file, 4096));
  text.erase(text.find_last_not_of("\r\n ") + 1);
  return Secret(std::move(text));
}

Result<Connection> connect(Env env, const CheckpointFlags& flags) {
  TRY_ASSIGN(net::Url url, net::parse_url(service_url(env, flags)));
  TRY_ASSIGN(Secret token, read_token(env, flags));
  Connection connection;
  TRY_ASSIGN(connection.http, net::HttpClient::create(env, std::move(url), {}));
  connection.client = std::make_unique<checkpoint::Client>(*connection.http, std::move(token));
  return connection;
}

// Jobs of the namespace whose name or UID is that; a UID needs no right to list.
Task<Result<std::vector<JobSummary>>> find_jobs(checkpoint::Client& client, std::string ns,
                                                std::string job) {
  Result<std::vector<JobSummary>> all = co_await client.jobs(ns);
  if (!all && all.error().code == ErrorCode::permission_denied && !job.empty()) {
    co_return std::vector{JobSummary{.job = {.ns = ns, .uid = job}, .job_name = job}};
  }
  if (!all) {
    co_return fail(std::move(all).error());
  }
  std::vector<JobSummary> found;
  for (JobSummary& one : *all) {
    if (job.empty() || one.job_name == job || one.job.uid == job) {
      found.push_back(std::move(one));
    }
  }
  if (found.empty() && !job.empty()) {
    co_return fail(not_found("job " + job + " has no checkpoints in namespace " + ns));
  }
  co_return found;
}

Task<Result<JobKey>> find_one_job(checkpoint::Client& client, std::string ns, std::string job) {
  CO_TRY_ASSIGN(const std::vector<JobSummary> found, co_await find_jobs(client, ns, job));
  if (found.size() > 1) {
    std::string uids;
    for (const JobSummary& one : found) {
      uids += (uids.empty() ? "" : ", ") + one.job.uid;
    }
    co_return fail(invalid_argument(std::to_string(found.size()) + " jobs are called " + job +
                                    "; use one of their UIDs: " + uids));
  }
  co_return found.front().job;
}

void add_rows(Table& table, const JobSummary& job, const std::vector<Checkpoint>& checkpoints,
              WallTime now) {
  for (const Checkpoint& one : checkpoints) {
    table.add_row({job.job_name.empty() ? job.job.uid : job.job_name, std::to_string(one.id),
                   std::to_string(one.step), std::to_string(one.generation),
                   std::to_string(one.world_size), std::to_string(one.parts.size()),
                   std::to_string(one.bytes()), human_duration(now - one.committed)});
  }
}

Task<Result<std::string>> list_text(Env env, checkpoint::Client& client, CheckpointFlags flags) {
  CO_TRY_ASSIGN(const std::vector<JobSummary> jobs,
                co_await find_jobs(client, flags.ns, flags.job));
  Table table({"JOB", "ID", "STEP", "GENERATION", "WORKERS", "PARTS", "BYTES", "AGE"});
  std::string json = "{\"items\":[";
  for (const JobSummary& job : jobs) {
    CO_TRY_ASSIGN(const std::vector<Checkpoint> checkpoints, co_await client.list(job.job));
    add_rows(table, job, checkpoints, env.clock.wall());
    for (const Checkpoint& one : checkpoints) {
      json += (json.ends_with('[') ? "" : ",") +
              checkpoint::checkpoint_text(one, checkpoint::Detail::summary);
    }
  }
  if (flags.output == "json") {
    co_return json + "]}\n";
  }
  co_return table.empty() ? std::string() : table.to_text();
}

struct Target {
  checkpoint::Client& client;
  JobKey job;
  std::string directory;
};

// Streams a part into a file and compares the checksum.
Task<Result<std::uint64_t>> fetch_part(Env env, Target target, checkpoint::CheckpointId id,
                                       std::string part, std::uint32_t wanted) {
  CO_TRY_ASSIGN(FileHandles * handles, handles_of(env.files));
  CO_TRY_ASSIGN(net::Response response, co_await target.client.read(target.job, id, part));
  const std::string path = join_path(target.directory, part);
  CO_TRY_ASSIGN(const std::unique_ptr<FileHandle> file, handles->open_new(path, 0644));
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  while (response.body != nullptr) {
    CO_TRY_ASSIGN(const Bytes piece, co_await response.body->read());
    if (piece.empty()) {
      break;
    }
    CO_TRY(co_await run_blocking(env, [&] { return file->write_at(size, piece.view()); }));
    crc = checkpoint::crc32c(crc, piece.view());
    size += piece.size();
  }
  if (crc != wanted) {
    co_return fail(data_loss(path + " has checksum " + checkpoint::checksum_text(crc) + ", not " +
                             checkpoint::checksum_text(wanted)));
  }
  CO_TRY(co_await run_blocking(env, [&] { return file->sync(); }));
  co_return size;
}

Task<Result<std::string>> get_text(Env env, checkpoint::Client& client, CheckpointFlags flags) {
  CO_TRY_ASSIGN(const JobKey job, co_await find_one_job(client, flags.ns, flags.job));
  CO_TRY_ASSIGN(const Checkpoint chosen,
                flags.id == 0 ? co_await client.latest(job) : co_await client.get(job, flags.id));
  CO_TRY(env.files.make_directories(flags.directory));
  std::string text;
  for (const auto& [name, part] : chosen.parts) {
    CO_TRY_ASSIGN(const std::uint64_t size,
                  co_await fetch_part(env, {client, job, flags.directory}, chosen.id, name,
                                      checkpoint::crc32c_of(part)));
    text += join_path(flags.directory, name) + ": " + std::to_string(size) + " bytes\n";
  }
  co_return text + "checkpoint " + std::to_string(chosen.id) + " of step " +
      std::to_string(chosen.step) + "\n";
}

Task<Result<std::string>> delete_text(Env, checkpoint::Client& client, CheckpointFlags flags) {
  CO_TRY_ASSIGN(const JobKey job, co_await find_one_job(client, flags.ns, flags.job));
  if (flags.id != 0) {
    CO_TRY(co_await client.remove(job, flags.id));
    co_return "checkpoint " + std::to_string(flags.id) + " of job " + flags.job + " deleted\n";
  }
  CO_TRY(co_await client.remove_job(job));
  co_return "all checkpoints of job " + flags.job + " deleted\n";
}

using Text = Task<Result<std::string>> (*)(Env, checkpoint::Client&, CheckpointFlags);

Task<int> run_text(Env env, Console& console, CheckpointFlags flags, Text make) {
  Result<Connection> connection = connect(env, flags);
  if (!connection) {
    co_return report(console, connection.error());
  }
  const Result<std::string> text = co_await make(env, *connection->client, std::move(flags));
  if (!text) {
    co_return report(console, text.error());
  }
  console.out(*text);
  co_return kDone;
}

using Run = Task<int> (*)(Env, Console&, CheckpointFlags);

int run_now(const CheckpointFlags& flags, Run verb) {
  RealEnv world;
  const std::unique_ptr<Console> console = process_console();
  return codeflare::run(world.env().loop, verb(world.env(), *console, flags)).value_or(kFailed);
}

using FlagsPtr = std::shared_ptr<CheckpointFlags>;

void add_job_flags(CLI::App& verb, const FlagsPtr& own) {
  verb.add_option("--service", own->service,
                  "URL of the service (default $CHECKPOINT_SERVICE_ENDPOINT and _PORT, else "
                  "http://127.0.0.1:5555)")
      ->type_name("URL");
  auto* token =
      verb.add_option("--token-file", own->token_file, "file with a token")->type_name("FILE");
  verb.add_option("--key-file", own->key_file, "key of the service, instead of a token")
      ->type_name("FILE")
      ->excludes(token);
  verb.add_option("-n,--namespace", own->ns, "namespace of the job")->capture_default_str();
}

void add_id(CLI::App& verb, const FlagsPtr& own, const std::string& about) {
  verb.add_option("--id", own->id, about)->check(CLI::PositiveNumber)->type_name("ID");
}

void add_options(CLI::App& command, Chosen& chosen) {
  auto own = std::make_shared<CheckpointFlags>();
  command.require_subcommand(1);
  CLI::App* list = command.add_subcommand("list", "List committed checkpoints");
  list->add_option("JOB", own->job, "name or UID of the TrainingJob (default: all)");
  add_job_flags(*list, own);
  list->add_option("-o,--output", own->output, "output format: json")
      ->check(CLI::IsMember({"json"}))
      ->type_name("FORM");
  list->footer("Example:\n  codeflare checkpoint list bert --key-file DIR/key");
  list->callback([&chosen, own] { chosen = [own] { return run_now(*own, run_checkpoint_list); }; });

  CLI::App* get = command.add_subcommand("get", "Download the parts of a checkpoint");
  get->add_option("JOB", own->job, "name or UID of the TrainingJob")->required();
  add_job_flags(*get, own);
  add_id(*get, own, "checkpoint to download (default: the latest)");
  get->add_option("--directory", own->directory, "directory to write the parts to")
      ->type_name("DIR")
      ->capture_default_str();
  get->footer("Example:\n  codeflare checkpoint get bert --directory saved");
  get->callback([&chosen, own] { chosen = [own] { return run_now(*own, run_checkpoint_get); }; });

  CLI::App* remove = command.add_subcommand("delete", "Delete checkpoints of a job");
  remove->add_option("JOB", own->job, "name or UID of the TrainingJob")->required();
  add_job_flags(*remove, own);
  add_id(*remove, own, "checkpoint to delete (default: all of the job)");
  remove->footer("Example:\n  codeflare checkpoint delete bert --id 3");
  remove->callback(
      [&chosen, own] { chosen = [own] { return run_now(*own, run_checkpoint_delete); }; });

  CLI::App* token = command.add_subcommand("token", "Print a token for a job");
  token->add_option("--key-file", own->key_file, "key of the service")
      ->required()
      ->type_name("FILE");
  token->add_option("-n,--namespace", own->ns, "namespace of the job; * with --uid * for all")
      ->capture_default_str();
  token->add_option("--uid", own->uid, "UID of the TrainingJob; * for the whole namespace")
      ->capture_default_str();
  token->add_option("--seconds", own->seconds, "time until the token expires (default: never)")
      ->check(CLI::NonNegativeNumber);
  token->footer("Example:\n  codeflare checkpoint token --key-file DIR/key --uid 1111-2222");
  token->callback([&chosen, own] {
    chosen = [own] {
      RealEnv world;
      return run_checkpoint_token(world.env(), *process_console(), *own);
    };
  });
}

}  // namespace

constinit const Verb kCheckpoint = {.word = "checkpoint",
                                    .about = "List, download and delete checkpoints",
                                    .examples = "codeflare checkpoint list bert",
                                    .add = add_options};

Task<int> run_checkpoint_list(Env env, Console& console, CheckpointFlags flags) {
  return run_text(env, console, std::move(flags), list_text);
}
Task<int> run_checkpoint_get(Env env, Console& console, CheckpointFlags flags) {
  return run_text(env, console, std::move(flags), get_text);
}
Task<int> run_checkpoint_delete(Env env, Console& console, CheckpointFlags flags) {
  return run_text(env, console, std::move(flags), delete_text);
}

int run_checkpoint_token(Env env, Console& console, const CheckpointFlags& flags) {
  const Result<Secret> key = checkpoint::read_key(env.files, flags.key_file);
  if (!key) {
    return report_file(console, key.error());
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(env.clock.wall());
  const std::int64_t expiry =
      flags.seconds == 0 ? 0 : now.time_since_epoch().count() + flags.seconds;
  const Secret token =
      checkpoint::mint_token(*key, {.job = {.ns = flags.ns, .uid = flags.uid}, .expiry = expiry});
  console.out(token.reveal() + "\n");
  return kDone;
}

}  // namespace codeflare::cli
