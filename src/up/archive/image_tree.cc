#include "up/archive/image_tree.h"

#include "base/split.h"

#include <deque>
#include <utility>
#include <vector>

namespace codeflare::up {

namespace {

using Node = ImageTree::Node;

constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";
constexpr std::size_t kNodesMax = 4'000'000;
constexpr int kLinksMax = 40;  // as the kernel
constexpr std::size_t kDepthMax = 512;
constexpr std::size_t kNameMax = 255;
// Set-user-id would be of no use, and is none of ours to give.
constexpr std::uint32_t kModeBits = 01777;

using Steps = std::deque<std::string>;

void put_before(Steps& steps, std::string_view path) {
  const std::vector<std::string_view> parts = split(path, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!part->empty() && *part != ".") {
      steps.emplace_front(*part);
    }
  }
}

Result<void> check_name(std::string_view name) {
  if (name.size() > kNameMax || name.contains('\0')) {
    return fail(invalid_argument("layer has a name of " + std::to_string(name.size()) + " bytes"));
  }
  return {};
}

// A path walks up and down inside of the tree: a chroot's rules.
class Walk {
 public:
  explicit Walk(Node& root) : trail_{&root} {}
  Node& here() const { return *trail_.back(); }
  void up() {
    if (trail_.size() > 1) {
      trail_.pop_back();
    }
  }
  void to_root() { trail_.resize(1); }
  Result<void> down(Node& child) {
    if (trail_.size() >= kDepthMax) {
      return fail(invalid_argument("layer has a path that is too deep"));
    }
    trail_.push_back(&child);
    return {};
  }

 private:
  std::vector<Node*> trail_;
};

struct Split {
  std::string_view parent;
  std::string_view name;
};

Split split_path(std::string_view path) {
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? Split{"", path}
                                         : Split{path.substr(0, slash), path.substr(slash + 1)};
}

bool is_dots(std::string_view name) {
  return name.empty() || name == "." || name == "..";
}

std::size_t count_nodes(const Node& node) {
  std::size_t count = 1;
  for (const auto& [name, child] : node.children) {
    count += count_nodes(*child);
  }
  return count;
}

}  // namespace

// Missing directories are made; a link on the way leads on inside of the tree.
Result<Node*> ImageTree::directory_for(std::string_view path, std::size_t layer) {
  Steps steps;
  put_before(steps, path);
  Walk walk(root_);
  int links = 0;
  while (!steps.empty()) {
    const std::string name = std::move(steps.front());
    steps.pop_front();
    if (name == "..") {
      walk.up();
      continue;
    }
    TRY(check_name(name));
    std::unique_ptr<Node>& child = walk.here().children[name];
    if (child != nullptr && child->type == Node::Type::symlink) {
      if (++links > kLinksMax) {
        return fail(
            invalid_argument("layer has too many links on the way to " + std::string(path)));
      }
      const std::string target = child->link;
      if (target.starts_with('/')) {
        walk.to_root();
      }
      put_before(steps, target);
      if (steps.size() > kDepthMax) {
        return fail(invalid_argument("layer has a path that is too deep"));
      }
      continue;
    }
    if (child == nullptr || child->type == Node::Type::file) {
      size_ += child == nullptr ? 1 : 0;
      child = std::make_unique<Node>(Node{.layer = layer});
    }
    TRY(walk.down(*child));
  }
  return &walk.here();
}

// The node that a hard link means; links on the way are followed, the last one is not.
Result<Node*> ImageTree::existing(std::string_view path) {
  const Split parts = split_path(path);
  TRY_ASSIGN(Node * parent, directory_for(parts.parent, 0));
  const auto found = parent->children.find(parts.name);
  if (found == parent->children.end() || is_dots(parts.name)) {
    return fail(invalid_argument("layer has a hard link to " + std::string(path) +
                                 ", which is not in the image"));
  }
  return found->second.get();
}

void ImageTree::remove_lower(Node& directory, std::size_t layer) {
  std::erase_if(directory.children, [&](auto& item) {
    Node& child = *item.second;
    remove_lower(child, layer);
    // A directory of a lower layer that this one has put something into stays.
    if (child.layer < layer && child.children.empty()) {
      --size_;
      return true;
    }
    return false;
  });
}

Result<void> ImageTree::add(std::size_t layer, std::size_t entry, const TarEntry& what) {
  const Split parts = split_path(what.path);
  if (is_dots(parts.name)) {
    return {};  // the root itself
  }
  TRY(check_name(parts.name));
  if (size_ > kNodesMax) {
    return fail(invalid_argument("image has more than " + std::to_string(kNodesMax) + " files"));
  }
  TRY_ASSIGN(Node * parent, directory_for(parts.parent, layer));
  if (parts.name == kOpaque) {
    remove_lower(*parent, layer);
    return {};
  }
  if (parts.name.starts_with(kWhiteout)) {
    const auto hidden = parent->children.find(parts.name.substr(kWhiteout.size()));
    if (hidden != parent->children.end() && hidden->second->layer < layer) {
      size_ -= count_nodes(*hidden->second);
      parent->children.erase(hidden);
    }
    return {};
  }
  auto made = std::make_unique<Node>(Node{.mode = what.mode & kModeBits, .layer = layer});
  switch (what.type) {
    case TarEntry::Type::directory:
      break;
    case TarEntry::Type::file:
      made->type = Node::Type::file;
      made->content = {layer, entry};
      break;
    case TarEntry::Type::symlink:
      if (what.link.empty() || what.link.contains('\0')) {
        return fail(invalid_argument("layer has a link to nowhere: " + what.path));
      }
      made->type = Node::Type::symlink;
      made->link = what.link;
      break;
    case TarEntry::Type::hard_link: {
      TRY_ASSIGN(const Node* target, existing(what.link));
      if (target->type == Node::Type::directory) {
        return fail(invalid_argument("layer has a hard link to a directory: " + what.path));
      }
      made->type = target->type;
      made->mode = target->mode;
      made->link = target->link;
      made->content = target->content;
      break;
    }
    case TarEntry::Type::other:
      return {};  // a device: pods have their own
  }
  std::unique_ptr<Node>& there = parent->children[std::string(parts.name)];
  if (there != nullptr && there->type == Node::Type::directory &&
      made->type == Node::Type::directory) {
    there->mode = made->mode;
    there->layer = layer;
    return {};
  }
  size_ -= there == nullptr ? 0 : count_nodes(*there);
  ++size_;
  there = std::move(made);
  return {};
}

const Node* ImageTree::find(std::string_view path) const {
  const Node* node = &root_;
  for (const std::string_view name : split(path, '/')) {
    if (name.empty()) {
      continue;
    }
    const auto child = node->children.find(name);
    if (child == node->children.end()) {
      return nullptr;
    }
    node = child->second.get();
  }
  return node;
}

}  // namespace codeflare::up
