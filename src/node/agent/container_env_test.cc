#include "node/agent/container_env.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

struct World {
  model::Pod pod;
  model::Container container;
  PodInputs inputs;

  World() {
    pod.metadata.ns = "team";
    pod.metadata.name = "p";
    pod.metadata.uid = "u";
    pod.metadata.labels = {{"app", "web"}, {"tier", "a\"b"}};
    pod.spec.node_name = "n";
    pod.status.pod_ip = "10.0.0.7";
    container.name = "c";
    inputs.config_maps["cm"].data = {{"A", "1"}, {"B", "2"}};
    inputs.secrets["s"].data = {{"KEY", {"hush"}}};
    inputs.allocatable.set("cpu", model::Quantity(4));
  }
  model::EnvVar& add(std::string name, std::string value = {}) {
    container.env.push_back({.name = std::move(name), .value = std::move(value)});
    return container.env.back();
  }
  Result<VariableMap> get() { return container_variables(pod, container, inputs); }
  std::string operator[](const std::string& name) {
    const auto variables = get();
    EXPECT_TRUE(variables) << variables.error().to_string();
    return variables && variables->contains(name) ? variables->at(name) : "(none)";
  }
};

TEST(Expansion, follows_kubernetes) {
  const VariableMap variables = {{"A", "1"}, {"EMPTY", ""}};
  for (const auto& [text, expected] :
       std::initializer_list<std::pair<const char*, const char*>>{{"x$(A)y", "x1y"},
                                                                  {"$(EMPTY)", ""},
                                                                  {"$(B)", "$(B)"},
                                                                  {"$$(A)", "$(A)"},
                                                                  {"$$$(A)", "$1"},
                                                                  {"$A", "$A"},
                                                                  {"$(A", "$(A"},
                                                                  {"100$", "100$"},
                                                                  {"$(A)$(A)", "11"}}) {
    EXPECT_EQ(expand(text, variables), expected) << text;
  }
}

TEST(ContainerEnv, later_variables_see_earlier_ones) {
  World w;
  w.add("A", "1");
  w.add("B", "$(A)2");
  w.add("C", "$(LATER)");
  w.add("LATER", "x");
  EXPECT_EQ(w["B"], "12");
  EXPECT_EQ(w["C"], "$(LATER)");
}

TEST(ContainerEnv, values_come_from_all_sources) {
  World w;
  w.add("FIELD").value_from.emplace().field_ref = {.field_path = "metadata.labels['app']"};
  w.add("IP").value_from.emplace().field_ref = {.field_path = "status.podIP"};
  w.add("CM").value_from.emplace().config_map_key_ref = {.name = "cm", .key = "A"};
  w.add("SECRET").value_from.emplace().secret_key_ref = {.name = "s", .key = "KEY"};
  w.add("CPU").value_from.emplace().resource_field_ref = {.resource = "limits.cpu"};
  w.container.resources.limits.set("memory", *model::Quantity::parse("1.5Gi"));
  w.add("MEMORY").value_from.emplace().resource_field_ref = {
      .resource = "limits.memory", .divisor = *model::Quantity::parse("1Mi")};
  EXPECT_EQ(w["FIELD"], "web");
  EXPECT_EQ(w["IP"], "10.0.0.7");
  EXPECT_EQ(w["CM"], "1");
  EXPECT_EQ(w["SECRET"], "hush");
  EXPECT_EQ(w["CPU"], "4");  // the node's: there is no limit
  EXPECT_EQ(w["MEMORY"], "1536");
}

TEST(ContainerEnv, whole_objects_come_with_a_prefix_and_give_way) {
  World w;
  w.container.env_from = {{.prefix = "P_", .config_map_ref = model::EnvSource{.name = "cm"}},
                          {.secret_ref = model::EnvSource{.name = "s"}}};
  w.add("P_A", "own");
  EXPECT_EQ(w["P_A"], "own");
  EXPECT_EQ(w["P_B"], "2");
  EXPECT_EQ(w["KEY"], "hush");
}

TEST(ContainerEnv, what_is_missing_is_named_unless_it_is_optional) {
  World w;
  w.add("X").value_from.emplace().config_map_key_ref = {.name = "cm", .key = "Z"};
  EXPECT_EQ(w.get().error().message, "couldn't find key Z in ConfigMap team/cm");
  w.container.env[0].value_from->config_map_key_ref->optional = true;
  EXPECT_EQ(w["X"], "(none)");
  w.container.env_from = {{.secret_ref = model::EnvSource{.name = "nope"}}};
  EXPECT_EQ(w.get().error().message, "secret \"nope\" not found");
  w.container.env_from[0].secret_ref->optional = true;
  EXPECT_TRUE(w.get());
}

TEST(ContainerEnv, services_are_there_unless_unwanted) {
  World w;
  model::Service service;
  service.metadata.name = "my-db";
  service.spec.cluster_ip = "10.96.0.9";
  service.spec.ports = {{.name = "pg", .port = 5432}};
  w.inputs.services = {service};
  w.inputs.api_host = "127.0.0.1";
  w.inputs.api_port = "6443";
  EXPECT_EQ(w["MY_DB_SERVICE_HOST"], "10.96.0.9");
  EXPECT_EQ(w["MY_DB_SERVICE_PORT_PG"], "5432");
  EXPECT_EQ(w["MY_DB_PORT"], "tcp://10.96.0.9:5432");
  EXPECT_EQ(w["MY_DB_PORT_5432_TCP_ADDR"], "10.96.0.9");
  EXPECT_EQ(w["KUBERNETES_SERVICE_HOST"], "127.0.0.1");
  w.pod.spec.enable_service_links = false;
  EXPECT_EQ(w["MY_DB_SERVICE_HOST"], "(none)");
  EXPECT_EQ(w["KUBERNETES_SERVICE_PORT"], "6443");
}

}  // namespace
}  // namespace codeflare::node
