// Ray's jobs API from the command line, for tests against a real head:
//   ray_jobs URL VERB ARGUMENTS...   (token in RAY_AUTH_TOKEN)

#include "base/env/real_env.h"
#include "net/client.h"
#include "net/url.h"
#include "ray/client.h"
#include "ray/package.h"
#include "ray/runtime_env.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace codeflare;
using Words = std::vector<std::string>;

void say(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

std::string describe(const ray::Job& job) {
  const std::string code = job.exit_code ? std::to_string(*job.exit_code) : "-";
  return job.submission_id + " " + std::string(to_string(job.status)) + " " + code + "\n";
}

Task<Result<void>> print(std::string text) {
  say(text);
  co_return Result<void>();
}

// ID ENTRYPOINT [RUNTIME_ENV]
Task<Result<void>> submit(Env env, ray::Client& client, Words words) {
  ray::JobRequest request{.submission_id = words.at(0), .entrypoint = words.at(1)};
  if (words.size() > 2) {
    const ray::PackageOptions options =
        ray::package_options(env.variables, std::filesystem::current_path().string());
    CO_TRY_ASSIGN(ray::PreparedRuntimeEnv prepared, co_await run_blocking(env, [&] {
                    return ray::prepare_runtime_env(env.files, words.at(2), options);
                  }));
    CO_TRY(co_await client.upload_missing(std::move(prepared.packages)));
    request.runtime_env = std::move(prepared.json);
  }
  co_return co_await client.submit(std::move(request));
}

Task<Result<void>> tail(ray::Client& client, std::string id) {
  CO_TRY_ASSIGN(const ray::TailEnd end, co_await client.tail(std::move(id), print));
  std::fprintf(stderr, "%s", describe(end.job).c_str());
  co_return end.log_error ? Result<void>(fail(*end.log_error)) : Result<void>();
}

// DIRECTORY...: their names, one per line.
Result<void> packages(Env env, const Words& directories) {
  for (const std::string& directory : directories) {
    TRY_ASSIGN(const ray::Package package,
               ray::package_directory(env.files, directory, {}, {.bytes_max = UINT64_MAX}));
    say(package.uri + "\n");
  }
  return {};
}

// FILE JSON: the zip of what a runtime environment needs, which is one package.
Result<void> zip(Env env, const Words& words) {
  TRY_ASSIGN(const ray::PreparedRuntimeEnv prepared,
             ray::prepare_runtime_env(env.files, words.at(1), {}));
  TRY_ASSIGN(const std::string bytes, ray::package_bytes(env.files, prepared.packages.at(0)));
  say(prepared.packages.at(0).uri + "\n");
  return env.files.write(words.at(0), bytes);
}

Task<Result<void>> perform(Env env, ray::Client& client, std::string verb, Words words) {
  if (verb == "version") {
    CO_TRY_ASSIGN(const ray::ServerVersion version, co_await client.version());
    say(version.ray + " " + std::to_string(version.api) + "\n");
  } else if (verb == "submit") {
    CO_TRY(co_await submit(env, client, std::move(words)));
  } else if (verb == "info") {
    CO_TRY_ASSIGN(const ray::Job job, co_await client.info(words.at(0)));
    say(describe(job) + job.message + "\n");
  } else if (verb == "list") {
    CO_TRY_ASSIGN(const std::vector<ray::Job> jobs, co_await client.list());
    for (const ray::Job& job : jobs) {
      say(describe(job));
    }
  } else if (verb == "stop") {
    CO_TRY_ASSIGN(const bool stopped, co_await client.stop(words.at(0)));
    say(stopped ? "stopped\n" : "not running\n");
  } else if (verb == "delete") {
    CO_TRY(co_await client.remove(words.at(0)));
  } else if (verb == "logs") {
    CO_TRY_ASSIGN(const std::string log, co_await client.logs(words.at(0)));
    say(log);
  } else if (verb == "tail") {
    CO_TRY(co_await tail(client, words.at(0)));
  } else if (verb == "packages") {
    CO_TRY(packages(env, words));
  } else if (verb == "zip") {
    CO_TRY(zip(env, words));
  } else {
    co_return fail(invalid_argument("unknown verb " + verb));
  }
  co_return Result<void>();
}

Result<void> run_words(Env env, const std::string& address, const std::string& verb, Words words) {
  TRY_ASSIGN(net::Url url, net::parse_url(address));
  TRY_ASSIGN(const std::unique_ptr<net::HttpClient> service, net::HttpClient::create(env, url, {}));
  ray::ClientOptions options;
  options.token = Secret(env.variables.get("RAY_AUTH_TOKEN").value_or(""));
  ray::Client client(env, *service, options);
  return *run(env.loop, perform(env, client, verb, std::move(words)));
}

}  // namespace

// Exit code 1 with "code: message" when it failed.
int main(int count, char** words) {
  if (count < 3) {
    std::fprintf(stderr, "usage: ray_jobs URL VERB ARGUMENTS...\n");
    return 2;
  }
  RealEnv world;
  const Result<void> done =
      run_words(world.env(), words[1], words[2], Words(words + 3, words + count));
  if (!done) {
    std::fprintf(stderr, "%s\n", done.error().to_string().c_str());
  }
  return done ? 0 : 1;
}
