#include "sdk/gang_job.h"

#include "json/write.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

GangJob small_gang() {
  return {.name = "train",
          .ns = "team",
          .labels = {{"codeflare.dev/job", "train"}},
          .image = "python:3.11",
          .argv = {"python3", "train.py", "--lr", "0.1"},
          .resources = {{"cpu", "2"}, {"memory", "4Gi"}}};
}

std::string at(const json::Value& root, std::string_view pointer) {
  const json::Value* value = &root;
  while (!pointer.empty()) {
    const std::size_t end = pointer.find('/');
    const std::string_view word = pointer.substr(0, end);
    pointer = end == std::string_view::npos ? "" : pointer.substr(end + 1);
    if (value->is_array()) {
      const std::size_t index = static_cast<std::size_t>(std::stoi(std::string(word)));
      value = index < value->size() ? &value->items()[index] : nullptr;
    } else {
      value = value->find(word);
    }
    if (value == nullptr) {
      return "(none)";
    }
  }
  return json::to_text(*value);
}

TEST(GangJob, one_pod_is_an_indexed_job_without_a_service) {
  const json::Document objects = gang_objects(small_gang());
  ASSERT_EQ(objects.root.size(), 1u);
  const json::Value& job = objects.root.items()[0];
  EXPECT_EQ(at(job, "kind"), R"("Job")");
  EXPECT_EQ(at(job, "metadata"),
            R"({"name":"train","namespace":"team","labels":{"codeflare.dev/job":"train"}})");
  EXPECT_EQ(at(job, "spec/completionMode"), R"("Indexed")");
  EXPECT_EQ(at(job, "spec/completions"), "1");
  EXPECT_EQ(at(job, "spec/backoffLimit"), "0");
  EXPECT_EQ(at(job, "spec/podFailurePolicy"), R"({"rules":[{"action":"Ignore","onPodConditions":[)"
                                              R"({"type":"DisruptionTarget","status":"True"}]}]})");
  EXPECT_EQ(at(job, "spec/template/metadata/labels"), R"({"codeflare.dev/job":"train"})");
  EXPECT_EQ(at(job, "spec/template/spec/restartPolicy"), R"("Never")");
  EXPECT_EQ(at(job, "spec/template/spec/subdomain"), "(none)");
  EXPECT_EQ(at(job, "spec/template/spec/containers/0/command"),
            R"(["python3","train.py","--lr","0.1"])");
  EXPECT_EQ(at(job, "spec/template/spec/containers/0/env"), "(none)");
  EXPECT_EQ(at(job, "spec/template/spec/containers/0/resources"),
            R"({"requests":{"cpu":"2","memory":"4Gi"},"limits":{"cpu":"2","memory":"4Gi"}})");
  EXPECT_EQ(at(job, "spec/template/spec/volumes"),
            R"([{"name":"dshm","emptyDir":{"medium":"Memory","sizeLimit":"4Gi"}}])");
}

TEST(GangJob, several_pods_find_each_other_by_rank_and_the_address_of_the_first) {
  GangJob gang = small_gang();
  gang.pods = 3;
  gang.env = {{"MASTER_PORT", "1234"}, {"COST", "$(RANK) and $$"}};
  const json::Document objects = gang_objects(gang);
  ASSERT_EQ(objects.root.size(), 2u);
  const json::Value& service = objects.root.items()[0];
  EXPECT_EQ(at(service, "kind"), R"("Service")");
  EXPECT_EQ(at(service, "spec/clusterIP"), R"("None")");
  EXPECT_EQ(at(service, "spec/publishNotReadyAddresses"), "true");
  EXPECT_EQ(at(service, "spec/selector"), R"({"batch.kubernetes.io/job-name":"train"})");
  const json::Value& job = objects.root.items()[1];
  EXPECT_EQ(at(job, "spec/parallelism"), "3");
  EXPECT_EQ(at(job, "spec/template/spec/subdomain"), R"("train")");
  EXPECT_EQ(at(job, "spec/template/spec/containers/0/env"),
            R"([{"name":"RANK","valueFrom":{"fieldRef":{"fieldPath":)"
            R"("metadata.annotations['batch.kubernetes.io/job-completion-index']"}}},)"
            R"({"name":"MASTER_ADDR","value":"train-0.train"},{"name":"WORLD_SIZE","value":"3"},)"
            R"({"name":"COST","value":"$$(RANK) and $$$"},{"name":"MASTER_PORT","value":"1234"}])");
}

TEST(GangJob, torchrun_meets_at_replica_0_over_c10d) {
  GangJob gang = small_gang();
  gang.argv = {"train.py", "$(HOME)"};
  gang.pods = 2;
  gang.processes_per_pod = 4;
  gang.restarts = 1;
  gang.torchrun = true;
  const json::Document objects = gang_objects(gang);
  ASSERT_EQ(objects.root.size(), 2u);
  const json::Value& job = objects.root.items()[1];
  const std::string words = at(job, "spec/template/spec/containers/0/command");
  EXPECT_TRUE(words.starts_with(R"(["python3","-c",)"));
  EXPECT_TRUE(words.ends_with(
      R"("train-0.train","29500","--rdzv_backend=c10d","--rdzv_id=train","--nnodes=2",)"
      R"("--nproc_per_node=4","--max_restarts=1","--redirects=1","--tee=1","--role=",)"
      R"x("train.py","$$(HOME)"])x"))
      << words;
  EXPECT_EQ(at(job, "spec/template/spec/containers/0/env"), "(none)");  // torchrun sets them
}

TEST(GangJob, keeps_every_word_literal) {
  EXPECT_EQ(literal_word("plain $HOME ${X} $"), "plain $HOME ${X} $");
  EXPECT_EQ(literal_word("$(X)"), "$$(X)");
  EXPECT_EQ(literal_word("$$"), "$$$");
  EXPECT_EQ(literal_word("$$(X)"), "$$$$(X)");
  EXPECT_EQ(literal_word("$$$"), "$$$$$");
}

TEST(GangJob, adds_volumes_and_init_containers_as_given) {
  GangJob gang = small_gang();
  gang.shared_memory = false;
  gang.volumes = {R"([{"name":"code","emptyDir":{}}])"};
  gang.volume_mounts = {R"([{"name":"code","mountPath":"/code"}])"};
  gang.init_containers = {R"([{"name":"code","image":"codeflare:1"}])"};
  gang.pull_secrets = {"registry"};
  gang.deadline_seconds = 60;
  const json::Document objects = gang_objects(gang);
  const json::Value& job = objects.root.items()[0];
  EXPECT_EQ(at(job, "spec/activeDeadlineSeconds"), "60");
  EXPECT_EQ(at(job, "spec/template/spec/volumes"), R"([{"name":"code","emptyDir":{}}])");
  EXPECT_EQ(at(job, "spec/template/spec/initContainers"),
            R"([{"name":"code","image":"codeflare:1"}])");
  EXPECT_EQ(at(job, "spec/template/spec/imagePullSecrets"), R"([{"name":"registry"}])");
  EXPECT_EQ(at(job, "spec/template/spec/containers/0/volumeMounts"),
            R"([{"name":"code","mountPath":"/code"}])");
}

TEST(GangJob, names_every_fault_at_once) {
  GangJob gang = small_gang();
  gang.name = "1Train";
  gang.argv = {};
  gang.pods = 0;
  gang.resources = {{"cpu", "two"}, {"memory", "0"}};
  gang.env = {{"A B", ""}};
  gang.volumes = {"{}"};
  const Result<void> checked = check(gang);
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument);
  for (const std::string_view part :
       {"job '1Train': name: ", "the command is missing", "number of pods 0: must be from 1",
        "cpu 'two': not a quantity", "memory '0': must be more than 0", "variable 'A B'",
        "volumes: must be a JSON list"}) {
    EXPECT_TRUE(checked.error().message.contains(part)) << part << ": " << checked.error().message;
  }
  EXPECT_TRUE(check(small_gang()).has_value());
}

TEST(GangJob, leaves_room_for_the_names_of_pods) {
  GangJob gang = small_gang();
  gang.name = std::string(60, 'a');
  gang.pods = 10;
  EXPECT_TRUE(check(gang).has_value());
  gang.name += "b";
  const Result<void> checked = check(gang);
  ASSERT_FALSE(checked.has_value());
  EXPECT_TRUE(checked.error().message.contains("no more than 60 characters"));
}

TEST(Wrapping, queues_objects_with_priority_quota_and_limit) {
  GangJob gang = small_gang();
  gang.pods = 2;
  const json::Document wrapper = wrap({.name = "train",
                                       .ns = "team",
                                       .labels = {{"codeflare.dev/job", "train"}},
                                       .quota = {{"context", "gold"}},
                                       .priority = 5,
                                       .limit_seconds = 3600,
                                       .suspended = true},
                                      gang_objects(gang).root);
  EXPECT_EQ(at(wrapper.root, "metadata/labels"),
            R"({"codeflare.dev/job":"train","context":"gold"})");
  EXPECT_EQ(at(wrapper.root, "spec/priority"), "5");
  EXPECT_EQ(at(wrapper.root, "spec/suspend"), "true");
  EXPECT_EQ(at(wrapper.root, "spec/schedulingSpec/dispatchDuration/limit"), "3600");
  EXPECT_EQ(at(wrapper.root, "spec/resources/GenericItems/0/completionstatus"), "(none)");
  EXPECT_EQ(at(wrapper.root, "spec/resources/GenericItems/0/generictemplate/kind"), R"("Service")");
  EXPECT_EQ(at(wrapper.root, "spec/resources/GenericItems/1/completionstatus"), R"("Complete")");
}

}  // namespace
}  // namespace codeflare::sdk
