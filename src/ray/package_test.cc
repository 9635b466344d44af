#include "ray/package.h"

#include "base/env/real_env.h"
#include "base/env/sim_env.h"
#include "ray/testing/zip_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace codeflare::ray {
namespace {

using testing::read_zip;
using testing::ZipEntry;

using Files = std::vector<std::pair<std::string, std::string>>;

// A tree in memory; a name with a slash at its end is an empty directory.
class Tree {
 public:
  explicit Tree(const Files& content) {
    EXPECT_TRUE(files().make_directories("/w"));
    for (const auto& [name, text] : content) {
      add(name, text);
    }
  }
  void add(const std::string& name, const std::string& text) {
    const std::string path = "/w/" + name;
    if (name.ends_with('/')) {
      EXPECT_TRUE(files().make_directories(path));
      return;
    }
    EXPECT_TRUE(files().make_directories(parent_path(path)));
    EXPECT_TRUE(files().write(path, text));
  }
  FileSystem& files() { return sim_.env().files; }
  Result<Package> package(const PackageOptions& options = {},
                          const std::vector<std::string>& excludes = {}) {
    return package_directory(files(), "/w", excludes, options);
  }
  std::string uri(const PackageOptions& options = {}) { return package(options).value().uri; }

 private:
  SimEnv sim_;
};

const Files kSmall = {{"main.py", "print(\"hi\")\n"}, {"sub/a.txt", "x"}};

Files with(Files files, const Files& more) {
  files.insert(files.end(), more.begin(), more.end());
  return files;
}

std::vector<std::string> names(const std::vector<ZipEntry>& entries) {
  std::vector<std::string> out;
  for (const ZipEntry& entry : entries) {
    out.push_back(entry.name);
  }
  return out;
}

// Each computed by Ray 2.60's own get_uri_for_directory.
TEST(Package, has_the_name_that_ray_gives) {
  EXPECT_EQ(Tree(kSmall).uri(), "gcs://_ray_pkg_5ba67df8087a8380.zip");
  EXPECT_EQ(Tree(with(kSmall, {{"empty/", ""}})).uri(), "gcs://_ray_pkg_f6216d63f78af5df.zip");
}

TEST(Package, leaves_out_what_gitignore_says_unless_told_otherwise) {
  Tree tree(with(kSmall, {{".gitignore", "*.log\nbuild/\n!keep.log\n"},
                          {"x.log", "1"},
                          {"keep.log", "2"},
                          {"build/o", "3"}}));
  EXPECT_EQ(tree.uri(), "gcs://_ray_pkg_32c0ac96ec85df64.zip");
  EXPECT_EQ(tree.uri({.honor_gitignore = false}), "gcs://_ray_pkg_63eca1bf88121711.zip");
  const auto entries = read_zip(package_bytes(tree.files(), tree.package().value()).value());
  EXPECT_EQ(names(entries),
            (std::vector<std::string>{".gitignore", "keep.log", "main.py", "sub/a.txt"}));
}

TEST(Package, honors_ignore_files_of_every_level) {
  Tree tree({{"a/.rayignore", "secret\n/top\n"},
             {"a/secret", "1"},
             {"a/b/secret", "2"},
             {"a/b/top", "3"},
             {"a/top", "4"},
             {"secret", "5"},
             {"gone/.gitignore", "*\n"},
             {"gone/x", "6"}});
  std::vector<std::string> paths;
  for (const PackageEntry& entry : tree.package().value().entries) {
    paths.push_back(entry.path);
  }
  EXPECT_EQ(paths,
            (std::vector<std::string>{".", "a", "a/.rayignore", "a/b", "a/b/top", "secret"}));
}

TEST(Package, says_when_an_ignore_file_leaves_out_everything) {
  Tree tree({{".gitignore", ".*\n"}, {"main.py", "1"}});
  const Package package = tree.package().value();
  EXPECT_TRUE(package.all_excluded);
  EXPECT_TRUE(package.entries.empty());
  EXPECT_EQ(package.uri, "gcs://_ray_pkg_3030303030303030.zip");
}

TEST(Package, is_a_zip_of_its_files_with_their_modes) {
  Tree tree(with(kSmall, {{"empty/", ""}, {"long", std::string(10'000, 'x')}}));
  ASSERT_TRUE(tree.files().write("/w/run", "#!", {.mode = 0755}));
  Package package = tree.package().value();
  const std::string bytes = package_bytes(tree.files(), package).value();
  EXPECT_EQ(bytes, package_bytes(tree.files(), package).value());
  const auto entries = read_zip(bytes);
  EXPECT_EQ(names(entries),
            (std::vector<std::string>{"empty/", "long", "main.py", "run", "sub/a.txt"}));
  EXPECT_EQ(entries[1].content, std::string(10'000, 'x'));
  EXPECT_LT(bytes.size(), 2'000u);
  EXPECT_EQ(entries[2].content, "print(\"hi\")\n");
  EXPECT_EQ(entries[3].mode & 0777, 0755u);
  package.top_directory = "pkg";
  EXPECT_EQ(names(read_zip(package_bytes(tree.files(), package).value()))[1], "pkg/long");
}

TEST(Package, is_rejected_when_too_large_with_what_to_leave_out) {
  Files files = {{"main.py", "x"}, {"data/small", std::string(10, 'x')}};
  for (int i = 0; i < 12; ++i) {
    files.push_back(
        {"data/" + std::to_string(i), std::string(100 + static_cast<std::size_t>(i), 'x')});
  }
  Tree tree(files);
  const auto package = tree.package({.bytes_max = 1'000});
  ASSERT_FALSE(package);
  EXPECT_EQ(package.error().code, ErrorCode::too_large);
  const auto* detail = dynamic_cast<const PackageTooLarge*>(package.error().detail.get());
  ASSERT_NE(detail, nullptr);
  EXPECT_EQ(detail->bytes, 1'277u);
  ASSERT_EQ(detail->largest.size(), 10u);
  EXPECT_EQ(detail->largest[0].path, "data/11");
  EXPECT_EQ(detail->largest[9].size, 102u);
  EXPECT_EQ(detail->advice, (std::vector<std::string>{"/data/11", "/data/10", "/data/9"}));
  EXPECT_TRUE(
      package.error().message.starts_with("/w: 1.2 KiB of files, Ray accepts packages of up to "
                                          "1000 B; largest files: data/11 (111 B), "))
      << package.error().message;
  EXPECT_TRUE(
      package.error().message.ends_with("; add to .rayignore: /data/11, /data/10, /data/9"));
  tree.add(".rayignore", "/data/11\n/data/10\n/data/9\n");
  EXPECT_TRUE(tree.package({.bytes_max = 1'000}));
}

TEST(Package, advises_directories_when_many_small_files_are_the_cause) {
  Files files;
  for (int i = 0; i < 50; ++i) {
    files.push_back({"many/" + std::to_string(i), std::string(100, 'x')});
  }
  Tree tree(files);
  const auto package = tree.package({.bytes_max = 100});
  const auto* detail = dynamic_cast<const PackageTooLarge*>(package.error().detail.get());
  ASSERT_NE(detail, nullptr);
  EXPECT_EQ(detail->advice.size(), 11u);
  EXPECT_EQ(detail->advice.back(), "/many/");
}

TEST(Package, is_not_packed_when_its_files_have_changed) {
  Tree tree(kSmall);
  const Package package = tree.package().value();
  tree.add("main.py", "print(\"ho\")\n");
  EXPECT_EQ(package_bytes(tree.files(), package).error().code, ErrorCode::conflict);
  tree.add("main.py", "longer than it was before");
  EXPECT_EQ(package_bytes(tree.files(), package).error().code, ErrorCode::conflict);
  ASSERT_TRUE(tree.files().remove("/w/main.py"));
  EXPECT_EQ(package_bytes(tree.files(), package).error().code, ErrorCode::conflict);
}

TEST(Package, of_one_module_and_of_archives) {
  Tree tree(
      {{"mod.py", "x = 1\n"}, {"p.zip", "PK"}, {"p.tgz", "gz"}, {"a-1-py3-none-any.whl", "w"}});
  const Package module = package_module(tree.files(), "/w/mod.py", {}).value();
  const auto entries = read_zip(package_bytes(tree.files(), module).value());
  EXPECT_EQ(names(entries), (std::vector<std::string>{"mod.py"}));
  EXPECT_EQ(package_archive(tree.files(), "/w/p.zip", {}).value().uri,
            "gcs://_ray_pkg_e14e7438ed45ff5dc2ea8f847854b2fdc2afe1cf.zip");
  EXPECT_TRUE(package_archive(tree.files(), "/w/p.tgz", {}).value().uri.ends_with(".tar.gz"));
  const Package wheel = package_archive(tree.files(), "/w/a-1-py3-none-any.whl", {}).value();
  EXPECT_EQ(wheel.uri, "gcs://a-1-py3-none-any.whl");
  EXPECT_EQ(package_bytes(tree.files(), wheel), "w");
  EXPECT_EQ(package_archive(tree.files(), "/w", {}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(package_directory(tree.files(), "/w/mod.py", {}, {}).error().code,
            ErrorCode::invalid_argument);
}

TEST(Package, follows_links_and_names_those_that_lead_nowhere) {
  RealEnv world;
  FileSystem& files = world.env().files;
  const std::string root = ::testing::TempDir() + "package_follows_links";
  ASSERT_TRUE(files.remove_all(root));
  ASSERT_TRUE(files.make_directories(root + "/real"));
  ASSERT_TRUE(files.write(root + "/real/f", "1"));
  std::filesystem::create_symlink("real", root + "/link");
  std::filesystem::create_symlink("nowhere", root + "/dangling");
  const auto package = package_directory(files, root, {}, {});
  ASSERT_TRUE(package) << package.error().to_string();
  std::vector<std::string> paths;
  for (const PackageEntry& entry : package->entries) {
    paths.push_back(entry.path);
  }
  EXPECT_EQ(paths, (std::vector<std::string>{".", "dangling", "link", "link/f", "real", "real/f"}));
  EXPECT_EQ(names(read_zip(package_bytes(files, *package).value())),
            (std::vector<std::string>{"link/f", "real/f"}));
  // A circle ends where the system's own limit does: after 40 links, or earlier when the system has
  // to begin a lookup anew and counts its links twice.
  std::filesystem::create_symlink(".", root + "/real/self");
  const auto circle = package_directory(files, root + "/real", {}, {});
  ASSERT_TRUE(circle) << circle.error().to_string();
  EXPECT_LE(circle->entries.size(), 2 * 41u + 1);
  EXPECT_GE(circle->entries.size(), 2 * 10u + 1);
  EXPECT_TRUE(files.remove_all(root));
}

TEST(PackageOptions, come_from_rays_variables) {
  SimEnv sim;
  EXPECT_EQ(package_options(sim.env().variables, "/d").default_excludes.size(), 4u);
  EXPECT_TRUE(package_options(sim.env().variables, "/d").honor_gitignore);
  sim.set_variable("RAY_RUNTIME_ENV_IGNORE_GITIGNORE", "1");
  sim.set_variable("RAY_OVERRIDE_RUNTIME_ENV_DEFAULT_EXCLUDES", " a ,, b");
  const PackageOptions options = package_options(sim.env().variables, "/d");
  EXPECT_FALSE(options.honor_gitignore);
  EXPECT_EQ(options.default_excludes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options.base_directory, "/d");
}

}  // namespace
}  // namespace codeflare::ray
