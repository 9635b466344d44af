#include "up/sizes.h"

#include "up/service_unit.h"

#include <gtest/gtest.h>

namespace codeflare::up {
namespace {

TEST(NodeSizes, options_win_and_the_rest_is_as_at_the_last_start) {
  const ChosenSizes chosen =
      choose_sizes({.cpus = "4"}, {.cpus = "2", .memory = "8Gi", .gpus = std::nullopt});
  EXPECT_EQ(chosen.sizes, (NodeSizes{.cpus = "4", .memory = "8Gi"}));
  EXPECT_EQ(chosen.note,
            "changed since the last start: cpus 4 (was 2); as at the last start: --memory 8Gi");
}

TEST(NodeSizes, nothing_is_said_of_a_first_start) {
  EXPECT_EQ(choose_sizes({.cpus = "4"}, {}).note, "");
  EXPECT_EQ(choose_sizes({}, {}).note, "");
}

TEST(NodeSizes, come_back_as_they_were_written) {
  const NodeSizes sizes{.cpus = "500m", .memory = "1Gi", .gpus = "2"};
  EXPECT_EQ(parse_sizes(to_json(sizes)), sizes);
  EXPECT_EQ(parse_sizes("nonsense"), NodeSizes());
  EXPECT_EQ(parse_sizes(R"({"cpus":4})"), NodeSizes());
}

TEST(ServiceUnit, starts_the_same_cluster_in_the_foreground) {
  constexpr std::string_view kTyped("codeflare\0up\0--detach\0--cpus\0004\0--install-service\0",
                                    49);
  EXPECT_EQ(service_arguments(kTyped), (std::vector<std::string>{"up", "--cpus", "4"}));
}

TEST(ServiceUnit, words_reach_the_program_as_typed) {
  const std::string text = service_unit_text(
      {.program = "/opt/code flare", .arguments = {"up", "--label", "a=\"$x%\""}, .of_user = true});
  EXPECT_TRUE(
      text.contains("ExecStart=\"/opt/code flare\" \"up\" \"--label\" "
                    "\"a=\\\"$$x%%\\\"\"\n"))
      << text;
  EXPECT_TRUE(text.contains("WantedBy=default.target\n"));
  EXPECT_EQ(service_unit_path(true, "/home/me/.config"),
            "/home/me/.config/systemd/user/codeflare.service");
  EXPECT_EQ(service_unit_path(false, ""), "/etc/systemd/system/codeflare.service");
}

}  // namespace
}  // namespace codeflare::up
