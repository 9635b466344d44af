#include "s3/data_settings.h"

#include "base/env/sim_env.h"

#include <gtest/gtest.h>

namespace codeflare::s3 {
namespace {

TEST(DataSettings, reads_both_forms_of_options_and_the_command) {
  const auto settings = read_data_settings({"put", "--endpoint", "http://s3", "--bucket=b",
                                            "--prefix", "/a/b", "/data", "--", "sh", "--bucket"});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->endpoint, "http://s3");
  EXPECT_EQ(settings->bucket, "b");
  EXPECT_EQ(settings->prefix, "a/b/");
  EXPECT_EQ(settings->directory, "/data");
  EXPECT_EQ(settings->command, (std::vector<std::string>{"sh", "--bucket"}));
}

TEST(DataSettings, rejects_wrong_command_lines) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"copy", "/data"},
      {"get", "/data"},
      {"get", "--endpoint", "e", "--bucket", "b"},
      {"get", "--endpoint", "e", "--bucket", "b", "/data", "more"},
      {"get", "--endpoint", "e", "--bucket", "b", "/data", "--", "sh"},
      {"get", "--secret", "s", "/data"},
      {"get", "/data", "--bucket"}};
  for (const auto& words : wrong) {
    EXPECT_FALSE(read_data_settings(words));
  }
  EXPECT_EQ(read_data_settings({"--help"})->verb, DataSettings::Verb::help);
  EXPECT_EQ(read_data_settings({"get", "--help"})->verb, DataSettings::Verb::help);
}

TEST(DataSettings, keys_come_from_files_or_variables) {
  SimEnv sim;
  Env env = sim.env();
  EXPECT_EQ(read_credentials(env.files, env.variables, "")->key_id, "");
  sim.set_variable("AWS_ACCESS_KEY_ID", "k");
  EXPECT_EQ(read_credentials(env.files, env.variables, "")->key_id, "k");
  ASSERT_TRUE(env.files.make_directories("/keys"));
  ASSERT_TRUE(env.files.write("/keys/accessKeyID", "id\n"));
  const auto missing = read_credentials(env.files, env.variables, "/keys");
  ASSERT_FALSE(missing);
  EXPECT_TRUE(missing.error().message.contains("secretAccessKey"));
  ASSERT_TRUE(env.files.write("/keys/secretAccessKey", "s"));
  const auto found = read_credentials(env.files, env.variables, "/keys");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key_id, "id");
  EXPECT_EQ(found->secret.reveal(), "s");
}

TEST(DataSettings, the_authority_of_the_store_lies_beside_the_keys) {
  SimEnv sim;
  Env env = sim.env();
  EXPECT_EQ(*read_authority(env.files, env.variables, ""), "");
  ASSERT_TRUE(env.files.make_directories("/keys"));
  EXPECT_EQ(*read_authority(env.files, env.variables, "/keys"), "");
  EXPECT_FALSE(read_credentials(env.files, env.variables, "/keys"));
  ASSERT_TRUE(env.files.write("/keys/ca.crt", "own"));
  EXPECT_EQ(*read_authority(env.files, env.variables, "/keys"), "own");
  // Requests are anonymous then.
  EXPECT_EQ(read_credentials(env.files, env.variables, "/keys")->key_id, "");
  ASSERT_TRUE(env.files.write("/bundle", "bundle"));
  sim.set_variable("AWS_CA_BUNDLE", "/bundle");
  EXPECT_EQ(*read_authority(env.files, env.variables, ""), "bundle");
  EXPECT_EQ(*read_authority(env.files, env.variables, "/keys"), "own");
  sim.set_variable("AWS_CA_BUNDLE", "/missing");
  EXPECT_FALSE(read_authority(env.files, env.variables, ""));
}

}  // namespace
}  // namespace codeflare::s3
