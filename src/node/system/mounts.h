#pragma once

#include "base/posix.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/mount.h>
#include <vector>

// Mounting in our own namespaces. Every function says in its error what was tried.
namespace codeflare::node {

// The restrictions of a mount. In none does a program get the rights of its file's owner.
struct MountLimits {
  bool read_only = false;
  bool devices = false;  // device files can be opened, and programs not started
};
// For mount_setattr().
mount_attr attributes_of(const MountLimits& limits);

// Directories are made with their parents, files empty; fine when they are there.
Result<void> make_directory(const std::string& path, std::uint32_t mode = 0755);
Result<void> make_file(const std::string& path);
Result<void> make_link(const std::string& to, const std::string& path);
Result<void> write_small_file(const std::string& path, std::string_view text);
Result<std::string> read_whole_file(const std::string& path);

// From now on nothing that is mounted here is seen elsewhere, nor the other way round.
Result<void> make_mounts_private();

Result<void> mount_tmpfs(const std::string& at, const std::string& options);
// An empty directory in place of another.
Result<void> cover_directory(const std::string& at);
// Names without commas and colons.
struct OverlayLayers {
  std::string lower;  // what is seen, and never changed
  std::string upper;  // what becomes of it; with `work`, in one file system that can be written to
  std::string work;
};
// Is forbidden (forbidden.h) where the kernel does not let users do it, or not with these
// layers; nothing is mounted then.
Result<void> mount_overlay(const std::string& at, const OverlayLayers& layers);
Result<void> mount_proc(const std::string& at);
// Makes a proc that containers see read-only, and empty what concerns the whole machine: the kernel
// lets whoever has the id of the machine's root read and write there, capabilities or not. So
// nobody in a container lowers the score by which the kernel chooses whom to kill, which every user
// may for processes of their own. Gives the proc that can still be written to.
Result<FileDescriptor> protect_proc(const std::string& proc);
// With everything that is mounted below; the target is made, as a file or a directory. A read-only
// one has no device files either.
Result<void> bind_mount(const std::string& source, const std::string& target, bool read_only);
Result<void> bind_limited(const std::string& source, const std::string& target,
                          const MountLimits& limits);
// The same for a place that others may have a hand in: a link on the way is an error, also one that
// has just been put there.
Result<void> bind_place(const std::string& source, const std::string& target);
// Without what is mounted below.
Result<void> bind_directory_alone(const std::string& source, const std::string& target);

// A mount point; what is mounted below it stays as it is.
Result<void> make_top_read_only(const std::string& path);

// `root` (a mount point) becomes "/", and the old root is gone.
Result<void> pivot_into(const std::string& root);

// The usual device files, and those of `more` that there are, from `source`, with pts of their own.
// Nobody changes their modes, owners and times there.
Result<void> make_devices(const std::string& source, const std::string& at,
                          const std::vector<std::string>& more = {});

// The machine's files that containers may see, read-only, below `to`: its programs and libraries
// and a list of names in /etc.
Result<void> bind_programs(const std::string& from, const std::string& to);

}  // namespace codeflare::node
