#pragma once

#include "base/result.h"
#include "up/archive/tar_reader.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace codeflare::up {

// Where the content of a file is: the entry of that number in a layer.
struct ContentId {
  std::size_t layer = 0;
  std::size_t entry = 0;

  friend auto operator<=>(const ContentId&, const ContentId&) = default;
};

// The file system of an image, put together from its layers in memory: names and modes, no content.
// No path leads out of it, whatever the layers say: ".." stops at the root, and links are followed
// inside of the tree. So whoever writes it out, links last, writes below one directory only.
class ImageTree {
 public:
  struct Node {
    enum class Type : std::uint8_t { directory, file, symlink };
    Type type = Type::directory;
    std::uint32_t mode = 0755;
    std::string link{};   // of a symlink, as it is written
    ContentId content{};  // of a file; hard links share it
    std::size_t layer = 0;
    std::map<std::string, std::unique_ptr<Node>, std::less<>> children{};
  };

  // Entries in order, layer by layer; `entry` counts those of the layer. Devices are left out.
  Result<void> add(std::size_t layer, std::size_t entry, const TarEntry& what);

  const Node& root() const { return root_; }
  std::size_t size() const { return size_; }
  // The node at a path of plain names; null: there is none. Follows no link.
  const Node* find(std::string_view path) const;

 private:
  Result<Node*> directory_for(std::string_view path, std::size_t layer);
  Result<Node*> existing(std::string_view path);
  void remove_lower(Node& directory, std::size_t layer);

  Node root_;
  std::size_t size_ = 0;
};

}  // namespace codeflare::up
