#include "sdk/read_config.h"

#include "json/yaml.h"
#include "sdk/cluster_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace codeflare::sdk {
namespace {

ConfigReading read(std::string_view yaml, Names names = Names::fields) {
  const Result<std::vector<json::Document>> documents = json::parse_yaml(yaml);
  return read_config(documents.value().front().root, names);
}

std::vector<std::string> sentences(const ConfigReading& reading) {
  std::vector<std::string> lines;
  for (const Fault& fault : reading.faults) {
    lines.push_back(fault.sentence());
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(ReadConfig, defaults_are_those_of_a_plain_cluster) {
  const ConfigReading reading = read("name: demo");
  EXPECT_EQ(reading.config, ClusterConfig{.name = "demo"});
  EXPECT_TRUE(reading.faults.empty());
  EXPECT_TRUE(reading.advice.empty());
  EXPECT_EQ(reading.config.image_or_default(), "rayproject/ray:2.60.0");
}

TEST(ReadConfig, a_bare_number_of_memory_is_gigabytes_however_it_is_written) {
  EXPECT_EQ(read("{name: a, worker_memory_requests: 4}").config.worker_memory_requests, "4G");
  EXPECT_EQ(read("{name: a, worker_memory_requests: '4'}").config.worker_memory_requests, "4G");
  EXPECT_EQ(read("{name: a, head_memory_requests: '4'}").config.head_memory_requests, "4G");
  EXPECT_EQ(read("{name: a, worker_memory_requests: 4Gi}").config.worker_memory_requests, "4Gi");
}

TEST(ReadConfig, what_no_pod_can_have_is_named) {
  const auto lines = [](std::string_view yaml) { return sentences(read(yaml)); };
  EXPECT_EQ(lines("{name: a, volumes: [{name: data, emptyDir: {}}]}"), Lines());
  for (const std::string field : {"head_pod_overrides", "worker_pod_overrides"}) {
    const Lines told = lines("{name: a, " + field + ": {containers: [car]}}");
    ASSERT_EQ(told.size(), 1u);
    EXPECT_TRUE(told[0].starts_with(field + ": does not fit into a pod (")) << told[0];
    EXPECT_TRUE(told[0].ends_with("; write it as in a pod of Kubernetes")) << told[0];
  }
  EXPECT_EQ(lines("{name: a, head_pod_overrides: {containers: null}}"),
            Lines{"head_pod_overrides: does not fit into a pod (no container is left); write it as "
                  "in a pod of Kubernetes"});
  EXPECT_EQ(lines("{name: a, worker_tolerations: [5]}").size(), 1u);
  EXPECT_EQ(
      lines("{name: a, additional_worker_groups: [{group_name: b, tolerations: [5]}]}").size(), 1u);
}

TEST(ReadConfig, null_is_not_given) {
  EXPECT_EQ(read("{name: demo, namespace: null, image: null}").config,
            ClusterConfig{.name = "demo"});
}

TEST(ReadConfig, older_names_are_read_with_a_line_of_advice_each) {
  const ConfigReading reading = read(
      "{name: a, min_cpus: 2, max_cpus: 3, num_gpus: 1, head_cpus: 2, mcad: false, "
      "head_info: [x]}");
  EXPECT_EQ(sentences(reading), Lines());
  EXPECT_EQ(reading.config.worker_cpu_requests, "2");
  EXPECT_EQ(reading.config.worker_cpu_limits, "3");
  EXPECT_EQ(reading.config.worker_extended_resource_requests,
            (model::StringMap{{"nvidia.com/gpu", "1"}}));
  EXPECT_EQ(reading.config.head_cpu_limits, "2");
  EXPECT_EQ(reading.config.queueing, Queueing::none);
  EXPECT_EQ(reading.advice,
            (Lines{"min_cpus is an older name: use worker_cpu_requests",
                   "max_cpus is an older name: use worker_cpu_limits",
                   "num_gpus is an older name: use worker_extended_resource_requests = "
                   "{\"nvidia.com/gpu\": N}",
                   "head_cpus is an older name: use head_cpu_requests and head_cpu_limits",
                   "mcad is an older name: use queueing",
                   "head_info has no effect: no version ever read it"}));
}

TEST(ReadConfig, options_of_the_command_line_need_no_advice) {
  EXPECT_TRUE(read("{name: a, head_cpus: 2, worker_gpus: 1}", Names::options).advice.empty());
}

TEST(ReadConfig, names_that_contradict_each_other_are_a_fault) {
  EXPECT_EQ(sentences(read("{name: a, min_cpus: 2, worker_cpu_requests: 1}")),
            Lines{"min_cpus: 2 contradicts worker_cpu_requests = 1; give worker_cpu_requests "
                  "alone"});
  EXPECT_EQ(sentences(read("{name: a, min_worker: 1, max_worker: 3}")),
            Lines{"max_worker: 3 contradicts min_worker = 1; give num_workers alone"});
  EXPECT_EQ(sentences(read("{name: a, num_gpus: 1, worker_extended_resource_requests: "
                           "{nvidia.com/gpu: 2}}")),
            Lines{"num_gpus: 1 contradicts worker_extended_resource_requests[nvidia.com/gpu] = 2; "
                  "give worker_extended_resource_requests alone"});
  EXPECT_EQ(sentences(read("{name: a, mcad: true, queueing: none}")).size(), 1u);
}

TEST(ReadConfig, names_that_agree_are_none) {
  EXPECT_EQ(sentences(read("{name: a, min_memory: 3, worker_memory_requests: 3G}")), Lines());
  EXPECT_EQ(sentences(read("{name: a, mcad: true, queueing: appwrapper}")), Lines());
}

TEST(ReadConfig, every_fault_is_reported_at_once_with_field_value_and_fix) {
  const ConfigReading reading = read(
      "{name: Demo_1, num_workers: -1, worker_memory_requests: 3 G, worker_cpu_requests: 4, "
      "image: 7, wokers: 2, labels: {team: 'a b'}, head_cpu_limits: [1]}");
  EXPECT_EQ(
      sentences(reading),
      (Lines{"worker_memory_requests: \"3 G\" is not a quantity; give an amount such as 8G or "
             "512Mi; a bare number is gigabytes",
             "image: 7 is not text; give text in quotes",
             "wokers: 2 is given for an unknown field; remove it",
             "head_cpu_limits: [1] is not a quantity; give CPUs such as 2, 0.5 or 500m",
             "name: Demo_1 is not a valid name; use lower-case letters, digits and '-', beginning "
             "with a letter",
             "num_workers: -1 is negative; give 0 or more",
             "worker_cpu_requests: 4 is more than worker_cpu_limits (1); raise the limit",
             "labels: team=a b is not a valid value; " + reading.faults.back().fix}));
  EXPECT_NE(config_error(reading.faults).message.find("has 8 problems:"), std::string::npos);
}

TEST(ReadConfig, a_misspelt_field_gets_a_suggestion) {
  EXPECT_EQ(sentences(read("{name: a, num_worker: 2}")),
            Lines{"num_worker: 2 is given for an unknown field; did you mean num_workers?"});
  EXPECT_EQ(sentences(read("{name: a, additional_worker_groups: [{group_name: b, replica: 1}]}")),
            Lines{"additional_worker_groups[0].replica: 1 is given for an unknown field; did you "
                  "mean replicas?"});
}

TEST(ReadConfig, devices_need_a_name_in_ray) {
  EXPECT_EQ(sentences(read("{name: a, worker_extended_resource_requests: {example.com/card: 1}}")),
            Lines{"worker_extended_resource_requests: example.com/card has no name in Ray; add it "
                  "to extended_resource_mapping, such as {\"example.com/card\": \"GPU\"}"});
  EXPECT_EQ(sentences(read("{name: a, extended_resource_mapping: {nvidia.com/gpu: CARD}}")),
            Lines{"extended_resource_mapping: nvidia.com/gpu=CARD replaces the built-in name GPU; "
                  "set overwrite_default_resource_mapping"});
  EXPECT_EQ(sentences(read("{name: a, worker_gpus: -1}")),
            Lines{"worker_gpus: -1 is negative; give 0 or more GPUs"});
}

TEST(ReadConfig, fields_that_need_each_other_are_checked) {
  const auto first = [](std::string_view yaml) {
    const Lines lines = sentences(read(yaml));
    return lines.empty() ? "" : lines.front();
  };
  EXPECT_EQ(first("{name: a, enable_autoscaling: true}"),
            "enable_autoscaling: true needs min_workers and max_workers; give both");
  EXPECT_EQ(first("{name: a, enable_autoscaling: true, min_workers: 3, max_workers: 1}"),
            "max_workers: 1 is below min_workers (3); give min_workers <= max_workers");
  EXPECT_EQ(first("{name: a, enable_gcs_ft: true}"),
            "redis_address: is missing; give the address of Redis, or remove enable_gcs_ft");
  EXPECT_EQ(first("{name: a, redis_password_secret: {name: x}}"),
            "redis_password_secret: does not consist of name and key; give the name of the Secret "
            "and the key in it");
  EXPECT_EQ(first("{name: a, instascale: true}"),
            "machine_types: is missing; name a machine type, or remove instascale");
  EXPECT_EQ(first("{name: a, queueing: none, priority: 3}"),
            "priority: needs an AppWrapper; remove it, or remove queueing = none");
  EXPECT_EQ(first("{name: a, queueing: appwrapper, local_queue: q}"),
            "local_queue: q is a queue of Kueue; set queueing = kueue");
  EXPECT_EQ(first("{name: a, queueing: kueue}"),
            "local_queue: is missing; name the LocalQueue of Kueue");
  EXPECT_EQ(first("{name: a, queueing: magic}"),
            "queueing: \"magic\" is not a way of queueing; give appwrapper, kueue or none");
}

TEST(ReadConfig, times_are_read_as_people_write_them) {
  EXPECT_EQ(read("{name: a, max_time: 6h}").config.max_seconds, 6 * 3600);
  EXPECT_EQ(read("{name: a, max_time: 1h30m}").config.max_seconds, 5400);
  EXPECT_EQ(read("{name: a, max_time: 90}").config.max_seconds, 90);
  for (const char* wrong : {"soon", "-1h", "-5", "10ms", "[]"}) {
    EXPECT_EQ(read("{name: a, max_time: " + std::string(wrong) + "}").faults.size(), 1u) << wrong;
  }
}

TEST(ReadConfig, worker_groups_are_checked_each) {
  EXPECT_EQ(sentences(read("name: a\nadditional_worker_groups:\n"
                           "- {group_name: workers}\n"
                           "- {group_name: b, gpu_count: 1}\n"
                           "- {group_name: b, min_replicas: 3, max_replicas: 1}\n"
                           "- 5\n"))
                .size(),
            6u);
}

TEST(ReadConfig, any_other_value_is_no_configuration) {
  for (const char* text : {"[]", "7", "text", "true"}) {
    EXPECT_FALSE(read(text).faults.empty()) << text;
  }
}

TEST(ReadConfigFile, errors_name_the_file) {
  const Result<ConfigReading> broken = read_config_file("name: [", "demo.yaml");
  ASSERT_FALSE(broken.has_value());
  EXPECT_TRUE(broken.error().message.starts_with("demo.yaml: ")) << broken.error().message;
  EXPECT_EQ(read_config_file("name: a\n---\nname: b\n", "demo.yaml").error().message,
            "demo.yaml: has 2 documents; a cluster configuration is one");
}

TEST(ClusterFields, names_and_flags_are_unique) {
  std::set<std::string> names;
  std::set<std::string> flags;
  const auto add_flags = [&](std::string_view list) {
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      EXPECT_TRUE(flags.emplace(list.substr(0, comma)).second) << list;
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
  };
  for (const Field& field : cluster_fields()) {
    EXPECT_TRUE(names.emplace(field.name).second) << field.name;
    EXPECT_FALSE(field.help.empty()) << field.name;
    add_flags(field.flags);
  }
  for (const Alias& alias : cluster_aliases()) {
    EXPECT_TRUE(names.emplace(alias.name).second) << alias.name;
    EXPECT_TRUE(alias.rule == Alias::Rule::no_effect || find_field(alias.field) != nullptr)
        << alias.name;
    add_flags(alias.flags);
  }
}

TEST(ClusterFields, defaults_are_written_as_people_write_them) {
  EXPECT_EQ(default_text(*find_field("worker_memory_limits")), "6G");
  EXPECT_EQ(default_text(*find_field("num_workers")), "1");
  EXPECT_EQ(default_text(*find_field("instascale")), "false");
  EXPECT_EQ(default_text(*find_field("max_time")), "");
  EXPECT_EQ(default_text(*find_field("ray_version")), "2.60.0");
  EXPECT_EQ(default_text(*find_field("volumes")), "");
}

}  // namespace
}  // namespace codeflare::sdk
