#include "cli/gather/run_inputs.h"

#include "base/close_words.h"
#include "json/parse.h"
#include "kube/typed.h"
#include "model/codec/core.h"
#include "model/codec/describe.h"
#include "model/codec/platform.h"

#include <algorithm>
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

// What cannot be read is left out: the controller knows it.
template <typename T>
Task<Result<std::vector<T>>> list_readable(kube::Client& client) {
  kube::Api<T> api(client);
  auto list = co_await api.list();
  if (!list && (list.error().code == ErrorCode::permission_denied ||
                list.error().code == ErrorCode::not_found)) {
    co_return std::vector<T>();
  }
  CO_TRY(list);
  co_return std::move(list->items);
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

Task<Result<platform::CompileInput>> add_from_cluster(Session& session,
                                                      platform::CompileInput input) {
  kube::Client& client = session.client();
  if (!input.application) {
    CO_TRY_ASSIGN(input.application,
                  co_await find<model::Application>(client, platform::application_of(input.run)));
  }
  if (input.application) {
    const std::vector<model::ObjectKey> keys =
        platform::data_sets_of(*input.application, input.run);
    for (const model::ObjectKey& key : keys) {
      CO_TRY_ASSIGN(std::optional<model::DataSet> data_set,
                    co_await find<model::DataSet>(client, key));
      if (data_set) {
        std::vector<model::DataSet> one;
        one.push_back(*std::move(data_set));
        merge(input.data_sets, std::move(one));
      }
    }
  }
  CO_TRY_ASSIGN(auto sizes, co_await list_readable<model::RunSizeConfiguration>(client));
  merge(input.sizes, std::move(sizes));
  CO_TRY_ASSIGN(auto policies, co_await list_readable<model::RunPolicy>(client));
  merge(input.policies, std::move(policies));
  if (input.namespace_labels.empty()) {
    Result<std::optional<model::Namespace>> ns =
        co_await find<model::Namespace>(client, {"", input.run.metadata.ns});
    if (ns && *ns) {
      input.namespace_labels = (*ns)->metadata.labels;
    }
  }
  co_return std::move(input);
}

}  // namespace codeflare::cli
