#include "sdk/own_cluster_submit.h"

#include "json/parse.h"
#include "json/write.h"
#include "model/ray_job.h"
#include "ray/runtime_env.h"
#include "sdk/internal/runtime_env_of.h"
#include "sdk/priority_class.h"
#include "sdk/program_image.h"
#include "sdk/submit_wrapper.h"

#include <utility>

namespace codeflare::sdk {

namespace {

// A local directory, or a URI that passes through.
bool is_local(const std::string& working_dir) {
  return !working_dir.empty() && !working_dir.contains("://");
}

// A working directory of the runtime environment counts like that of the job itself.
Result<void> take_working_dir(JobSpec& job) {
  if (job.runtime_env.empty() || !job.working_dir.empty()) {
    return {};
  }
  Result<json::Document> env = json::parse(job.runtime_env);
  if (!env || !env->root.is_object()) {
    return {};  // reported with the rest
  }
  if (const std::string given(env->root.string_or_empty("working_dir")); is_local(given)) {
    job.working_dir = given;
    env->root.erase("working_dir");
    job.runtime_env = json::to_text(env->root);
  }
  return {};
}

std::string absolute(const std::string& base, const std::string& path) {
  return path.starts_with('/') ? path : base + "/" + path;
}

// Fills in runtime environment and code. Reads local files and blocks.
Result<std::vector<std::string>> prepare(Env env, OwnClusterJob& own, const std::string& base) {
  JobSpec& job = own.job;
  TRY(take_working_dir(job));
  if (is_local(job.working_dir)) {
    Result<CodeArchive> code = pack_code(env.files, absolute(base, job.working_dir));
    if (!code) {
      return fail(std::move(code).error().with_context("working_dir"));
    }
    TRY_ASSIGN(own.code, std::move(code));
    own.program_image = program_image(env.variables);
    job.working_dir.clear();
  }
  TRY_ASSIGN(const std::string described, internal::runtime_env_of(job));
  TRY_ASSIGN(
      ray::PreparedRuntimeEnv prepared,
      ray::prepare_runtime_env(env.files, described, ray::package_options(env.variables, base)));
  if (!prepared.packages.empty()) {
    return fail(invalid_argument(
        "job '" + job.name +
        "': py_modules of this machine cannot travel to a cluster that does not exist yet; put "
        "them into the working directory, or give URIs"));
  }
  own.runtime_env = std::move(prepared.json);
  return std::move(prepared.notes);
}

}  // namespace

Task<Result<std::vector<std::string>>> submit_own_cluster(Env env, kube::Client& client,
                                                          kube::Discovery& discovery,
                                                          OwnClusterJob own, std::string ns,
                                                          std::string base_directory) {
  CO_TRY(check(own));
  CO_TRY_ASSIGN(std::vector<std::string> notes,
                co_await run_blocking(env, [&] { return prepare(env, own, base_directory); }));
  if (own.cluster.ns.empty()) {
    own.cluster.ns = std::move(ns);
  }
  const model::ResourceType type = model::resource_type<model::RayJob>();
  const Result<kube::ApiResource> served = co_await discovery.find(type.plural, type.group);
  if (!served && served.error().code == ErrorCode::not_found) {
    co_return fail(failed_precondition(
        "the server has no " + type.kind + "s (" + type.qualified_name() +
        "); ask the administrator to install codeflare or KubeRay, or use 'codeflare up'"));
  }
  CO_TRY(served);
  if (!own.cluster.priority) {
    CO_TRY_ASSIGN(own.cluster.priority,
                  co_await priority_of_class(client, own.cluster.priority_class));
  }
  const model::ObjectKey key{own.cluster.ns, own.job.name};
  std::optional<CodeArchive> code = own.code;
  CO_TRY_ASSIGN(json::Document manifest, own_cluster_manifest(std::move(own)));
  CO_TRY(co_await submit_wrapper(client, key, std::move(manifest), std::move(code)));
  co_return notes;
}

}  // namespace codeflare::sdk
