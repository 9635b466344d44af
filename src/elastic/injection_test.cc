#include "elastic/injection.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace codeflare::elastic {
namespace {

model::PodSpec spec_with(std::vector<std::string> command, std::vector<std::string> args) {
  model::PodSpec spec;
  spec.containers.push_back({.name = "sidecar"});
  spec.containers.push_back({.name = "trainingjob", .image = "torch"});
  spec.containers[1].command = std::move(command);
  spec.containers[1].args = std::move(args);
  return spec;
}

const Injection kInjection{.operator_image = "lattice-operator:1",
                           .job = "bert",
                           .ns = "ml",
                           .uid = "job-uid",
                           .index = 3,
                           .size_min = 2,
                           .size_max = 8};

std::string value_of(const model::Container& container, std::string_view name) {
  auto at = std::ranges::find(container.env, name, &model::EnvVar::name);
  return at == container.env.end() ? "<absent>" : at->value;
}

TEST(Injection, the_agent_runs_the_original_words) {
  model::PodSpec spec = spec_with({"python", "-c", "print(' a  $X')"}, {"", "--x", "\n'\""});
  ASSERT_TRUE(inject_agent(spec, kInjection));
  const model::Container& container = spec.containers[1];
  EXPECT_EQ(container.command,
            (std::vector<std::string>{"/lattice/codeflare-agent", "--", "python", "-c",
                                      "print(' a  $X')", "", "--x", "\n'\""}));
  EXPECT_TRUE(container.args.empty());
  EXPECT_EQ(value_of(container, "LATTICE_INDEX"), "3");
  EXPECT_EQ(value_of(container, "LATTICE_NNODES"), "2:8");
  EXPECT_EQ(value_of(container, "PYTHONPATH"),
            "/lattice/python/codeflare_elastic/autopatch:/lattice/python");
  EXPECT_TRUE(spec.containers[0].command.empty());
  EXPECT_EQ(spec.termination_grace_period_seconds, 40);
}

TEST(Injection, agent_and_library_come_from_an_init_container_of_the_operators_image) {
  model::PodSpec spec = spec_with({"x"}, {});
  spec.init_containers.push_back({.name = "own"});
  ASSERT_TRUE(inject_agent(spec, kInjection));
  ASSERT_EQ(spec.init_containers.size(), 2u);
  EXPECT_EQ(spec.init_containers[0].image, "lattice-operator:1");
  EXPECT_EQ(spec.init_containers[0].args,
            (std::vector<std::string>{"agent", "--install", "/lattice"}));
  EXPECT_EQ(spec.volumes.size(), 2u);
}

// Namespaces with a ResourceQuota or the restricted pod security standard reject the pod otherwise,
// and a Guaranteed pod stays one.
TEST(Injection, the_init_container_has_resources_and_security_context_of_the_training_container) {
  model::PodSpec spec = spec_with({"x"}, {});
  model::Container& training = spec.containers[1];
  training.resources.requests.set("cpu", *model::Quantity::parse("500m"));
  training.resources.limits = training.resources.requests;
  training.security_context.text = R"({"runAsNonRoot":true,"allowPrivilegeEscalation":false})";
  ASSERT_TRUE(inject_agent(spec, kInjection));
  EXPECT_EQ(spec.init_containers[0].resources, spec.containers[1].resources);
  EXPECT_EQ(spec.init_containers[0].security_context, spec.containers[1].security_context);
}

TEST(Injection, variables_of_the_template_stay) {
  model::PodSpec spec = spec_with({"x"}, {});
  spec.containers[1].env.push_back({.name = "PYTHONPATH", .value = "/mine"});
  spec.containers[1].env.push_back({.name = "LATTICE_GRACE_SECONDS", .value = "5"});
  ASSERT_TRUE(inject_agent(spec, kInjection));
  EXPECT_EQ(value_of(spec.containers[1], "PYTHONPATH"),
            "/lattice/python/codeflare_elastic/autopatch:/lattice/python:/mine");
  EXPECT_EQ(value_of(spec.containers[1], "LATTICE_GRACE_SECONDS"), "5");
}

// A variable with both a value and a source is rejected.
TEST(Injection, a_python_path_from_elsewhere_stays_behind_the_library) {
  model::PodSpec spec = spec_with({"x"}, {});
  model::EnvVar path{.name = "PYTHONPATH"};
  path.value_from.emplace().config_map_key_ref.emplace().name = "paths";
  spec.containers[1].env.push_back(path);
  spec.containers[1].env.push_back({.name = "NEXT", .value = "$(PYTHONPATH)"});
  ASSERT_TRUE(inject_agent(spec, kInjection));
  const auto& env = spec.containers[1].env;
  EXPECT_EQ(env[0].name, "LATTICE_PYTHONPATH");
  EXPECT_EQ(env[0].value_from, path.value_from);
  EXPECT_EQ(env[1].name, "PYTHONPATH");
  EXPECT_EQ(env[1].value,
            "/lattice/python/codeflare_elastic/autopatch:/lattice/python:$(LATTICE_PYTHONPATH)");
  EXPECT_FALSE(env[1].value_from);
  EXPECT_EQ(env[2].name, "NEXT") << "a later variable may use it";
}

TEST(Injection, mistakes_name_the_field_and_the_fix) {
  model::PodSpec none;
  EXPECT_TRUE(inject_agent(none, kInjection).error().message.contains("'trainingjob'"));
  model::PodSpec without = spec_with({}, {"a"});
  EXPECT_TRUE(inject_agent(without, kInjection).error().message.contains("set command"));
}

}  // namespace
}  // namespace codeflare::elastic
