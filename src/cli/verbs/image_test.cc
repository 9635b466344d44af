#include "cli/verbs/image.h"

#include "cli/testing/up_world.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

using up::ImageFlags;

struct World : testing::UpWorld {
  World() {
    write("/venvs/ray/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n");
    write("/venvs/own/pyvenv.cfg", "home = /opt/python3.13/bin\n");
    write("/roots/tool/bin/tool", "");
  }
  int add(const ImageFlags& flags) {
    forget();
    return run_image_add(env, console, "/data", flags);
  }
  int list(bool json = false) {
    forget();
    return run_image_list(env, console, "/data", json);
  }
  int remove(std::vector<std::string> names) {
    forget();
    return run_image_remove(env, console, "/data", names);
  }
  node::ImageTable table() {
    return node::ImageTable::parse(read("/data/node/images.json")).value();
  }
  void forget() {
    console.out_text.clear();
    console.err_text.clear();
  }
};

TEST(ImageAdd, a_virtual_environment_brings_its_directory_path_and_python) {
  World world;
  EXPECT_EQ(world.add({.name = "rayproject/ray:*", .python_venv = "/venvs/ray"}), kDone)
      << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "image rayproject/ray:* maps to python-venv /venvs/ray\n");
  const node::ImageTable table = world.table();
  const node::ImageEntry* entry = table.find("rayproject/ray:2.9");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->directories, (std::vector<std::string>{"/venvs/ray"}));
  EXPECT_EQ(entry->args, (std::vector<std::string>{"python3"}));
  EXPECT_TRUE(entry->env.at("PATH").starts_with("/venvs/ray/bin:/usr/local/sbin:"));
  EXPECT_EQ(entry->env.at("VIRTUAL_ENV"), "/venvs/ray");
}

TEST(ImageAdd, an_interpreter_that_pods_do_not_have_comes_along) {
  World world;
  EXPECT_EQ(world.add({.name = "own", .python_venv = "/venvs/own"}), kDone);
  EXPECT_EQ(world.table().find("own")->directories,
            (std::vector<std::string>{"/venvs/own", "/opt/python3.13"}));
}

TEST(ImageAdd, takes_a_root_file_system_entrypoint_variables_and_directory) {
  World world;
  EXPECT_EQ(world.add({.name = "tool:1",
                       .rootfs = "/roots/tool",
                       .entrypoint = R"(["/bin/tool", "a b"])",
                       .env = {"A=b=c"},
                       .workdir = "/data"}),
            kDone)
      << world.console.err_text;
  const node::ImageTable table = world.table();
  const node::ImageEntry* entry = table.find("tool:1");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->root, "/roots/tool");
  EXPECT_EQ(entry->entrypoint, (std::vector<std::string>{"/bin/tool", "a b"}));
  EXPECT_EQ(entry->env.at("A"), "b=c");
  EXPECT_EQ(entry->workdir, "/data");
  EXPECT_EQ(world.add({.name = "tool:1", .entrypoint = "python3  -m tool"}), kDone);
  EXPECT_EQ(world.console.out_text, "image tool:1 now maps to this machine's programs\n");
  EXPECT_EQ(world.table().find("tool:1")->entrypoint,
            (std::vector<std::string>{"python3", "-m", "tool"}));
}

TEST(ImageAdd, takes_arguments_beside_an_entrypoint_or_alone) {
  World world;
  using Words = std::vector<std::string>;
  EXPECT_EQ(world.add({.name = "tool", .entrypoint = "tool serve", .args = "--port 80"}), kDone);
  EXPECT_EQ(world.table().find("tool")->entrypoint, (Words{"tool", "serve"}));
  EXPECT_EQ(world.table().find("tool")->args, (Words{"--port", "80"}));
  EXPECT_EQ(world.list(), kDone);
  EXPECT_TRUE(world.console.out_text.contains("tool serve --port 80\n")) << world.console.out_text;
  EXPECT_EQ(world.add({.name = "echo", .args = R"(["echo", "a b"])"}), kDone);
  EXPECT_EQ(world.table().find("echo")->args, (Words{"echo", "a b"}));
  // In place of python3.
  EXPECT_EQ(world.add({.name = "ray", .python_venv = "/venvs/ray", .args = "ray start"}), kDone);
  EXPECT_EQ(world.table().find("ray")->args, (Words{"ray", "start"}));
  EXPECT_EQ(world.add({.name = "x", .args = "[1]"}), kUsage);
  EXPECT_TRUE(world.console.err_text.contains("--args [1]: expected words"))
      << world.console.err_text;
}

TEST(ImageAdd, refuses_what_is_not_there) {
  World world;
  EXPECT_EQ(world.add({.name = "x", .python_venv = "/roots/tool"}), kUsage);
  EXPECT_TRUE(world.console.err_text.contains("is not a virtual environment"))
      << world.console.err_text;
  EXPECT_EQ(world.add({.name = "x", .rootfs = "/nowhere"}), kUsage);
  EXPECT_EQ(world.add({.name = "x", .directories = {"/nowhere"}}), kUsage);
  EXPECT_EQ(world.add({.name = "x", .entrypoint = "a", .env = {"=v"}}), kUsage);
  EXPECT_EQ(world.add({.name = "x", .entrypoint = "[1]"}), kUsage);
  EXPECT_FALSE(world.env.files.exists("/data/node/images.json"));
}

TEST(ImageAdd, refuses_names_that_no_image_has) {
  World world;
  for (const char* name : {"", "a b", "ray: *", "/ray", "ray/", "ray:", "a//b", "-x", "ray,"}) {
    EXPECT_EQ(world.add({.name = name, .entrypoint = "a"}), kUsage) << name;
    EXPECT_TRUE(world.console.err_text.contains("is not an image name")) << name;
  }
  for (const char* name : {"*", "ray", "*pytorch*", "example.com:5000/Team/tool_1:v1.2-rc",
                           "tool@sha256:0123456789abcdef"}) {
    EXPECT_EQ(world.add({.name = name, .entrypoint = "a"}), kDone) << world.console.err_text;
  }
}

TEST(ImageAdd, refuses_quotes_that_nobody_would_take_apart) {
  World world;
  for (const char* words : {"sh -c 'echo hi'", "sh -c \"echo hi\"", "echo a\\ b"}) {
    EXPECT_EQ(world.add({.name = "x", .args = words}), kUsage) << words;
    EXPECT_TRUE(world.console.err_text.contains("write a list such as")) << world.console.err_text;
  }
  EXPECT_FALSE(world.env.files.exists("/data/node/images.json"));
}

TEST(ImageList, shows_them_in_the_order_in_which_they_count) {
  World world;
  EXPECT_EQ(world.list(), kDone);
  EXPECT_TRUE(world.console.err_text.starts_with("no image mappings in /data/node/images.json"));
  world.add({.name = "ray:*", .python_venv = "/venvs/ray"});
  world.add({.name = "tool", .rootfs = "/roots/tool"});
  EXPECT_EQ(world.list(), kDone);
  EXPECT_EQ(world.console.out_text,
            "IMAGE   MAPS TO                  RUNS\n"
            "tool    rootfs /roots/tool       -\n"
            "ray:*   python-venv /venvs/ray   python3\n");
  EXPECT_EQ(world.list(true), kDone);
  EXPECT_EQ(node::ImageTable::parse(world.console.out_text).value(), world.table());
}

TEST(ImageRemove, says_which_are_not_there) {
  World world;
  world.add({.name = "ray:*", .python_venv = "/venvs/ray"});
  EXPECT_EQ(world.remove({"ray:*", "none"}), kNotFound);
  EXPECT_EQ(world.console.out_text, "image ray:* removed\n");
  EXPECT_EQ(world.console.err_text, "error: image \"none\" is not in /data/node/images.json\n");
  EXPECT_TRUE(world.table().entries().empty());
}

TEST(Images, a_table_that_is_wrong_is_not_written_over) {
  World world;
  world.write("/data/node/images.json", "{");
  EXPECT_EQ(world.add({.name = "x", .entrypoint = "a"}), kUsage);
  EXPECT_TRUE(world.console.err_text.contains("/data/node/images.json")) << world.console.err_text;
  EXPECT_EQ(world.read("/data/node/images.json"), "{");
}

}  // namespace
}  // namespace codeflare::cli
