#include "node/agent/container_spec.h"

#include "model/node_extras.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace codeflare::node {
namespace {

struct World {
  model::Pod pod;
  model::Container container;
  PodInputs inputs;
  std::vector<DeviceGrant> devices;
  ImageTable images{{{.image = "ray:*",
                      .directories = {"/opt/ray"},
                      .entrypoint = {"/opt/ray/bin/ray"},
                      .args = {"start"},
                      .env = {{"RAY", "yes"}, {"PATH", "/opt/ray/bin:/bin"}},
                      .workdir = "/tmp"},
                     {.image = "tool", .root = "/srv/tool"}}};

  World() {
    pod.metadata.name = "p";
    container.name = "c";
    container.image = "busybox";
    container.command = {"echo", "$(WHO)"};
    container.env = {{.name = "WHO", .value = "me"}};
  }
  ContainerSpec get() {
    auto spec = container_spec({.pod = pod, .inputs = inputs, .images = images, .devices = devices},
                               container, 2);
    EXPECT_TRUE(spec) << spec.error().message;
    return spec ? *spec : ContainerSpec();
  }
  StartProblem problem() {
    auto spec = container_spec({.pod = pod, .inputs = inputs, .images = images, .devices = devices},
                               container, 2);
    return spec ? StartProblem() : spec.error();
  }
  bool has(const std::string& setting) {
    const auto environment = get().environment;
    return std::ranges::find(environment, setting) != environment.end();
  }
};

TEST(ContainerSpec, has_the_command_with_variables_put_in) {
  World w;
  w.container.args = {"$(WHO)!", "$$(WHO)"};
  EXPECT_EQ(w.get().command, (std::vector<std::string>{"echo", "me", "me!", "$(WHO)"}));
  EXPECT_EQ(w.get().attempt, 2);
  EXPECT_TRUE(w.has("WHO=me"));
  EXPECT_TRUE(w.has("HOSTNAME=p"));
  EXPECT_EQ(w.get().message_path, "/dev/termination-log");
}

TEST(ContainerSpec, an_image_brings_its_own) {
  World w;
  w.container.image = "ray:2.9";
  w.container.command = {};
  EXPECT_EQ(w.get().command, (std::vector<std::string>{"/opt/ray/bin/ray", "start"}));
  EXPECT_TRUE(w.has("RAY=yes"));
  EXPECT_TRUE(w.has("PATH=/opt/ray/bin:/bin"));
  EXPECT_EQ(w.get().working_directory, "/tmp");
  w.container.args = {"stop"};
  EXPECT_EQ(w.get().command, (std::vector<std::string>{"/opt/ray/bin/ray", "stop"}));
  w.container.command = {"sh"};
  w.container.args = {};
  EXPECT_EQ(w.get().command, (std::vector<std::string>{"sh"}));
}

TEST(ContainerSpec, an_unknown_image_without_a_command_says_what_to_do) {
  World w;
  w.container.image = "nowhere/tool:1";
  w.container.command = {};
  EXPECT_EQ(w.problem().reason, "ErrImagePull");
  EXPECT_TRUE(w.problem().message.contains("give the container a command"));
}

TEST(ContainerSpec, a_command_does_not_replace_an_image_that_its_pod_requires) {
  World w;
  w.container.image = "nowhere/tool:1";
  w.container.command = {"sh"};
  EXPECT_EQ(w.get().command, (std::vector<std::string>{"sh"}));
  w.pod.metadata.annotations.emplace(model::kImageRequiredAnnotation, "true");
  EXPECT_EQ(w.problem().reason, "ErrImagePull");
  EXPECT_TRUE(w.problem().message.contains("codeflare image add 'nowhere/tool:1'"));
  EXPECT_TRUE(w.problem().message.contains("leave the image out"));
  w.container.image = "python:3";
  EXPECT_EQ(w.get().command, (std::vector<std::string>{"sh"}));
}

TEST(ContainerSpec, a_common_image_needs_neither_a_command_nor_an_entry) {
  World w;
  w.container.image = "python:3.11";
  w.container.command = {};
  EXPECT_EQ(w.get().command, std::vector<std::string>{"python3"});
  w.container.args = {"python3", "-V"};
  EXPECT_EQ(w.get().command, (std::vector<std::string>{"python3", "-V"}));
}

TEST(ContainerSpec, what_cannot_be_resolved_is_a_config_error) {
  World w;
  w.container.env_from = {{.config_map_ref = model::EnvSource{.name = "cm"}}};
  EXPECT_EQ(w.problem().reason, "CreateContainerConfigError");
  EXPECT_EQ(w.problem().message, "configmap \"cm\" not found");
}

TEST(ContainerSpec, volumes_are_at_their_paths_and_projections_read_only) {
  World w;
  w.pod.spec.volumes = {{.name = "data", .empty_dir = model::EmptyDirVolumeSource()},
                        {.name = "conf", .config_map = model::ConfigMapVolumeSource()}};
  w.container.volume_mounts = {{.name = "data", .mount_path = "/data", .sub_path_expr = "$(WHO)/x"},
                               {.name = "conf", .mount_path = "/etc/conf"}};
  const auto mounts = w.get().mounts;
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[0].source, "volumes/data/me/x");
  EXPECT_FALSE(mounts[0].read_only);
  EXPECT_EQ(mounts[1].target, "/etc/conf");
  EXPECT_TRUE(mounts[1].read_only);
  w.container.volume_mounts[0].sub_path_expr = "../other";
  EXPECT_EQ(w.problem().reason, "CreateContainerConfigError");
}

TEST(ContainerSpec, no_volume_covers_the_root_or_the_process_table) {
  World w;
  w.pod.spec.volumes = {{.name = "data", .empty_dir = model::EmptyDirVolumeSource()}};
  for (const char* path : {"/", "//", "/a/..", "/proc", "/proc/", "proc/self", "/a/../proc/1"}) {
    w.container.volume_mounts = {{.name = "data", .mount_path = path}};
    EXPECT_EQ(w.problem().message, "volume data cannot be mounted at " + std::string(path) +
                                       ": choose a path other than / or /proc");
  }
  w.container.volume_mounts = {{.name = "data", .mount_path = "/processed"}};
  EXPECT_EQ(w.get().mounts.size(), 1u);
}

TEST(ContainerSpec, ids_of_the_container_count_before_those_of_the_pod) {
  World w;
  w.pod.spec.security_context.text = R"({"runAsUser":1000,"runAsGroup":2000})";
  w.container.security_context.text = R"({"runAsUser":7})";
  EXPECT_EQ(w.get().run_as_user, 7);
  EXPECT_EQ(w.get().run_as_group, 2000);
  w.pod.spec.containers = {w.container};
  EXPECT_EQ(users_of(w.pod, w.images), (std::vector<std::int64_t>{7}));
}

TEST(ContainerSpec, the_user_of_the_image_counts_where_neither_says_one) {
  World w;
  w.images = ImageTable({{.image = "tool:1", .entrypoint = {"/tool"}, .user = 65532, .group = 8}});
  w.container.image = "docker.io/library/tool:1";
  w.container.command.clear();
  EXPECT_EQ(w.get().run_as_user, 65532);
  EXPECT_EQ(w.get().run_as_group, 8);
  w.pod.spec.containers = {w.container};
  EXPECT_EQ(users_of(w.pod, w.images), (std::vector<std::int64_t>{65532}));
  w.pod.spec.security_context.text = R"({"runAsNonRoot":true})";
  EXPECT_EQ(w.get().run_as_user, 65532) << "is not root";
  w.pod.spec.security_context.text = R"({"runAsUser":7})";
  EXPECT_EQ(w.get().run_as_user, 7);
  EXPECT_FALSE(w.get().run_as_group) << "the group of another user";
}

TEST(ContainerSpec, an_image_that_must_not_be_pulled_and_is_not_here_says_so) {
  World w;
  w.container.image = "missing:1";
  w.container.command.clear();
  w.container.image_pull_policy = "Never";
  EXPECT_EQ(w.problem().reason, "ErrImageNeverPull");
  w.container.command = {"sh"};
  EXPECT_EQ(w.problem().reason, "ErrImageNeverPull");
}

TEST(ContainerSpec, devices_are_named_to_cuda_and_hidden_from_the_others) {
  World w;
  w.devices = {{.container = "c", .resource = "nvidia.com/gpu", .ids = {1, 3}}};
  EXPECT_TRUE(w.has("CUDA_VISIBLE_DEVICES=1,3"));
  w.container.name = "other";
  EXPECT_TRUE(w.has("CUDA_VISIBLE_DEVICES="));
}

TEST(ContainerSpec, who_must_not_be_root_is_refused_as_root) {
  World w;
  w.pod.metadata.ns = "default";
  w.pod.metadata.uid = "u";
  w.pod.spec.security_context.text = R"({"runAsNonRoot":true})";
  EXPECT_EQ(w.problem().reason, "CreateContainerConfigError");
  EXPECT_EQ(w.problem().message,
            "container has runAsNonRoot and image will run as root (pod: \"p_default(u)\", "
            "container: c)");
  w.container.security_context.text = R"({"runAsUser":0})";
  EXPECT_EQ(w.problem().message,
            "container's runAsUser breaks non-root policy (pod: \"p_default(u)\", container: c)");
  w.container.security_context.text = R"({"runAsUser":1000})";
  EXPECT_EQ(w.get().run_as_user, 1000);
  // The container's own word counts before the pod's.
  w.container.security_context.text = R"({"runAsNonRoot":false})";
  EXPECT_FALSE(w.get().run_as_user);
}

TEST(ContainerSpec, a_root_is_read_only_on_request) {
  World w;
  EXPECT_FALSE(w.get().read_only_root);
  w.container.security_context.text = R"({"readOnlyRootFilesystem":true})";
  EXPECT_TRUE(w.get().read_only_root);
}

TEST(SandboxSpec, says_how_the_pod_ends) {
  World w;
  w.pod.spec.termination_grace_period_seconds = 7;
  model::Container sidecar = w.container;
  sidecar.name = "s";
  sidecar.restart_policy = "Always";
  w.pod.spec.init_containers = {w.container, sidecar};
  const SandboxSpec spec = sandbox_spec(w.pod, w.images);
  EXPECT_EQ(spec.grace_seconds, 7);
  EXPECT_EQ(spec.sidecars, (std::vector<std::string>{"s"}));
}

TEST(SandboxSpec, has_what_the_images_need_once) {
  World w;
  model::Container tool = w.container;
  tool.image = "tool";
  w.container.image = "ray:1";
  w.pod.spec.containers = {w.container, w.container, tool};
  const SandboxSpec spec = sandbox_spec(w.pod, w.images);
  EXPECT_EQ(spec.directories, (std::vector<std::string>{"/opt/ray"}));
  EXPECT_EQ(spec.roots, (std::vector<std::string>{"/srv/tool"}));
}

}  // namespace
}  // namespace codeflare::node
