#include "apiserver/rest/internal/discovery.h"

#include "apiserver/rest/internal/negotiate.h"
#include "json/write.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace codeflare::apiserver::internal {
namespace {

void write_strings(json::Writer& writer, std::string_view key,
                   const std::vector<std::string>& values) {
  writer.key(key).begin_array();
  for (const std::string& value : values) {
    writer.string(value);
  }
  writer.end_array();
}

void write_strings_if_any(json::Writer& writer, std::string_view key,
                          const std::vector<std::string>& values) {
  if (!values.empty()) {
    write_strings(writer, key, values);
  }
}

std::vector<std::string> sorted(std::vector<std::string> values) {
  std::ranges::sort(values);
  return values;
}

std::string group_version(std::string_view group, std::string_view version) {
  std::string out(group);
  return group.empty() ? std::string(version) : out.append("/").append(version);
}

void write_group_version(json::Writer& writer, std::string_view group, std::string_view version) {
  writer.begin_object()
      .member("groupVersion", group_version(group, version))
      .member("version", version)
      .end_object();
}

void write_group(json::Writer& writer, const Registry::Group& group) {
  writer.member("name", group.name).key("versions").begin_array();
  for (const std::string& version : group.versions) {
    write_group_version(writer, group.name, version);
  }
  writer.end_array().key("preferredVersion");
  write_group_version(writer, group.name, group.versions.front());
}

const ServedVersion* served(const Resource& resource, std::string_view version) {
  const ServedVersion* found = resource.find_version(version);
  return found != nullptr && found->served ? found : nullptr;
}

// Some parents exist for their subresources only.
bool has_verbs(const Resource& resource) {
  return !resource.verbs.empty();
}

// As upstream lists them: clients that look here leave what goes away alone.
std::vector<std::string> listed_verbs(const Resource& resource) {
  std::vector<std::string> verbs = sorted(resource.verbs);
  if (resource.terminating) {
    std::erase_if(verbs, [](const std::string& verb) {
      return verb == "create" || verb == "patch" || verb == "update";
    });
  }
  return verbs;
}

void write_resource(json::Writer& writer, const Resource& resource, const ServedVersion& version) {
  writer.begin_object()
      .member("name", resource.plural)
      .member("singularName", resource.singular)
      .key("namespaced")
      .boolean(resource.namespaced)
      .member("kind", resource.kind);
  write_strings(writer, "verbs", listed_verbs(resource));
  write_strings_if_any(writer, "shortNames", resource.short_names);
  write_strings_if_any(writer, "categories", resource.categories);
  writer.member_if_set("storageVersionHash", version.storage_version_hash).end_object();
}

void write_subresource(json::Writer& writer, const Resource& resource, const Subresource& sub) {
  writer.begin_object()
      .member("name", resource.plural + "/" + sub.name)
      .member("singularName", "")
      .key("namespaced")
      .boolean(resource.namespaced)
      .member_if_set("group", sub.group)
      .member_if_set("version", sub.version)
      .member("kind", sub.kind);
  write_strings(writer, "verbs", sorted(sub.verbs));
  writer.end_object();
}

std::vector<Subresource> sorted_subresources(const ServedVersion& version) {
  std::vector<Subresource> subs = version.subresources;
  std::ranges::sort(subs, {}, &Subresource::name);
  return subs;
}

void write_kind(json::Writer& writer, std::string_view group, std::string_view version,
                std::string_view kind) {
  writer.key("responseKind")
      .begin_object()
      .member("group", group)
      .member("version", version)
      .member("kind", kind)
      .end_object();
}

void write_aggregated_resource(json::Writer& writer, const Resource& resource,
                               const ServedVersion& version) {
  writer.begin_object().member("resource", resource.plural);
  if (has_verbs(resource)) {
    write_kind(writer, resource.group, version.version, resource.kind);
  } else {
    // As upstream: clients then take the subresources and leave the parent out.
    write_kind(writer, "", "", "");
  }
  writer.member("scope", resource.namespaced ? "Namespaced" : "Cluster")
      .member("singularResource", resource.singular);
  write_strings(writer, "verbs", listed_verbs(resource));
  write_strings_if_any(writer, "shortNames", resource.short_names);
  write_strings_if_any(writer, "categories", resource.categories);
  if (!version.subresources.empty()) {
    writer.key("subresources").begin_array();
    for (const Subresource& sub : sorted_subresources(version)) {
      writer.begin_object().member("subresource", sub.name);
      const bool own = sub.version.empty();
      write_kind(writer, own ? resource.group : sub.group, own ? version.version : sub.version,
                 sub.kind);
      write_strings(writer, "verbs", sorted(sub.verbs));
      writer.end_object();
    }
    writer.end_array();
  }
  writer.end_object();
}

// FNV-1a: it tells documents of one server apart, nothing depends on it being hard to guess.
std::string etag_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  char digits[16];
  char* end = std::to_chars(digits, digits + sizeof digits, hash, 16).ptr;
  return "\"" + std::string(digits, end) + "-" + std::to_string(text.size()) + "\"";
}

struct Choice {
  std::string aggregated;  // "", "v2" or "v2beta1"
  bool acceptable = true;
};

Choice choose(std::optional<std::string_view> accept) {
  if (!accept || accept->empty()) {
    return {};
  }
  for (const AcceptClause& clause : parse_accept(*accept)) {
    if (clause.type != kJson && clause.type != "*/*" && clause.type != "application/*") {
      continue;
    }
    auto param = [&](std::string_view name) {
      auto at = clause.params.find(name);
      return at == clause.params.end() ? std::string_view() : std::string_view(at->second);
    };
    if (param("as").empty()) {
      return {};
    }
    if (param("as") == "APIGroupDiscoveryList" && param("g") == "apidiscovery.k8s.io" &&
        (param("v") == "v2" || param("v") == "v2beta1")) {
      return {.aggregated = std::string(param("v"))};
    }
  }
  return {.acceptable = false};
}

std::string document_of(const Registry& registry, std::string_view path,
                        std::string_view aggregated) {
  if (!aggregated.empty()) {
    return aggregated_document(registry, aggregated, path == "/api");
  }
  if (path == "/api") {
    return legacy_versions_document();
  }
  if (path == "/apis") {
    return group_list_document(registry);
  }
  if (path.starts_with("/api/")) {
    return resource_list_document(registry, "", path.substr(5));
  }
  path.remove_prefix(std::string_view("/apis/").size());
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos
             ? group_document(registry, path)
             : resource_list_document(registry, path.substr(0, slash), path.substr(slash + 1));
}

}  // namespace

std::string legacy_versions_document() {
  return R"({"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]})"
         "\n";
}

std::string group_list_document(const Registry& registry) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object().member("kind", "APIGroupList").member("apiVersion", "v1");
  writer.key("groups").begin_array();
  for (const Registry::Group& group : registry.groups()) {
    if (!group.name.empty()) {
      writer.begin_object();
      write_group(writer, group);
      writer.end_object();
    }
  }
  writer.end_array().end_object();
  return out += '\n';
}

std::string group_document(const Registry& registry, std::string_view group) {
  std::string out;
  for (const Registry::Group& candidate : registry.groups()) {
    if (!group.empty() && candidate.name == group) {
      json::Writer writer(out);
      writer.begin_object().member("kind", "APIGroup").member("apiVersion", "v1");
      write_group(writer, candidate);
      writer.end_object();
      out += '\n';
    }
  }
  return out;
}

std::string resource_list_document(const Registry& registry, std::string_view group,
                                   std::string_view version) {
  std::string out;
  for (const Registry::Group& candidate : registry.groups()) {
    if (candidate.name != group ||
        std::ranges::find(candidate.versions, version) == candidate.versions.end()) {
      continue;
    }
    json::Writer writer(out);
    writer.begin_object().member("kind", "APIResourceList");
    if (!group.empty()) {
      writer.member("apiVersion", "v1");
    }
    writer.member("groupVersion", group_version(group, version)).key("resources").begin_array();
    for (const ResourcePtr& resource : candidate.resources) {
      const ServedVersion* found = served(*resource, version);
      if (found == nullptr) {
        continue;
      }
      if (has_verbs(*resource)) {
        write_resource(writer, *resource, *found);
      }
      for (const Subresource& sub : sorted_subresources(*found)) {
        write_subresource(writer, *resource, sub);
      }
    }
    writer.end_array().end_object();
    out += '\n';
  }
  return out;
}

std::string aggregated_document(const Registry& registry, std::string_view version, bool core) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object()
      .member("kind", "APIGroupDiscoveryList")
      .member("apiVersion", "apidiscovery.k8s.io/" + std::string(version));
  writer.key("metadata").begin_object().end_object().key("items").begin_array();
  for (const Registry::Group& group : registry.groups()) {
    if (group.name.empty() != core) {
      continue;
    }
    writer.begin_object().key("metadata").begin_object().member_if_set("name", group.name);
    writer.key("creationTimestamp").null().end_object().key("versions").begin_array();
    for (const std::string& name : group.versions) {
      writer.begin_object().member("version", name).key("resources").begin_array();
      for (const ResourcePtr& resource : group.resources) {
        if (const ServedVersion* found = served(*resource, name)) {
          write_aggregated_resource(writer, *resource, *found);
        }
      }
      writer.end_array().member("freshness", "Current").end_object();
    }
    writer.end_array().end_object();
  }
  writer.end_array().end_object();
  return out += '\n';
}

const DiscoveryCache::Document* DiscoveryCache::find_or_make(const Registry& registry,
                                                             std::string_view path,
                                                             std::string_view aggregated) {
  if (generation_ != registry.generation()) {
    documents_.clear();
    generation_ = registry.generation();
  }
  std::pair<std::string, std::string> key(path, aggregated);
  auto at = documents_.find(key);
  if (at == documents_.end()) {
    std::string text = document_of(registry, path, aggregated);
    if (text.empty()) {
      return nullptr;  // not kept: paths of strangers are without number
    }
    std::string etag = etag_of(text);
    at = documents_.emplace(std::move(key), Document{Bytes::from(std::move(text)), etag}).first;
  }
  return &at->second;
}

std::optional<net::Response> DiscoveryCache::respond(const Registry& registry,
                                                     std::string_view path,
                                                     const net::Request& request) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  if (path != "/api" && path != "/apis" && !path.starts_with("/api/") &&
      !path.starts_with("/apis/")) {
    return std::nullopt;
  }
  const bool root = path == "/api" || path == "/apis";
  Choice choice = choose(request.headers.get("Accept"));
  if (!root) {
    choice.aggregated.clear();
  }
  const Document* document = find_or_make(registry, path, choice.aggregated);
  if (document == nullptr) {
    return std::nullopt;
  }
  std::string type(kJson);
  if (!choice.aggregated.empty()) {
    type += ";g=apidiscovery.k8s.io;v=" + choice.aggregated + ";as=APIGroupDiscoveryList";
  }
  if (request.headers.get("If-None-Match") == document->etag) {
    net::Response response;
    response.status = 304;
    response.headers.set("ETag", document->etag);
    response.headers.set("Vary", "Accept");
    return response;
  }
  net::Response response = net::make_response(200, type, document->text);
  response.headers.set("ETag", document->etag);
  response.headers.set("Vary", "Accept");
  response.headers.set("Cache-Control", "public");
  return response;
}

}  // namespace codeflare::apiserver::internal
