#include "node/agent/image_table.h"

#include "base/check.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/codec/describe.h"

#include <algorithm>
#include <utility>

namespace codeflare::node {

namespace {

struct ImageFile {
  std::vector<ImageEntry> images;
  model::Extra extra;
};

const model::codec::StructInfo& describe(model::codec::Tag<ImageFile>) {
  using model::codec::field;
  static constexpr model::codec::Field kFields[] = {field<&ImageFile::images>("images")};
  static constexpr model::codec::StructInfo kInfo = model::codec::struct_info<ImageFile>(kFields);
  return kInfo;
}

bool is_absolute(const std::string& path) {
  return path.starts_with('/');
}

bool has_star(const std::string& pattern) {
  return pattern.contains('*');
}

// "busybox" of "HOST/library/busybox": people leave that out or not.
std::string_view short_name(std::string_view image) {
  constexpr std::string_view kLibrary = "library/";
  const std::size_t at = image.find(kLibrary);
  const bool whole_part = at == 0 || (at != std::string_view::npos && image[at - 1] == '/');
  return whole_part ? image.substr(at + kLibrary.size()) : image;
}

// "python", "python:3.11-slim", "python@sha256:..."; not "python3" or "me/python".
bool is_of(std::string_view image, std::string_view name) {
  if (!image.starts_with(name)) {
    return false;
  }
  const std::string_view rest = image.substr(name.size());
  return rest.empty() || rest.starts_with(':') || rest.starts_with('@');
}

// Common images that need no entry: this machine's programs, with what the image runs by itself.
ImageEntry builtin(std::string name, std::string program) {
  ImageEntry entry;
  entry.image = std::move(name);
  entry.args = {std::move(program)};
  return entry;
}

const ImageEntry* find_builtin(std::string_view image) {
  static const std::vector<ImageEntry> kBuiltin = {
      builtin("python", "python3"), builtin("busybox", "sh"), builtin("ubuntu", "bash"),
      builtin("debian", "bash")};
  const std::string_view name = short_name(image);
  const auto found = std::ranges::find_if(
      kBuiltin, [&](const ImageEntry& entry) { return is_of(name, entry.image); });
  return found == kBuiltin.end() ? nullptr : &*found;
}

}  // namespace

const model::codec::StructInfo& describe(model::codec::Tag<ImageEntry>) {
  using model::codec::field;
  static constexpr model::codec::Field kFields[] = {
      field<&ImageEntry::image>("image"),
      field<&ImageEntry::root>("root"),
      field<&ImageEntry::directories>("directories"),
      field<&ImageEntry::entrypoint>("entrypoint"),
      field<&ImageEntry::args>("args"),
      field<&ImageEntry::env>("env"),
      field<&ImageEntry::workdir>("workdir"),
      field<&ImageEntry::user>("user"),
      field<&ImageEntry::group>("group"),
  };
  static constexpr model::codec::StructInfo kInfo = model::codec::struct_info<ImageEntry>(kFields);
  return kInfo;
}

Result<ImageTable> ImageTable::parse(std::string_view json) {
  TRY_ASSIGN(const json::Document document, json::parse(json));
  ImageFile file;
  TRY(model::codec::decode(describe(model::codec::Tag<ImageFile>()), document.root, &file));
  for (const ImageEntry& entry : file.images) {
    if (entry.image.empty()) {
      return fail(invalid_argument("an image without a name"));
    }
    if ((!entry.root.empty() && !is_absolute(entry.root)) ||
        !std::ranges::all_of(entry.directories, is_absolute)) {
      return fail(invalid_argument("image " + entry.image + ": its directories must be absolute"));
    }
  }
  ImageTable table(std::move(file.images));
  table.extra_ = std::move(file.extra);
  return table;
}

std::string ImageTable::to_json() const {
  const ImageFile file{.images = entries_, .extra = extra_};
  const std::string compact = model::to_json_text(describe(model::codec::Tag<ImageFile>()), &file);
  const Result<json::Document> tree = json::parse(compact);
  CHECK(tree.has_value(), "what was written is JSON");
  return json::to_pretty_text(tree->root) + "\n";
}

bool ImageTable::put(ImageEntry entry) {
  const auto same = std::ranges::find(entries_, entry.image, &ImageEntry::image);
  if (same != entries_.end()) {
    *same = std::move(entry);
    return true;
  }
  const auto at = entry.image.contains('*')
                      ? std::ranges::find_if(entries_, has_star, &ImageEntry::image)
                      : entries_.begin();
  entries_.insert(at, std::move(entry));
  return false;
}

bool ImageTable::remove(std::string_view image) {
  return std::erase_if(entries_, [&](const ImageEntry& entry) { return entry.image == image; }) > 0;
}

const ImageEntry* ImageTable::find(std::string_view image) const {
  const std::string familiar = familiar_name(image);
  const auto found = std::ranges::find_if(entries_, [&](const ImageEntry& entry) {
    return matches_pattern(entry.image, image) ||
           matches_pattern(familiar_name(entry.image), familiar);
  });
  return found == entries_.end() ? find_builtin(image) : &*found;
}

std::string familiar_name(std::string_view image) {
  for (const std::string_view prefix : {"docker.io/library/", "docker.io/", "localhost/"}) {
    if (image.starts_with(prefix)) {
      image.remove_prefix(prefix.size());
      break;
    }
  }
  const std::string_view last = image.substr(image.rfind('/') + 1);
  const bool whole = last.contains(':') || last.contains('@') || last.contains('*');
  return std::string(image) + (whole ? "" : ":latest");
}

std::vector<ImageEntry> own_images(const std::string& program, const std::string& version) {
  std::vector<ImageEntry> images;
  for (const char* name : {"codeflare:", "lattice-operator-internal:"}) {
    ImageEntry entry;
    entry.image = name + version;
    entry.directories = {program};
    entry.entrypoint = {program};
    images.push_back(std::move(entry));
  }
  return images;
}

bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t in_text = 0;
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  while (in_text < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      retry = in_text;
    } else if (at < pattern.size() && pattern[at] == text[in_text]) {
      ++at;
      ++in_text;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_text = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace codeflare::node
