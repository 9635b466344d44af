#include "up/archive/image_manifest.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace codeflare::up {
namespace {

TEST(DockerManifest, names_configuration_and_layers) {
  const auto images = read_docker_manifest(
      R"([{"Config":"c.json","RepoTags":["a:1","b:1"],"Layers":["x.tar","y/layer.tar"]}])");
  ASSERT_TRUE(images) << images.error().to_string();
  EXPECT_EQ(images->front(),
            (ArchivedImage{
                .names = {"a:1", "b:1"}, .config = "c.json", .layers = {"x.tar", "y/layer.tar"}}));
  EXPECT_FALSE(read_docker_manifest("[]"));
  EXPECT_FALSE(read_docker_manifest(R"([{"RepoTags":["a:1"]}])"));
  EXPECT_FALSE(read_docker_manifest("{"));
}

constexpr const char* kManifest =
    R"({"config":{"digest":"sha256:c0"},"layers":[{"digest":"sha256:aa"},{"digest":"sha256:bb"}]})";

TEST(OciIndex, several_names_of_one_image_are_joined) {
  const std::map<std::string, std::string> blobs = {{"blobs/sha256/11", kManifest}};
  const auto images = read_oci_index(
      R"({"manifests":[
        {"digest":"sha256:11","annotations":{"org.opencontainers.image.ref.name":"a:1"}},
        {"digest":"sha256:11","annotations":{"org.opencontainers.image.ref.name":"b:1"}}]})",
      blobs, "amd64");
  ASSERT_TRUE(images) << images.error().to_string();
  ASSERT_EQ(images->size(), 1u);
  EXPECT_EQ(images->front().names, (std::vector<std::string>{"a:1", "b:1"}));
  EXPECT_EQ(images->front().config, "blobs/sha256/c0");
  EXPECT_EQ(images->front().layers,
            (std::vector<std::string>{"blobs/sha256/aa", "blobs/sha256/bb"}));
}

TEST(OciIndex, leads_through_further_indexes_to_this_architecture) {
  const std::map<std::string, std::string> blobs = {{"blobs/sha256/11", kManifest},
                                                    {"blobs/sha256/22", R"({"manifests":[
          {"digest":"sha256:99","platform":{"architecture":"arm64"}},
          {"digest":"sha256:11","platform":{"architecture":"amd64"}}]})"}};
  const auto images = read_oci_index(
      R"({"manifests":[{"digest":"sha256:22","annotations":{"io.containerd.image.name":"x/a:1"}}]})",
      blobs, "amd64");
  ASSERT_TRUE(images) << images.error().to_string();
  EXPECT_EQ(images->front().names, (std::vector<std::string>{"x/a:1"}));
  EXPECT_FALSE(read_oci_index(R"({"manifests":[]})", blobs, "amd64"));
}

TEST(OciIndex, digests_are_no_paths) {
  const auto images =
      read_oci_index(R"({"manifests":[{"digest":"sha256:../../etc/passwd"}]})", {}, "amd64");
  ASSERT_FALSE(images);
  EXPECT_TRUE(images.error().message.contains("digest")) << images.error().message;
}

TEST(ImageConfig, has_what_containers_start_with) {
  const auto config =
      read_image_config(R"({"config":{"Entrypoint":["/p"],"Cmd":["a"],"Env":["A=1","B=x=y","C"],)"
                        R"("WorkingDir":"/w","User":"65532:65532"}})");
  ASSERT_TRUE(config);
  EXPECT_EQ(*config, (ImageConfig{.entrypoint = {"/p"},
                                  .args = {"a"},
                                  .env = {{"A", "1"}, {"B", "x=y"}},
                                  .workdir = "/w",
                                  .user = "65532:65532"}));
  EXPECT_EQ(*read_image_config("{}"), ImageConfig());
}

TEST(ImageUser, is_a_number_or_a_name_of_the_image) {
  constexpr const char* kPasswd = "root:x:0:0::/:/bin/sh\nray:x:1000:100::/home/ray:/bin/sh\n";
  constexpr const char* kGroup = "root:x:0:\nusers:x:100:\n";
  EXPECT_EQ(find_user("", kPasswd, kGroup), (ImageUser{0, 0}));
  EXPECT_EQ(find_user("ray", kPasswd, kGroup), (ImageUser{1000, 100}));
  EXPECT_EQ(find_user("1000", kPasswd, kGroup), (ImageUser{1000, 100}));
  EXPECT_EQ(find_user("65532:65532", "", ""), (ImageUser{65532, 65532}));
  EXPECT_EQ(find_user("ray:users", kPasswd, kGroup), (ImageUser{1000, 100}));
  EXPECT_EQ(find_user("nobody", kPasswd, kGroup).error().message,
            "image has no user nobody in /etc/passwd");
  EXPECT_FALSE(find_user("0:wheel", kPasswd, kGroup));
  EXPECT_FALSE(find_user("-1", kPasswd, kGroup));
}

}  // namespace
}  // namespace codeflare::up
