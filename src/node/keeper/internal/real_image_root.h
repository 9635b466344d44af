#pragma once

#include "base/result.h"

#include <string>
#include <vector>

// The root of a container, made from that of an image or of the machine, which stays as it is.
namespace codeflare::node::internal {

struct ImageRoot {
  std::string image;    // a read-only root; names without commas and colons, as `scratch`
  std::string scratch;  // a file system in memory: all that is changed lies there
  std::string root;     // an empty directory of it, to become the container's root
  // Directories that are changed: they are the container's, whoever owns those of the image. One
  // that is a link in the image stays so.
  std::vector<std::string> own;
  // Files that the pod has of its own; whoever mounts them finds no link there.
  std::vector<std::string> files;
};

// Mounts the root: an overlay of the image. Where the kernel rejects that, and where something is
// mounted in the image, which an overlay would not show and might uncover, entry by entry: then
// what is not among `own` is read-only. The directories of every container (/dev, /etc, /proc,
// /run, /tmp, /var/tmp) are not links, wherever the image's lead.
Result<void> make_image_root(const ImageRoot& made);

// Brings the entries of one directory to the same place in the root: links again, directories that
// lead to some of `own` as directories, the rest bound read-only.
Result<void> bring_entries(const ImageRoot& made, const std::string& directory);

// Whether the directory is one of `own` or of those of every container, or leads to one.
bool leads_to_own(const ImageRoot& made, const std::string& directory);

}  // namespace codeflare::node::internal
