#include "kube/discovery.h"

#include "base/async/when.h"
#include "kube/internal/discovery_parse.h"
#include "kube/path.h"
#include "net/http.h"

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::kube {

namespace {

using internal::DiscoveredVersion;
using internal::DiscoveryRoot;

constexpr std::array<std::string_view, 2> kRoots = {"/api", "/apis"};
constexpr std::string_view kAccept =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json";

Task<Result<std::vector<ApiResource>>> fetch_version(Client* client, std::string group,
                                                     std::string version) {
  Client::RawRequest request{.target = group_version_path(group, version)};
  CO_TRY_ASSIGN(const Client::RawResponse response, co_await client->raw(std::move(request)));
  co_return internal::parse_resource_list(response.body, group, version);
}

// How well a name fits, smaller is better: two kinds may share a word, as one's plural and the
// other's short name.
std::optional<int> fit(const ApiResource& resource, std::string_view name) {
  if (net::equal_ignoring_case(resource.type.plural, name)) {
    return 0;
  }
  if (net::equal_ignoring_case(resource.singular, name)) {
    return 1;
  }
  const bool is_short = std::ranges::any_of(resource.short_names, [&](const std::string& s) {
    return net::equal_ignoring_case(s, name);
  });
  if (is_short) {
    return 2;
  }
  return net::equal_ignoring_case(resource.type.kind, name) ? std::optional(3) : std::nullopt;
}

}  // namespace

bool ApiResource::can(std::string_view verb) const {
  return std::ranges::find(verbs, verb) != verbs.end();
}

bool ApiResource::has_subresource(std::string_view name) const {
  return std::ranges::find(subresources, name) != subresources.end();
}

// The answer of one of the two roots.
struct Discovery::Part {
  std::string etag;
  std::vector<DiscoveredVersion> versions;
};

struct Discovery::Wanted {
  std::string name;
  std::optional<std::string> group;
  std::string version;
};

Discovery::Discovery(Client& client, DiscoveryOptions options)
    : client_(client), options_(options) {
  for (std::string_view root : kRoots) {
    parts_.emplace(root, std::make_unique<Part>());
  }
}

Discovery::~Discovery() = default;

Task<Result<ApiResource>> Discovery::find(std::string name, std::optional<std::string> group,
                                          std::string version) {
  const Wanted wanted{std::move(name), std::move(group), std::move(version)};
  CO_TRY(co_await ensure(false));
  const ApiResource* found = look_up(wanted);
  if (found == nullptr) {
    CO_TRY(co_await ensure(true));
    found = look_up(wanted);
  }
  if (found == nullptr) {
    co_return fail(missing(wanted));
  }
  co_return *found;
}

Task<Result<std::vector<ApiResource>>> Discovery::resources() {
  CO_TRY(co_await ensure(false));
  std::vector<ApiResource> all;
  for (std::string_view root : kRoots) {
    for (const DiscoveredVersion& version : parts_.at(std::string(root))->versions) {
      all.insert(all.end(), version.resources.begin(), version.resources.end());
    }
  }
  co_return all;
}

// Loads when nothing is known, when it is old, or when something was missed and the last question
// is a while ago. One load at a time; who waits for it shares its result.
Task<Result<void>> Discovery::ensure(bool missed) {
  bool waited = false;
  while (loading_) {
    waited = true;
    CO_TRY(co_await loaded_.wait());
  }
  if (waited && !loaded_at_ && last_error_) {
    co_return fail(*last_error_);
  }
  const Instant now = client_.env().loop.now();
  const bool old = !loaded_at_ || now - *loaded_at_ >= options_.age_max;
  const bool may_ask = !asked_at_ || now - *asked_at_ >= options_.refresh_min;
  if (loaded_at_ && (!(old || missed) || !may_ask)) {
    co_return Result<void>();
  }
  Result<void> result = co_await refresh();
  const TaskContext& context = co_await current_context();
  // Old knowledge is better than none while the server cannot be asked.
  if (!result && loaded_at_ && !context.stop.stop_requested()) {
    co_return Result<void>();
  }
  co_return result;
}

Task<Result<void>> Discovery::refresh() {
  while (loading_) {
    CO_TRY(co_await loaded_.wait());
  }
  loading_ = true;
  asked_at_ = client_.env().loop.now();
  Result<void> result = co_await load();
  loading_ = false;
  const TaskContext& context = co_await current_context();
  last_error_.reset();
  if (result) {
    loaded_at_ = client_.env().loop.now();
  } else if (!context.stop.stop_requested()) {
    last_error_ = result.error();
  }
  loaded_.notify_all();
  co_return result;
}

Task<Result<void>> Discovery::load() {
  failures_.clear();
  for (std::string_view root : kRoots) {
    CO_TRY(co_await load_root(std::string(root)));
  }
  co_return Result<void>();
}

Task<Result<void>> Discovery::load_root(std::string path) {
  Part& part = *parts_.at(path);
  Client::RawRequest request{.target = path, .accept = std::string(kAccept)};
  if (!part.etag.empty()) {
    request.headers.set("If-None-Match", part.etag);
  }
  CO_TRY_ASSIGN(Client::RawResponse response, co_await client_.raw(std::move(request)));
  if (response.status == 304) {
    co_return Result<void>();
  }
  CO_TRY_ASSIGN(DiscoveryRoot root, internal::parse_discovery_root(response.body));
  part.etag.clear();
  if (!root.aggregated) {
    co_return co_await load_legacy(std::move(path), std::move(response.body));
  }
  for (DiscoveredVersion& version : root.versions) {
    if (!version.stale) {
      continue;
    }
    const std::string name = version.group + "/" + version.version;
    failures_.emplace(name, unavailable("the server could not reach " + name));
    auto before = std::ranges::find_if(part.versions, [&](const DiscoveredVersion& v) {
      return v.group == version.group && v.version == version.version;
    });
    if (version.resources.empty() && before != part.versions.end()) {
      version.resources = before->resources;
    }
  }
  part.versions = std::move(root.versions);
  part.etag = response.headers.get("etag").value_or("");
  co_return Result<void>();
}

// The way of servers before 1.26 and of small look-alikes: one question per version.
Task<Result<void>> Discovery::load_legacy(std::string path, std::string body) {
  CO_TRY_ASSIGN(DiscoveryRoot root, internal::parse_discovery_root(body));
  std::vector<Task<Result<std::vector<ApiResource>>>> questions;
  for (const DiscoveredVersion& version : root.versions) {
    questions.push_back(fetch_version(&client_, version.group, version.version));
  }
  std::vector<Result<std::vector<ApiResource>>> answers = co_await when_all(std::move(questions));
  const TaskContext& context = co_await current_context();
  if (context.stop.stop_requested()) {
    co_return fail(cancelled());
  }
  Part& part = *parts_.at(path);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    DiscoveredVersion& version = root.versions[i];
    if (answers[i]) {
      version.resources = *std::move(answers[i]);
      continue;
    }
    const std::string name =
        version.group.empty() ? version.version : version.group + "/" + version.version;
    failures_.emplace(name, std::move(answers[i]).error());
    auto before = std::ranges::find_if(part.versions, [&](const DiscoveredVersion& v) {
      return v.group == version.group && v.version == version.version;
    });
    if (before != part.versions.end()) {
      version.resources = before->resources;
    }
  }
  part.versions = std::move(root.versions);
  co_return Result<void>();
}

const ApiResource* Discovery::look_up(const Wanted& wanted) const {
  const ApiResource* best = nullptr;
  int best_fit = 0;
  auto consider = [&](const DiscoveredVersion& in, std::string_view name) {
    for (const ApiResource& resource : in.resources) {
      const std::optional<int> rank = fit(resource, name);
      if (rank && (best == nullptr || *rank < best_fit)) {
        best = &resource;
        best_fit = *rank;
      }
    }
  };
  // "jobs.batch", "jobs.v1.batch": what stands behind the first dot.
  const std::size_t dot = wanted.name.find('.');
  const std::string_view bare = std::string_view(wanted.name).substr(0, dot);
  const std::string_view rest =
      dot == std::string::npos ? std::string_view() : std::string_view(wanted.name).substr(dot + 1);
  for (std::string_view root : kRoots) {
    for (const DiscoveredVersion& in : parts_.at(std::string(root))->versions) {
      if ((wanted.group && in.group != *wanted.group) ||
          (!wanted.version.empty() && in.version != wanted.version)) {
        continue;
      }
      const bool fits_rest = rest == in.group || rest == in.version + "." + in.group ||
                             (in.group.empty() && rest == in.version);
      if (rest.empty() || fits_rest) {
        consider(in, bare);
      }
    }
  }
  return best;
}

Error Discovery::missing(const Wanted& wanted) const {
  std::string text = "the server does not serve \"" + wanted.name + "\"";
  if (wanted.group) {
    text += " in group \"" + *wanted.group + "\"";
  }
  if (!wanted.version.empty()) {
    text += " in version \"" + wanted.version + "\"";
  }
  for (const auto& [name, error] : failures_) {
    text += "; " + name + " did not answer: " + error.message;
  }
  return not_found(std::move(text));
}

}  // namespace codeflare::kube
