#include "cli/gather/run_inputs.h"

#include "base/close_words.h"
#include "json/parse.h"
#include "kube/typed.h"
#include "model/codec/core.h"
#include "model/codec/describe.h"
#include "model/codec/platform.h"
#include "model/image.h"
#include "model/platform_repo_secret.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace codeflare::cli {

namespace {

// Members that the kind does not have: a server would drop them.
template <typename Spec>
std::string unknown_field(const Spec& spec) {
  const model::codec::StructInfo& info = describe(model::codec::Tag<Spec>());
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < info.count; ++i) {
    known.push_back(info.fields[i].name);
  }
  for (const model::Extra::Member& member : spec.extra.members) {
    if (std::ranges::find(known, member.key) == known.end()) {
      const auto near = nearest_name(member.key, known);
      return "spec." + member.key + ": unknown field" +
             (near ? "; did you mean " + std::string(*near) + "?" : std::string());
    }
  }
  return {};
}

class Reader {
 public:
  Reader(PlatformFiles& files, const std::string& ns) : files_(files), ns_(ns) {}

  void read(const Manifest& manifest) {
    if (manifest.api_version == "v1" && manifest.kind == "Namespace") {
      add(manifest, files_.namespaces);
      return;
    }
    if (manifest.api_version != model::ResourceTraits<model::Run>::api_version) {
      return;
    }
    if (manifest.kind == "Run") {
      std::vector<model::Run> runs;
      add(manifest, runs);
      if (!runs.empty() && check(manifest, runs.front().spec)) {
        files_.runs.push_back({manifest.where(), std::move(runs.front())});
      }
    } else if (manifest.kind == "Application") {
      std::vector<model::Application> applications;
      add(manifest, applications);
      if (!applications.empty() && check(manifest, applications.front().spec)) {
        files_.applications.push_back(std::move(applications.front()));
      }
    } else if (manifest.kind == "DataSet") {
      add(manifest, files_.data_sets);
    } else if (manifest.kind == "RunSizeConfiguration") {
      add(manifest, files_.sizes);
    } else if (manifest.kind == "RunPolicy") {
      add(manifest, files_.policies);
    } else if (manifest.kind == "Image") {
      ignore<model::Image>(manifest);
    } else if (manifest.kind == "PlatformRepoSecret") {
      ignore<model::PlatformRepoSecret>(manifest);
    } else {
      files_.errors.push_back(
          invalid_argument(manifest.where() + ": unknown kind of " + manifest.api_version));
    }
  }

 private:
  template <typename T>
  void add(const Manifest& manifest, std::vector<T>& list) {
    const Result<json::Document> body = json::parse(manifest.body);
    Result<T> object = body ? model::from_json<T>(body->root) : Result<T>(fail(body.error()));
    if (!object) {
      files_.errors.push_back(std::move(object).error().with_context(manifest.where()));
      return;
    }
    if (object->metadata.ns.empty() && model::ResourceTraits<T>::namespaced) {
      object->metadata.ns = ns_;
    }
    list.push_back(*std::move(object));
  }

  // Has no effect on what Runs become, but a mistake in it counts.
  template <typename T>
  void ignore(const Manifest& manifest) {
    std::vector<T> read;
    add(manifest, read);
    if (!read.empty()) {
      check(manifest, read.front().spec);
    }
  }

  template <typename Spec>
  bool check(const Manifest& manifest, const Spec& spec) {
    const std::string wrong = unknown_field(spec);
    if (!wrong.empty()) {
      files_.errors.push_back(invalid_argument(manifest.where() + ": " + wrong));
    }
    return wrong.empty();
  }

  PlatformFiles& files_;
  const std::string& ns_;
};

// Nothing when there is none.
template <typename T>
Task<Result<std::optional<T>>> find(kube::Client& client, model::ObjectKey key) {
  kube::Api<T> api(client, key.ns);
  Result<T> found = co_await api.get(key.name);
  if (!found && found.error().code == ErrorCode::not_found) {
    co_return std::optional<T>();
  }
  CO_TRY(found);
  co_return std::optional<T>(*std::move(found));
}

// Nothing when the user may not list the kind.
template <typename T>
Task<Result<std::optional<std::vector<T>>>> list_readable(kube::Client& client) {
  kube::Api<T> api(client);
  auto list = co_await api.list();
  if (!list && list.error().code == ErrorCode::permission_denied) {
    co_return std::optional<std::vector<T>>();
  }
  if (!list && list.error().code == ErrorCode::not_found) {
    co_return std::optional(std::vector<T>());
  }
  CO_TRY(list);
  co_return std::optional(std::move(list->items));
}

template <typename T>
void merge(std::vector<T>& mine, std::vector<T> theirs) {
  for (T& each : theirs) {
    const bool known = std::ranges::any_of(
        mine, [&](const T& one) { return one.metadata.key() == each.metadata.key(); });
    if (!known) {
      mine.push_back(std::move(each));
    }
  }
}

Task<Result<void>> add_application(kube::Client& client, ClusterInput& whole) {
  if (whole.input.application) {
    co_return Result<void>();
  }
  model::ObjectKey key = platform::application_of(whole.input.run);
  const std::string name = "Application " + key.to_string();
  auto found = co_await find<model::Application>(client, std::move(key));
  if (!found && found.error().code == ErrorCode::permission_denied) {
    whole.unread.push_back(name);
    whole.no_application = true;
    co_return Result<void>();
  }
  CO_TRY(found);
  whole.input.application = *std::move(found);
  co_return Result<void>();
}

Task<Result<void>> add_data_sets(kube::Client& client, ClusterInput& whole) {
  if (!whole.input.application) {
    co_return Result<void>();
  }
  const std::vector<model::ObjectKey> keys =
      platform::data_sets_of(*whole.input.application, whole.input.run);
  for (const model::ObjectKey& key : keys) {
    auto found = co_await find<model::DataSet>(client, key);
    if (!found && found.error().code == ErrorCode::permission_denied) {
      whole.unread.push_back("DataSet " + key.to_string());
      whole.no_data_set = true;
      continue;
    }
    CO_TRY(found);
    if (*found) {
      std::vector<model::DataSet> one;
      one.push_back(**std::move(found));
      merge(whole.input.data_sets, std::move(one));
    }
  }
  co_return Result<void>();
}

}  // namespace

PlatformFiles read_platform(const std::vector<Manifest>& manifests, const std::string& ns) {
  PlatformFiles files;
  Reader reader(files, ns);
  for (const Manifest& manifest : manifests) {
    reader.read(manifest);
  }
  return files;
}

platform::CompileInput input_from(const PlatformFiles& files, const model::Run& run) {
  platform::CompileInput input{.run = run,
                               .application = {},
                               .data_sets = files.data_sets,
                               .sizes = files.sizes,
                               .policies = files.policies,
                               .namespace_labels = {}};
  const model::ObjectKey wanted = platform::application_of(run);
  for (const model::Application& application : files.applications) {
    if (application.metadata.key() == wanted) {
      input.application = application;
    }
  }
  for (const model::Namespace& ns : files.namespaces) {
    if (ns.metadata.name == run.metadata.ns) {
      input.namespace_labels = ns.metadata.labels;
    }
  }
  return input;
}

bool ClusterInput::may_cause(const platform::Problem& problem) const {
  constexpr std::array<std::string_view, 5> kOfSizes{"spec.size", "spec.workers", "spec.cpu",
                                                     "spec.memory", "spec.gpu"};
  return no_application || (no_data_set && problem.field.starts_with("spec.inputs")) ||
         (no_sizes && std::ranges::find(kOfSizes, problem.field) != kOfSizes.end());
}

Task<Result<ClusterInput>> add_from_cluster(Session& session, platform::CompileInput input) {
  kube::Client& client = session.client();
  ClusterInput whole{.input = std::move(input)};
  CO_TRY(co_await add_application(client, whole));
  CO_TRY(co_await add_data_sets(client, whole));
  CO_TRY_ASSIGN(auto sizes, co_await list_readable<model::RunSizeConfiguration>(client));
  CO_TRY_ASSIGN(auto policies, co_await list_readable<model::RunPolicy>(client));
  whole.no_sizes = !sizes || !policies;
  if (sizes) {
    merge(whole.input.sizes, *std::move(sizes));
  } else {
    whole.unread.emplace_back("RunSizeConfigurations");
  }
  if (policies) {
    merge(whole.input.policies, *std::move(policies));
  } else {
    whole.unread.emplace_back("RunPolicies");
  }
  if (whole.input.namespace_labels.empty()) {
    Result<std::optional<model::Namespace>> ns =
        co_await find<model::Namespace>(client, {"", whole.input.run.metadata.ns});
    if (ns && *ns) {
      whole.input.namespace_labels = (*ns)->metadata.labels;
    }
  }
  co_return std::move(whole);
}

}  // namespace codeflare::cli
