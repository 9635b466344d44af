#include "cli/gather/manifest.h"

#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"
#include "json/yaml.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace codeflare::cli {

namespace {

constexpr std::size_t kBytesMax = 64u << 20;

std::string place(const std::string& file, std::size_t document) {
  return file + ": document " + std::to_string(document);
}

// JSON may be indented with tabs, which YAML forbids; YAML may begin with a brace, too.
Result<std::vector<json::Document>> parse_documents(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') {
    Result<json::Document> document = json::parse(text);
    if (document) {
      std::vector<json::Document> one;
      one.push_back(*std::move(document));
      return one;
    }
  }
  return json::parse_yaml(text);
}

void add_object(const json::Value& value, const std::string& file, std::size_t document,
                Manifests& out) {
  const auto wrong = [&](const std::string& what) {
    out.errors.push_back(invalid_argument(place(file, document) + ": " + what));
  };
  if (!value.is_object()) {
    return wrong("expected an object, got " + std::string(json::to_string(value.kind())));
  }
  Manifest manifest{.file = file,
                    .document = document,
                    .api_version = std::string(value.string_or_empty("apiVersion")),
                    .kind = std::string(value.string_or_empty("kind"))};
  if (manifest.api_version.empty() || manifest.kind.empty()) {
    return wrong(std::string(manifest.kind.empty() ? "kind" : "apiVersion") +
                 " is missing: every object needs apiVersion and kind");
  }
  if (const json::Value* items = value.find("items");
      items != nullptr && items->is_array() && manifest.kind.ends_with("List")) {
    for (const json::Value& item : items->items()) {
      add_object(item, file, document, out);
    }
    return;
  }
  const json::Value* metadata = value.find("metadata");
  for (const char* field : {"name", "namespace"}) {
    const json::Value* text = metadata != nullptr ? metadata->find(field) : nullptr;
    if (text != nullptr && !text->is_string() && !text->is_null()) {
      return wrong(manifest.kind + ": metadata." + field + ": expected text, got " +
                   std::string(json::to_string(text->kind())));
    }
  }
  if (metadata != nullptr) {
    manifest.ns = std::string(metadata->string_or_empty("namespace"));
    manifest.name = std::string(metadata->string_or_empty("name"));
  }
  if (manifest.name.empty() &&
      (metadata == nullptr || metadata->string_or_empty("generateName").empty())) {
    return wrong(manifest.kind + ": metadata.name is missing");
  }
  manifest.body = json::to_text(value);
  out.objects.push_back(std::move(manifest));
}

void append(Manifests& to, Manifests from) {
  std::ranges::move(from.objects, std::back_inserter(to.objects));
  std::ranges::move(from.errors, std::back_inserter(to.errors));
}

bool is_manifest_name(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

Manifests read_one(Session& session, const std::string& file) {
  Result<std::string> text = file == "-" ? session.console().read_input(kBytesMax)
                                         : session.env().files.read(file, kBytesMax);
  if (!text) {
    Manifests failed;
    failed.errors.push_back(std::move(text).error());
    return failed;
  }
  return parse_manifests(*text, file == "-" ? "standard input" : file);
}

bool is_directory(Session& session, const std::string& path) {
  // A link is judged by what it leads to: only a directory can be listed.
  const Result<FileInfo> info = session.env().files.info(path);
  return info && (info->type == FileInfo::Type::directory ||
                  (info->type == FileInfo::Type::link && session.env().files.list(path)));
}

}  // namespace

std::string Manifest::where() const {
  std::string text = place(file, document) + ", " + kind;
  if (!name.empty()) {
    text += " " + (ns.empty() ? name : ns + "/" + name);
  }
  return text;
}

Manifests parse_manifests(std::string_view text, const std::string& file) {
  Manifests manifests;
  Result<std::vector<json::Document>> documents = parse_documents(text);
  if (!documents) {
    manifests.errors.push_back(std::move(documents).error().with_context(file));
    return manifests;
  }
  for (std::size_t i = 0; i < documents->size(); ++i) {
    add_object((*documents)[i].root, file, i + 1, manifests);
  }
  if (documents->empty()) {
    manifests.errors.push_back(invalid_argument(file + ": no objects found"));
  }
  return manifests;
}

Manifests read_manifests(Session& session, const std::vector<std::string>& files) {
  Manifests all;
  for (const std::string& file : files) {
    if (file == "-" || !is_directory(session, file)) {
      append(all, read_one(session, file));
      continue;
    }
    Result<std::vector<std::string>> names = session.env().files.list(file);
    if (!names) {
      all.errors.push_back(std::move(names).error());
      continue;
    }
    const std::size_t before = all.objects.size() + all.errors.size();
    for (const std::string& name : *names) {
      if (is_manifest_name(name)) {
        append(all, read_one(session, join_path(file, name)));
      }
    }
    if (all.objects.size() + all.errors.size() == before) {
      all.errors.push_back(invalid_argument(file + ": no *.yaml, *.yml or *.json files found"));
    }
  }
  return all;
}

}  // namespace codeflare::cli
