#include "sdk/code_secrets.h"

#include "base/base64.h"
#include "json/write.h"
#include "model/meta.h"
#include "ray/package.h"
#include "ray/zip_reader.h"
#include "sdk/job_marks.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace codeflare::sdk {

namespace {

constexpr std::string_view kPartsVolume = "code-parts";
constexpr std::string_view kPartsDirectory = "/codeflare/parts";
constexpr std::string_view kPartKey = "part";
// More than 8 MiB: a limit against archives that are not ours.
constexpr std::uint64_t kArchiveBytesMax = 4 * kCodeBytesMax;

const model::ResourceType kSecrets{
    .group = "", .version = "v1", .kind = "Secret", .plural = "secrets", .namespaced = true};

std::string secret_name(const std::string& job, std::size_t part) {
  return job + "-code-" + std::to_string(part);
}

// In the order of the parts, also beyond ten of them.
std::string part_file(std::size_t part) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04zu", part);
  return text.data();
}

std::string size_words(std::uint64_t bytes) {
  std::array<char, 32> text{};
  if (bytes < 1024) {
    std::snprintf(text.data(), text.size(), "%llu B", static_cast<unsigned long long>(bytes));
  } else if (bytes < (1u << 20)) {
    std::snprintf(text.data(), text.size(), "%.1f KiB", static_cast<double>(bytes) / 1024);
  } else {
    std::snprintf(text.data(), text.size(), "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  }
  return text.data();
}

std::string secret_body(const CodeOwner& owner, const CodeArchive& archive, std::size_t part) {
  const std::string_view bytes =
      std::string_view(archive.bytes).substr(part * kCodePartBytes, kCodePartBytes);
  std::string body;
  json::Writer writer(body);
  writer.begin_object();
  writer.key("apiVersion").string("v1").key("kind").string("Secret");
  writer.key("metadata").begin_object();
  writer.key("name").string(secret_name(owner.wrapper.name, part));
  writer.key("namespace").string(owner.wrapper.ns);
  writer.key("labels").begin_object();
  writer.key(kJobLabel).string(owner.wrapper.name).end_object();
  writer.key("annotations").begin_object();
  writer.key(kCodeAnnotation).string(archive.digest).end_object();
  writer.key("ownerReferences").begin_array().begin_object();
  writer.key("apiVersion").string("workload.codeflare.dev/v1beta1");
  writer.key("kind").string("AppWrapper");
  writer.key("name").string(owner.wrapper.name);
  writer.key("uid").string(owner.uid);
  writer.end_object().end_array().end_object();
  writer.key("immutable").boolean(true);
  writer.key("data").begin_object();
  writer.key(kPartKey).string(to_base64(bytes)).end_object();
  writer.end_object();
  return body;
}

bool is_ours(const kube::Object& secret, const CodeOwner& owner, const CodeArchive& archive) {
  const Result<json::Document> document = secret.parse();
  if (!document) {
    return false;
  }
  const json::Value* owners = document->root.get({"metadata", "ownerReferences"});
  const json::Value* notes = document->root.get({"metadata", "annotations"});
  return owners != nullptr && notes != nullptr &&
         notes->string_or_empty(kCodeAnnotation) == archive.digest &&
         std::ranges::any_of(owners->items(), [&](const json::Value& each) {
           return each.string_or_empty("uid") == owner.uid;
         });
}

Task<Result<void>> send_part(kube::Client& client, const CodeOwner& owner,
                             const CodeArchive& archive, std::size_t part) {
  const model::ObjectKey key{owner.wrapper.ns, secret_name(owner.wrapper.name, part)};
  std::string body = secret_body(owner, archive, part);
  const Result<kube::ObjectRef> made = co_await client.create(kSecrets, key.ns, std::move(body));
  if (made) {
    co_return Result<void>();
  }
  if (made.error().code != ErrorCode::already_exists) {
    co_return fail(made.error().with_context("code of job '" + owner.wrapper.name + "'"));
  }
  CO_TRY_ASSIGN(const kube::ObjectRef there, co_await client.get(kSecrets, key));
  if (!is_ours(*there, owner, archive)) {
    co_return fail(already_exists("secret '" + key.name + "' in namespace '" + key.ns +
                                  "' is not of this job; delete it or choose another name"));
  }
  co_return Result<void>();
}

Result<void> write_entry(FileSystem& files, const std::string& to, const ray::ZipEntry& entry) {
  // For whichever user the job runs as.
  constexpr std::uint32_t kReadable = 0444;
  constexpr std::uint32_t kOpen = 0777;
  const std::string path = join_path(to, entry.name);
  if (entry.directory) {
    return files.make_directories(path, kOpen);
  }
  if (const std::string parent = parent_path(entry.name); parent != ".") {
    TRY(files.make_directories(join_path(to, parent), kOpen));
  }
  const bool runs = (entry.mode & 0100) != 0;
  return files.write(path, entry.content,
                     {.mode = entry.mode | kReadable | (runs ? 0111u : 0u), .atomic = false});
}

}  // namespace

std::string CodeArchive::summary() const {
  return std::to_string(files) + (files == 1 ? " file, " : " files, ") + size_words(size);
}

Result<CodeArchive> pack_code(FileSystem& files, const std::string& directory) {
  const ray::PackageOptions options{
      .bytes_max = kCodeBytesMax,
      .limit_words = "the code of a job without a cluster may have up to"};
  Result<ray::Package> package =
      ray::package_directory(files, directory, options.default_excludes, options);
  if (!package && package.error().code != ErrorCode::too_large) {
    const bool missing = package.error().code == ErrorCode::not_found;
    return fail(invalid_argument(package.error().message +
                                 (missing ? "; give a directory that exists" : "")));
  }
  TRY(package);
  CodeArchive archive{.source = package->source, .digest = package->uri, .size = package->bytes};
  if (const std::size_t name = archive.digest.rfind('_'); name != std::string::npos) {
    archive.digest = archive.digest.substr(name + 1, archive.digest.rfind('.') - name - 1);
  }
  archive.files = static_cast<std::size_t>(std::ranges::count(
      package->entries, ray::PackageEntry::Kind::file, &ray::PackageEntry::kind));
  TRY_ASSIGN(archive.bytes, ray::package_bytes(files, *package));
  return archive;
}

Result<std::size_t> unpack_code(FileSystem& files, const std::string& from, const std::string& to) {
  TRY_ASSIGN(std::vector<std::string> names, files.list(from));
  // A mounted Secret has links of its own beside the parts.
  std::erase_if(names, [](const std::string& name) { return name.starts_with('.'); });
  std::ranges::sort(names);
  std::string bytes;
  for (const std::string& name : names) {
    TRY_ASSIGN(const std::string part, files.read(join_path(from, name)));
    bytes += part;
  }
  TRY_ASSIGN(const std::vector<ray::ZipEntry> entries,
             ray::read_zip(bytes, {.bytes_max = kArchiveBytesMax}));
  TRY(files.make_directories(to, 0777));
  std::size_t count = 0;
  for (const ray::ZipEntry& entry : entries) {
    TRY(write_entry(files, to, entry));
    count += entry.directory ? 0 : 1;
  }
  return count;
}

CodeMounts code_mounts(const std::string& job, std::size_t parts, const std::string& image,
                       const model::StringMap& resources) {
  CodeMounts mounts;
  json::Writer volumes(mounts.volumes.text);
  volumes.begin_array();
  volumes.begin_object().key("name").string(kCodeVolume);
  volumes.key("emptyDir").begin_object().end_object().end_object();
  volumes.begin_object().key("name").string(kPartsVolume);
  volumes.key("projected").begin_object().key("sources").begin_array();
  for (std::size_t part = 0; part < parts; ++part) {
    volumes.begin_object().key("secret").begin_object();
    volumes.key("name").string(secret_name(job, part));
    volumes.key("items").begin_array().begin_object();
    volumes.key("key").string(kPartKey).key("path").string(part_file(part));
    volumes.end_object().end_array().end_object().end_object();
  }
  volumes.end_array().end_object().end_object().end_array();

  const auto mount = [](json::Writer& writer, std::string_view name, std::string_view path) {
    writer.begin_object().key("name").string(name).key("mountPath").string(path);
  };
  json::Writer main(mounts.volume_mounts.text);
  main.begin_array();
  mount(main, kCodeVolume, kCodeDirectory);
  main.end_object().end_array();

  json::Writer init(mounts.init_containers.text);
  init.begin_array().begin_object();
  init.key("name").string("code").key("image").string(image);
  init.key("args").begin_array();
  for (const std::string_view word :
       {std::string_view("code"), std::string_view("unpack"), kPartsDirectory, kCodeDirectory}) {
    init.string(word);
  }
  init.end_array();
  init.key("resources").begin_object();
  for (const std::string_view which : {"requests", "limits"}) {
    init.key(which).begin_object();
    for (const std::string_view resource : {"cpu", "memory"}) {
      init.member_if_set(resource, model::find_or_empty(resources, resource));
    }
    init.end_object();
  }
  init.end_object();
  init.key("volumeMounts").begin_array();
  mount(init, kPartsVolume, kPartsDirectory);
  init.key("readOnly").boolean(true).end_object();
  mount(init, kCodeVolume, kCodeDirectory);
  init.end_object().end_array();
  init.end_object().end_array();
  return mounts;
}

Task<Result<void>> send_code(kube::Client& client, CodeOwner owner, const CodeArchive& archive) {
  for (std::size_t part = 0; part < archive.parts(); ++part) {
    CO_TRY(co_await send_part(client, owner, archive, part));
  }
  co_return Result<void>();
}

}  // namespace codeflare::sdk
