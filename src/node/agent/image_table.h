#pragma once

#include "base/result.h"
#include "model/codec/codec.h"
#include "model/extra.h"
#include "model/meta.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::node {

// The files that stand for an image on this machine: a virtual environment or other directory, or a
// whole root file system.
struct ImageEntry {
  std::string image;  // "rayproject/ray:*": a star is any text
  std::string root;   // a root file system; empty: the machine's programs
  // Directories that containers see too, read-only, at the same path.
  std::vector<std::string> directories;
  std::vector<std::string> entrypoint;
  std::vector<std::string> args;
  model::StringMap env;
  std::string workdir;
  // Whom containers run as that do not say; empty: root.
  std::optional<std::int64_t> user;
  std::optional<std::int64_t> group;
  model::Extra extra;

  friend bool operator==(const ImageEntry&, const ImageEntry&) = default;
};
const model::codec::StructInfo& describe(model::codec::Tag<ImageEntry>);

// Images of this node by pattern; the first that matches counts.
class ImageTable {
 public:
  ImageTable() = default;
  explicit ImageTable(std::vector<ImageEntry> entries) : entries_(std::move(entries)) {}
  // {"images":[{"image":"rayproject/ray:*","directories":["/opt/ray"]}]}
  static Result<ImageTable> parse(std::string_view json);

  // The same as a file, for people to read too.
  std::string to_json() const;

  // Null when nothing stands for it. Without an entry python, busybox, ubuntu and debian mean this
  // machine's programs.
  const ImageEntry* find(std::string_view image) const;
  const std::vector<ImageEntry>& entries() const { return entries_; }

  // Replaces the entry of the same pattern, and says that there was one. A new one comes before
  // those that are there, names without a star before those with one: what is meant more exactly,
  // or later, counts.
  bool put(ImageEntry entry);
  // Behind all others, which win over it.
  void add_last(ImageEntry entry) { entries_.push_back(std::move(entry)); }
  // True when there was one.
  bool remove(std::string_view image);

  friend bool operator==(const ImageTable&, const ImageTable&) = default;

 private:
  std::vector<ImageEntry> entries_;
  model::Extra extra_;  // of the file
};

// The name without what registries and tools put in front of it, and with its tag:
// "docker.io/library/codeflare", "localhost/codeflare:latest" and "codeflare" are the same image.
std::string familiar_name(std::string_view image);

// The images that a node has by itself: our own program of this version, whose file is `program`.
std::vector<ImageEntry> own_images(const std::string& program, const std::string& version);

// Whether the text is what the pattern describes.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace codeflare::node
