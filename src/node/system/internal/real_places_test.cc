#include "node/system/mounts.h"
#include "node/system/namespaces.h"
#include "node/system/places.h"
#include "node/testing/scratch.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace codeflare::node {
namespace {

namespace fs = std::filesystem;

// A volume with things beside it that are none of its business.
struct Places {
  Places() {
    fs::create_directories(s.path("top/dir/inner"));
    fs::create_directories(s.path("outside"));
    top = *open_top(s.path("top"));
  }
  void link(const std::string& to, std::string_view name) { fs::create_symlink(to, s.path(name)); }
  Result<FileDescriptor> open(std::string_view path, const PlaceOptions& options = {}) {
    return open_place(top.get(), path, options);
  }
  // Which of the places below the scratch directory it is.
  std::string found(const Result<FileDescriptor>& place) {
    if (!place) {
      return place.error().message;
    }
    const fs::path path = fs::read_symlink("/proc/self/fd/" + std::to_string(place->get()));
    return path.lexically_relative(fs::canonical(s.path(""))).string();
  }

  testing::Scratch s;
  FileDescriptor top;
};

TEST(Places, are_found_through_links_that_stay_inside) {
  Places p;
  p.link("dir", "top/a");
  p.link("../a/./inner", "top/dir/b");
  EXPECT_EQ(p.found(p.open("dir/inner")), "top/dir/inner");
  EXPECT_EQ(p.found(p.open("a//inner/")), "top/dir/inner");
  EXPECT_EQ(p.found(p.open("dir/b")), "top/dir/inner");
  EXPECT_EQ(p.found(p.open("")), "top");
}

TEST(Places, outside_are_refused_whatever_leads_there) {
  Places p;
  p.link("../outside", "top/up");
  p.link(p.s.path("outside"), "top/absolute");
  p.link("absolute", "top/second");
  p.link("loop", "top/loop");
  for (const char* path : {"up", "absolute", "second", "..", "dir/../../outside"}) {
    const auto place = p.open(path, {.missing = Missing::made_directory});
    ASSERT_FALSE(place) << path << " is " << p.found(place);
    EXPECT_EQ(place.error().code, ErrorCode::permission_denied) << path;
  }
  EXPECT_FALSE(p.open("loop"));
  EXPECT_FALSE(p.open("nowhere"));
  EXPECT_TRUE(fs::is_empty(p.s.path("outside")));
}

TEST(Places, of_a_root_are_found_as_if_one_lived_there) {
  Places p;
  p.link("/dir", "top/absolute");
  p.link("absolute/inner", "top/second");
  p.link("../../../outside", "top/up");
  const PlaceOptions chrooted{.links = Links::chrooted, .missing = Missing::made_directory};
  EXPECT_EQ(p.found(p.open("/second", chrooted)), "top/dir/inner");
  EXPECT_EQ(p.found(p.open("/../dir", chrooted)), "top/dir");
  EXPECT_EQ(p.found(p.open("/up/x", chrooted)), "top/outside/x");
  EXPECT_TRUE(fs::is_empty(p.s.path("outside")));
}

TEST(Places, that_are_missing_are_made_as_what_is_asked_for) {
  Places p;
  EXPECT_EQ(p.found(p.open("new/er", {.missing = Missing::made_directory})), "top/new/er");
  EXPECT_EQ(p.found(p.open("other/file", {.missing = Missing::made_file})), "top/other/file");
  EXPECT_TRUE(fs::is_regular_file(p.s.path("top/other/file")));
  ASSERT_EQ(::mkfifo(p.s.path("top/pipe").c_str(), 0600), 0);
  EXPECT_EQ(p.found(p.open("pipe", {.missing = Missing::made_file})), "top/pipe");  // at once
}

TEST(Places, stay_inside_while_somebody_swaps_directories_and_links) {
  Places p;
  p.link("../outside", "top/other");
  fs::create_directories(p.s.path("outside/inner"));
  struct stat outside{};
  ASSERT_EQ(::stat(p.s.path("outside/inner").c_str(), &outside), 0);
  const pid_t swapper = ::fork();
  if (swapper == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    for (;;) {
      ::renameat2(p.top.get(), "dir", p.top.get(), "other", RENAME_EXCHANGE);
    }
  }
  int inside = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto place = p.open("dir/inner");
    struct stat info{};
    if (place && ::fstat(place->get(), &info) == 0) {
      EXPECT_NE(info.st_ino, outside.st_ino);
      ++inside;
    }
  }
  ::kill(swapper, SIGKILL);
  ::waitpid(swapper, nullptr, 0);
  EXPECT_GT(inside, 0);
}

// From now on this process is on a kernel that does not know the call, or filters it.
bool forget_call(std::uint32_t number, std::uint32_t answer) {
  std::array<sock_filter, 4> steps = {{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                                       {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, number},
                                       {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | answer},
                                       {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
  const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

constexpr int kNoNamespaces = 100;

// In a child: 0 when all is as it should be, else which step was wrong.
int bind_some(const testing::Scratch& s, std::uint32_t forgotten, std::uint32_t answer) {
  if (!enter_namespaces() || !make_mounts_private()) {
    return kNoNamespaces;
  }
  if (forgotten != 0 && !forget_call(forgotten, answer)) {
    return 1;
  }
  const auto bind = [&](const char* from, const char* to, bool read_only) -> Result<void> {
    TRY_ASSIGN(const FileDescriptor top, open_top(s.path("top")));
    TRY_ASSIGN(const FileDescriptor source, open_place(top.get(), from, {}));
    struct stat info{};
    const bool directory = ::fstat(source.get(), &info) == 0 && S_ISDIR(info.st_mode);
    const PlaceOptions made{.missing = directory ? Missing::made_directory : Missing::made_file};
    TRY_ASSIGN(const FileDescriptor target, open_place(top.get(), to, made));
    return bind_descriptor(source.get(), target.get(),
                           {.read_only = read_only, .stage = s.path("stage")});
  };
  const auto make = [&](const char* name) {
    return ::mkdir(s.path(name).c_str(), 0755) == 0 ? 0 : errno;
  };
  if (!bind("dir", "fixed", true) || make("top/fixed/x") != EROFS ||
      ::access(s.path("top/fixed/inner").c_str(), F_OK) != 0) {
    return 2;
  }
  if (!bind("dir", "open", false) || make("top/open/x") != 0 || make("top/dir/x") != EEXIST) {
    return 3;
  }
  struct statvfs limits{};
  if (::statvfs(s.path("top/open").c_str(), &limits) != 0 ||
      (limits.f_flag & (ST_NOSUID | ST_NODEV)) != (ST_NOSUID | ST_NODEV)) {
    return 6;
  }
  if (!bind("file", "copy", true) ||
      FileDescriptor(::open(s.path("top/copy").c_str(), O_WRONLY | O_CLOEXEC)) || errno != EROFS) {
    return 4;
  }
  return ::access(s.path("stage").c_str(), F_OK) == 0 ? 5 : 0;
}

TEST(Places, are_bound_on_kernels_of_all_ages) {
  struct Kernel {
    std::uint32_t forgotten;
    std::uint32_t answer;
  };
  for (const Kernel& kernel : {Kernel{0, 0}, Kernel{SYS_open_tree, ENOSYS},
                               Kernel{SYS_open_tree, EPERM}, Kernel{SYS_mount_setattr, ENOSYS}}) {
    Places p;
    ASSERT_TRUE(p.s.env.files.write(p.s.path("top/file"), "x"));
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(bind_some(p.s, kernel.forgotten, kernel.answer));
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNoNamespaces) {
      GTEST_SKIP() << "namespaces are forbidden here";
    }
    EXPECT_EQ(WEXITSTATUS(status), 0) << kernel.forgotten << " " << kernel.answer;
  }
}

TEST(Places, a_top_is_no_link) {
  Places p;
  p.link("top", "other");
  EXPECT_FALSE(open_top(p.s.path("other")));
  EXPECT_FALSE(open_top(p.s.path("nowhere")));
}

}  // namespace
}  // namespace codeflare::node
