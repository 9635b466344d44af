#include "up/archive/image_archive.h"

#include "apiserver/store/testing/real_directory.h"
#include "node/agent/image_table.h"
#include "up/archive/load_image.h"
#include "up/archive/testing/tar_builder.h"
#include "up/images.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::up {
namespace {

using testing::TarBuilder;

constexpr const char* kConfig =
    R"({"config":{"Entrypoint":["/bin/tool"],"Cmd":["run"],"User":"tool","WorkingDir":"/work"}})";

// As docker save writes it, with old links to layers.
std::string docker_archive(const std::vector<std::string>& layers, std::string tag = "tool:1") {
  TarBuilder tar;
  std::string list;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string name = "layer" + std::to_string(i) + ".tar";
    tar.file(name, layers[i]).symlink("ID" + std::to_string(i) + "/layer.tar", "../" + name);
    list += (i == 0 ? "\"" : ",\"") + std::string("ID") + std::to_string(i) + "/layer.tar\"";
  }
  tar.file("c0ffee.json", kConfig);
  tar.file("manifest.json", R"([{"Config":"c0ffee.json","RepoTags":[)" +
                                (tag.empty() ? "" : "\"" + tag + "\"") + R"(],"Layers":[)" + list +
                                "]}]");
  return tar.text();
}

std::string base_layer() {
  return TarBuilder()
      .directory("bin/")
      .file("bin/tool", "program", 0755)
      .hard_link("bin/again", "bin/tool")
      .symlink("sh", "bin/tool")
      .file("etc/passwd", "tool:x:7:8::/:/none\n")
      .file("gone", "x")
      .text();
}

// Real directories: what matters is where bytes end up.
struct World {
  apiserver::RealDirectory directory;

  Result<std::vector<LoadedImage>> load(const std::string& archive, std::string name = "") {
    EXPECT_TRUE(directory.files().write(directory.path("image.tar"), archive));
    const std::unique_ptr<UnpackPlace> place = real_unpack_place();
    return load_images(directory.files(), *place, directory.path("data"),
                       directory.path("image.tar"), name);
  }
  std::string error(const std::string& archive, std::string name = "") {
    const auto loaded = load(archive, std::move(name));
    return loaded ? "" : loaded.error().to_string();
  }
  std::string read(const std::string& path) {
    return directory.files().read(path).value_or("(missing)");
  }
};

TEST(LoadImage, unpacks_the_layers_and_enters_the_name) {
  World w;
  const auto loaded =
      w.load(docker_archive({base_layer(), TarBuilder().file(".wh.gone", "").text()}));
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  const LoadedImage& image = loaded->front();
  EXPECT_TRUE(image.unpacked);
  EXPECT_EQ(w.read(image.root + "/bin/tool"), "program");
  EXPECT_EQ(w.read(image.root + "/bin/again"), "program");
  EXPECT_EQ(w.read(image.root + "/sh"), "program");
  EXPECT_EQ(w.read(image.root + "/gone"), "(missing)");
  EXPECT_EQ(w.directory.files().info(image.root + "/bin/tool")->mode & 0777, 0755u);
  const auto table = read_images(w.directory.files(), w.directory.path("data"));
  ASSERT_TRUE(table);
  const node::ImageEntry* entry = table->find("docker.io/library/tool:1");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->root, image.root);
  EXPECT_EQ(entry->entrypoint, (std::vector<std::string>{"/bin/tool"}));
  EXPECT_EQ(entry->args, (std::vector<std::string>{"run"}));
  EXPECT_EQ(entry->workdir, "/work");
  EXPECT_EQ(entry->user, 7);
  EXPECT_EQ(entry->group, 8);
  EXPECT_FALSE(w.load(docker_archive({base_layer()}))->front().unpacked) << "it is there";
}

TEST(LoadImage, a_name_may_be_given_and_is_needed_where_there_is_none) {
  World w;
  EXPECT_TRUE(w.error(docker_archive({base_layer()}, "")).contains("--name NAME:TAG"));
  ASSERT_EQ(w.error(docker_archive({base_layer()}, ""), "mine:2"), "");
  EXPECT_NE(read_images(w.directory.files(), w.directory.path("data"))->find("localhost/mine:2"),
            nullptr);
}

TEST(LoadImage, what_is_no_archive_is_an_error_that_names_the_file) {
  World w;
  EXPECT_TRUE(w.error("hello").contains("image.tar")) << w.error("hello");
  EXPECT_TRUE(w.error(TarBuilder().file("a", "b").text()).contains("neither manifest.json"));
  EXPECT_TRUE(w.error("\x1f\x8b....").contains("gunzip"));
  EXPECT_TRUE(w.error(docker_archive({"no tar file"})).contains("cut off"));
}

// Everything that such an archive writes is below the image's own directory.
TEST(LoadImage, hostile_layers_write_nothing_outside) {
  const std::vector<std::string> layers = {
      TarBuilder().file("../../../../escaped", "x").text(),
      TarBuilder().file("/escaped", "x").text(),
      TarBuilder().symlink("up", "../../../..").file("up/escaped", "x").text(),
      TarBuilder().symlink("a", "b").symlink("b", "../../..").file("a/escaped", "x").text(),
      TarBuilder().directory("d").symlink("d/l", "/").file("d/l/escaped", "x").text(),
      TarBuilder().symlink("f", "../../../escaped").file("f", "x").text(),
  };
  for (const std::string& layer : layers) {
    World w;
    const auto loaded = w.load(docker_archive({base_layer(), layer}));
    ASSERT_TRUE(loaded) << loaded.error().to_string();
    for (const char* path :
         {"escaped", "data/escaped", "data/node/escaped", "data/node/unpacked/escaped"}) {
      EXPECT_FALSE(w.directory.files().exists(w.directory.path(path))) << path;
    }
    EXPECT_FALSE(w.directory.files().exists("/escaped"));
  }
}

TEST(LoadImage, the_directory_is_named_by_letters_and_digits_only) {
  World w;
  std::string archive = docker_archive({base_layer()});
  // Same length: "../../../x" in the place of the configuration's name.
  for (std::size_t at = 0; (at = archive.find("c0ffee.json", at)) != std::string::npos; ++at) {
    archive.replace(at, 11, "../../x.son");
  }
  const std::string error = w.error(archive);
  EXPECT_FALSE(error.empty());
  EXPECT_FALSE(w.directory.files().exists(w.directory.path("x")));
}

TEST(LoadImage, a_failure_leaves_nothing_behind) {
  World w;
  const std::string bad = docker_archive({base_layer(), base_layer().substr(0, 700)});
  EXPECT_FALSE(w.error(bad).empty());
  const auto left = w.directory.files().list(w.directory.path("data/node/unpacked"));
  EXPECT_TRUE(!left || left->empty());
}

}  // namespace
}  // namespace codeflare::up
