#include "ray/runtime_env.h"

#include "base/env/sim_env.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::ray {
namespace {

class RuntimeEnvTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* directory : {"/home/me/app/.git", "/home/me/lib", "/home/me/app/venv"}) {
      ASSERT_TRUE(files().make_directories(directory));
    }
    write("app/main.py", "print(\"hi\")\n");
    write("app/sub.txt", "x");
    write("app/.git/HEAD", "ref");
    write("lib/__init__.py", "");
    write("one.py", "x = 1\n");
    write("wheel-1-py3-none-any.whl", "w");
    write("code.zip", "PK");
  }
  FileSystem& files() { return sim_.env().files; }
  void write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(files().write("/home/me/" + name, text));
  }
  Result<PreparedRuntimeEnv> prepare(std::string_view json) {
    return prepare_runtime_env(files(), json, {.base_directory = "/home/me"});
  }
  std::string error(std::string_view json) {
    const auto prepared = prepare(json);
    return prepared ? "none: " + prepared->json : prepared.error().message;
  }

 private:
  SimEnv sim_;
};

TEST_F(RuntimeEnvTest, passes_through_what_needs_no_files) {
  const std::string json =
      R"({"env_vars":{"A":"1"},"pip":["x"],"working_dir":"s3://b/x.zip","py_modules":["gs://b/m.whl","local:///opt/m"],"conda":"base"})";
  const auto prepared = prepare(json);
  ASSERT_TRUE(prepared) << prepared.error().to_string();
  EXPECT_EQ(prepared->json, json);
  EXPECT_TRUE(prepared->packages.empty());
}

TEST_F(RuntimeEnvTest, makes_a_package_of_the_working_directory) {
  const auto prepared = prepare(R"({"working_dir":"app","excludes":["*.txt"]})");
  ASSERT_TRUE(prepared) << prepared.error().to_string();
  ASSERT_EQ(prepared->packages.size(), 1u);
  const Package& package = prepared->packages.front();
  EXPECT_EQ(prepared->json, R"({"working_dir":")" + package.uri + R"(","excludes":["*.txt"]})");
  ASSERT_EQ(package.entries.size(), 2u) << "neither .git nor venv nor *.txt";
  EXPECT_EQ(package.entries[1].path, "main.py");
  EXPECT_EQ(package.top_directory, "");
}

TEST_F(RuntimeEnvTest, makes_packages_of_modules) {
  const auto prepared =
      prepare(R"({"py_modules":["lib","./lib/","one.py","wheel-1-py3-none-any.whl"]})");
  ASSERT_TRUE(prepared) << prepared.error().to_string();
  ASSERT_EQ(prepared->packages.size(), 3u);
  EXPECT_EQ(prepared->packages[0].top_directory, "lib");
  EXPECT_EQ(prepared->packages[1].kind, Package::Kind::module);
  EXPECT_EQ(prepared->packages[2].uri, "gcs://wheel-1-py3-none-any.whl");
}

TEST_F(RuntimeEnvTest, sends_an_archive_as_it_is) {
  const auto prepared = prepare(R"({"working_dir":"code.zip"})");
  ASSERT_TRUE(prepared) << prepared.error().to_string();
  EXPECT_EQ(prepared->packages.front().kind, Package::Kind::archive);
}

TEST_F(RuntimeEnvTest, inlines_files_of_requirements) {
  write("requirements.txt",
        "\n# comment\nnumpy==1.26\r\nrequests\nrequests\n-r https://x/r.txt\n\n");
  write("env.yaml", "dependencies:\n- pip\n- pip: [torch]\n");
  const auto prepared =
      prepare(R"({"pip":"requirements.txt","uv":"requirements.txt","conda":"env.yaml"})");
  ASSERT_TRUE(prepared) << prepared.error().to_string();
  const std::string list =
      R"("packages":["# comment","numpy==1.26","requests","-r https://x/r.txt"])";
  EXPECT_EQ(prepared->json,
            R"({"pip":{)" + list + R"(,"pip_check":false},"uv":{)" + list +
                R"(,"uv_check":false},"conda":{"dependencies":["pip",{"pip":["torch"]}]}})");
}

TEST_F(RuntimeEnvTest, rejects_what_a_cluster_could_not_use) {
  write("nested.txt", "numpy\n-r base.txt\n");
  EXPECT_EQ(error(R"({"pip":"nested.txt"})"),
            "runtime_env.pip: /home/me/nested.txt: '-r base.txt' refers to a local file; copy its "
            "lines into this file");
  EXPECT_EQ(error(R"({"working_dir":"ftp://x/y.zip"})"),
            "runtime_env.working_dir: ftp://x/y.zip: unsupported scheme; Ray supports gcs, http, "
            "https, s3, gs, azure, abfss, file, local");
  EXPECT_EQ(error(R"({"working_dir":"https://x/y.rar?sig=secret"})"),
            "runtime_env.working_dir: https://x/y.rar: must end with .zip, .tar.gz, .tgz or "
            ".tar.xz");
  EXPECT_EQ(error(R"({"working_dir":"absent"})"),
            "runtime_env.working_dir: stat /home/me/absent: no such file or directory");
  EXPECT_EQ(error(R"({"working_dir":7})"), "runtime_env.working_dir: must be a path or a URI");
  EXPECT_EQ(error(R"({"py_modules":"lib"})"),
            "runtime_env.py_modules: must be a list of paths and URIs");
  EXPECT_EQ(error(R"({"py_modules":["code.zip"]})"),
            "runtime_env.py_modules: 'code.zip' must be a directory, a .py file, a .whl file or a "
            "URI");
  EXPECT_EQ(error(R"({"excludes":"x"})"),
            "runtime_env.excludes: is not a list of patterns; give for example [\"*.bin\"]");
  EXPECT_EQ(error("[]"), "runtime_env must be an object");
  EXPECT_TRUE(error("{").starts_with("runtime_env: "));
}

TEST_F(RuntimeEnvTest, rejects_two_layouts_under_one_name) {
  EXPECT_TRUE(error(R"({"working_dir":"lib","py_modules":["lib"]})")
                  .contains("have the same content but different layouts"));
}

TEST_F(RuntimeEnvTest, notes_when_a_package_is_empty) {
  write("app/.gitignore", "*\n");
  EXPECT_EQ(prepare(R"({"working_dir":"app"})").value().notes.size(), 1u);
}

}  // namespace
}  // namespace codeflare::ray
