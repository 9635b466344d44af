#include "sdk/code_secrets.h"

#include "base/env/sim_env.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

class Tree {
 public:
  FileSystem& files() { return sim_.env().files; }
  void write(const std::string& path, std::string_view text, std::uint32_t mode = 0644) {
    ASSERT_TRUE(files().make_directories(parent_path(path)).has_value());
    ASSERT_TRUE(files().write(path, text, {.mode = mode}).has_value());
  }
  // As a projected volume shows them.
  void mount(const CodeArchive& archive) {
    for (std::size_t part = 0; part < archive.parts(); ++part) {
      std::string name = std::to_string(part);
      name.insert(0, 4 - name.size(), '0');
      write("/parts/" + name, archive.bytes.substr(part * kCodePartBytes, kCodePartBytes));
    }
  }

 private:
  SimEnv sim_;
};

// Hardly compresses.
std::string noise(std::size_t size) {
  std::string text;
  std::uint64_t state = 88172645463325252;
  while (text.size() < size) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    text += static_cast<char>(state);
  }
  return text;
}

TEST(CodeSecrets, brings_a_directory_to_the_pod_as_it_is) {
  Tree tree;
  tree.write("/code/main.py", "print(1)\n");
  tree.write("/code/pkg/tool.sh", "echo\n", 0700);
  tree.write("/code/data.log", "no");
  tree.write("/code/.gitignore", "*.log\n");
  tree.write("/code/large.bin", noise(2'500'000));
  const Result<CodeArchive> archive = pack_code(tree.files(), "/code");
  ASSERT_TRUE(archive.has_value()) << archive.error().message;
  EXPECT_EQ(archive->files, 4u);
  EXPECT_EQ(archive->parts(), 3u);
  EXPECT_EQ(archive->summary(), "4 files, 2.4 MiB");
  tree.mount(*archive);
  tree.write("/parts/..data", "a link of the kubelet");
  const Result<std::size_t> count = unpack_code(tree.files(), "/parts", "/workspace");
  ASSERT_TRUE(count.has_value()) << count.error().message;
  EXPECT_EQ(*count, 4u);
  EXPECT_EQ(tree.files().read("/workspace/main.py"), "print(1)\n");
  EXPECT_EQ(tree.files().info("/workspace/pkg/tool.sh")->mode, 0755u);
  EXPECT_EQ(tree.files().read("/workspace/large.bin"), noise(2'500'000));
  EXPECT_FALSE(tree.files().exists("/workspace/data.log"));
}

TEST(CodeSecrets, names_size_and_largest_files_of_a_directory_that_is_too_large) {
  Tree tree;
  for (int i = 0; i < 12; ++i) {
    tree.write("/code/f" + std::to_string(i), noise(800'000 + static_cast<std::size_t>(i)));
  }
  const Result<CodeArchive> archive = pack_code(tree.files(), "/code");
  ASSERT_FALSE(archive.has_value());
  EXPECT_EQ(archive.error().code, ErrorCode::too_large);
  const std::string& text = archive.error().message;
  EXPECT_TRUE(text.contains("/code: 9.2 MiB of files")) << text;
  EXPECT_TRUE(text.contains("may have up to 8.0 MiB")) << text;
  EXPECT_TRUE(text.contains("largest files: f11 (")) << text;
  EXPECT_FALSE(text.contains(" f1 (")) << text;  // ten are named
  EXPECT_TRUE(text.contains("f2 (")) << text;
}

TEST(CodeSecrets, rejects_a_missing_directory_and_damaged_parts) {
  Tree tree;
  EXPECT_EQ(pack_code(tree.files(), "/nowhere").error().code, ErrorCode::invalid_argument);
  tree.write("/parts/0000", "PK?");
  EXPECT_FALSE(unpack_code(tree.files(), "/parts", "/workspace"));
}

TEST(CodeSecrets, pods_mount_every_part_in_order) {
  const CodeMounts mounts =
      code_mounts("train", 2, "codeflare:1", {{"cpu", "2"}, {"x.y/gpu", "1"}});
  EXPECT_EQ(mounts.volumes.text,
            R"([{"name":"code","emptyDir":{}},{"name":"code-parts","projected":{"sources":[)"
            R"({"secret":{"name":"train-code-0","items":[{"key":"part","path":"0000"}]}},)"
            R"({"secret":{"name":"train-code-1","items":[{"key":"part","path":"0001"}]}}]}}])");
  EXPECT_EQ(
      mounts.init_containers.text,
      R"([{"name":"code","image":"codeflare:1",)"
      R"("args":["code","unpack","/codeflare/parts","/workspace"],)"
      R"("resources":{"requests":{"cpu":"2"},"limits":{"cpu":"2"}},)"
      R"("volumeMounts":[{"name":"code-parts","mountPath":"/codeflare/parts","readOnly":true},)"
      R"({"name":"code","mountPath":"/workspace"}]}])");
}

}  // namespace
}  // namespace codeflare::sdk
