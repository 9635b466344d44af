#include "apiserver/schema/builtin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace codeflare::apiserver::schema {
namespace {

// The node at a path of field names below a kind; lists and maps are entered without a word.
const Node* at(const Node* node, std::initializer_list<std::string_view> path) {
  for (std::string_view name : path) {
    while (node != nullptr && node->shape != Shape::structure) {
      node = node->items;
    }
    if (node == nullptr) {
      return nullptr;
    }
    const Field* field = node->find(name);
    node = field == nullptr ? nullptr : field->node;
  }
  return node;
}

const Node* pod() {
  return find_builtin("", "v1", "Pod");
}

const BuiltinResource* find_resource(std::string_view group, std::string_view version,
                                     std::string_view plural) {
  for (const BuiltinResource& resource : builtin_resources()) {
    if (resource.group == group && resource.version == version && resource.plural == plural) {
      return &resource;
    }
  }
  return nullptr;
}

// Every node that can be reached from a kind.
std::set<const Node*> all_nodes() {
  std::set<const Node*> seen;
  std::vector<const Node*> todo{&object_meta()};
  for (const BuiltinKind& kind : builtin_kinds()) {
    todo.push_back(kind.schema);
  }
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    if (node == nullptr || !seen.insert(node).second) {
      continue;
    }
    todo.push_back(node->items);
    for (const Field& field : node->fields) {
      todo.push_back(field.node);
    }
    for (const Field& field : node->inlined) {
      todo.push_back(field.node);
    }
  }
  return seen;
}

TEST(Builtin, finds_kinds_by_group_version_and_kind_only) {
  ASSERT_NE(pod(), nullptr);
  EXPECT_EQ(pod()->type_name, "io.k8s.api.core.v1.Pod");
  ASSERT_NE(find_builtin("apps", "v1", "Deployment"), nullptr);
  EXPECT_EQ(find_builtin("apps", "v1", "Pod"), nullptr);
  EXPECT_EQ(find_builtin("", "v2", "Pod"), nullptr);
  EXPECT_EQ(find_builtin("", "v1", "pod"), nullptr);
  EXPECT_EQ(find_builtin("", "", ""), nullptr);
  EXPECT_EQ(find_builtin("zzz", "v1", "Zzz"), nullptr);
}

TEST(Builtin, knows_kinds_that_only_travel) {
  EXPECT_EQ(find_builtin("", "v1", "Status")->type_name,
            "io.k8s.apimachinery.pkg.apis.meta.v1.Status");
  for (std::string_view kind :
       {"DeleteOptions", "CreateOptions", "ListOptions", "Binding", "PodLogOptions", "List"}) {
    EXPECT_NE(find_builtin("", "v1", kind), nullptr) << kind;
  }
  EXPECT_NE(find_builtin("autoscaling", "v1", "Scale"), nullptr);
  EXPECT_NE(find_builtin("policy", "v1", "Eviction"), nullptr);
  EXPECT_NE(find_builtin("authentication.k8s.io", "v1", "TokenRequest"), nullptr);
  EXPECT_NE(find_builtin("authorization.k8s.io", "v1", "SelfSubjectRulesReview"), nullptr);
  EXPECT_EQ(find_builtin("", "v1", "WatchEvent"), nullptr);
}

TEST(Builtin, kinds_are_sorted_and_complete) {
  auto key = [](const BuiltinKind& k) { return std::tuple(k.group, k.version, k.kind); };
  EXPECT_TRUE(std::ranges::is_sorted(builtin_kinds(), {}, key));
  for (const BuiltinKind& kind : builtin_kinds()) {
    ASSERT_NE(kind.schema, nullptr) << kind.kind;
    EXPECT_EQ(kind.schema->shape, Shape::structure) << kind.kind;
    EXPECT_NE(kind.schema->find("apiVersion"), nullptr) << kind.kind;
    EXPECT_NE(kind.schema->find("kind"), nullptr) << kind.kind;
    EXPECT_EQ(find_builtin(kind.group, kind.version, kind.kind), kind.schema) << kind.kind;
  }
}

TEST(Builtin, every_node_is_well_formed) {
  const auto nodes = all_nodes();
  EXPECT_GT(nodes.size(), 800U);
  for (const Node* node : nodes) {
    EXPECT_TRUE(std::ranges::is_sorted(node->fields, {}, &Field::name)) << node->type_name;
    EXPECT_EQ(node->shape == Shape::structure, !node->type_name.empty());
    EXPECT_EQ(node->shape == Shape::integer, node->bits != 0);
    if (node->shape == Shape::list || node->shape == Shape::map) {
      EXPECT_NE(node->items, nullptr);
    }
    EXPECT_EQ(node->list_type == ListType::map, !node->map_keys.empty());
    std::set<unsigned> numbers;
    for (std::span fields : {node->fields, node->inlined}) {
      for (const Field& field : fields) {
        if (field.wire.number == 0) {
          continue;
        }
        EXPECT_TRUE(numbers.insert(field.wire.number).second) << node->type_name << field.name;
      }
    }
  }
}

TEST(Builtin, keys_of_lists_are_fields_of_their_elements) {
  for (const Node* node : all_nodes()) {
    for (std::string_view key : node->map_keys) {
      EXPECT_NE(node->items->find(key), nullptr) << node->items->type_name << '.' << key;
    }
    if (!node->merge_key.empty()) {
      EXPECT_NE(node->items->find(node->merge_key), nullptr) << node->merge_key;
    }
  }
}

TEST(Builtin, shapes_are_those_of_json_not_of_go) {
  EXPECT_EQ(at(pod(), {"metadata", "creationTimestamp"})->shape, Shape::time);
  EXPECT_EQ(at(pod(), {"spec", "containers", "resources", "limits"})->shape, Shape::map);
  EXPECT_EQ(at(pod(), {"spec", "containers", "resources", "limits"})->items->shape,
            Shape::quantity);
  EXPECT_EQ(at(pod(), {"spec", "containers", "livenessProbe", "httpGet", "port"})->shape,
            Shape::int_or_string);
  EXPECT_EQ(at(find_builtin("", "v1", "Secret"), {"data"})->items->shape, Shape::bytes);
  EXPECT_EQ(at(find_builtin("coordination.k8s.io", "v1", "Lease"), {"spec", "renewTime"})->shape,
            Shape::micro_time);
  EXPECT_EQ(at(pod(), {"metadata", "managedFields", "fieldsV1"})->shape, Shape::any);
  EXPECT_EQ(at(pod(), {"metadata"}), &object_meta());
}

TEST(Builtin, lists_know_how_they_are_merged) {
  const Node* ports = at(pod(), {"spec", "containers", "ports"});
  EXPECT_EQ(ports->list_type, ListType::map);
  EXPECT_EQ(std::vector(ports->map_keys.begin(), ports->map_keys.end()),
            (std::vector<std::string_view>{"containerPort", "protocol"}));
  EXPECT_EQ(ports->merge_key, "containerPort");
  EXPECT_EQ(ports->patch, PatchStrategy::merge);
  EXPECT_EQ(at(ports, {"protocol"})->default_json, "\"TCP\"");
  EXPECT_EQ(at(pod(), {"metadata", "finalizers"})->list_type, ListType::set);
  EXPECT_EQ(at(pod(), {"spec", "containers", "args"})->list_type, ListType::atomic);
  EXPECT_TRUE(at(pod(), {"spec", "volumes"})->retain_keys);
  const Node* strategy = at(find_builtin("apps", "v1", "Deployment"), {"spec", "strategy"});
  EXPECT_TRUE(strategy->retain_keys);
  EXPECT_EQ(strategy->patch, PatchStrategy::none);
  EXPECT_EQ(at(find_builtin("policy", "v1", "PodDisruptionBudget"), {"spec", "selector"})->patch,
            PatchStrategy::replace);
  EXPECT_TRUE(at(find_builtin("apps", "v1", "Deployment"), {"spec", "selector"})->atomic);
  EXPECT_TRUE(at(pod(), {"spec", "nodeSelector"})->atomic);
}

TEST(Builtin, zero_values_that_the_published_form_repeats_are_no_defaults) {
  EXPECT_EQ(at(pod(), {"spec", "containers", "name"})->default_json, "");
  EXPECT_EQ(at(pod(), {"metadata"})->default_json, "");
  EXPECT_EQ(at(find_builtin("autoscaling", "v1", "Scale"), {"spec", "replicas"})->default_json, "");
}

TEST(Builtin, inlined_messages_stand_beside_their_flattened_fields) {
  const Node* volume = at(pod(), {"spec", "volumes"})->items;
  ASSERT_EQ(volume->inlined.size(), 1U);
  EXPECT_EQ(volume->inlined[0].wire.number, 2);
  EXPECT_NE(volume->inlined[0].node->find("emptyDir"), nullptr);
  EXPECT_EQ(volume->find("emptyDir")->wire.number, 0);
  EXPECT_TRUE(volume->find("emptyDir")->wire.pointer);
  EXPECT_EQ(volume->find("name")->wire.number, 1);
}

TEST(Builtin, fields_say_which_zero_values_are_shown) {
  const Node* spec = at(pod(), {"spec"});
  EXPECT_FALSE(spec->find("containers")->wire.omit_empty);
  EXPECT_TRUE(spec->find("hostNetwork")->wire.omit_empty);
  // A structure that is not a pointer is always there.
  EXPECT_FALSE(pod()->find("status")->wire.omit_empty);
  EXPECT_TRUE(object_meta().find("creationTimestamp")->wire.omit_empty);
  EXPECT_TRUE(spec->find("terminationGracePeriodSeconds")->wire.pointer);
  EXPECT_TRUE(spec->find("containers")->required);
  EXPECT_FALSE(spec->find("hostNetwork")->required);
}

TEST(Builtin, schemas_of_custom_resources_contain_themselves) {
  const Node* props = at(find_builtin("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
                         {"spec", "versions", "schema", "openAPIV3Schema"});
  ASSERT_NE(props, nullptr);
  EXPECT_NE(props->find("x-kubernetes-validations"), nullptr);
  EXPECT_EQ(at(props, {"properties"})->items, props);
  const Node* items = at(props, {"items"});
  EXPECT_EQ(items->shape, Shape::any);
  EXPECT_EQ(items->encoding, Encoding::schema_or_list);
  EXPECT_EQ(items->items, props);
}

TEST(Builtin, resources_are_those_of_a_default_server) {
  const BuiltinResource* pods = find_resource("", "v1", "pods");
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(pods->kind, "Pod");
  EXPECT_EQ(pods->singular, "pod");
  EXPECT_TRUE(pods->namespaced);
  EXPECT_EQ(pods->schema, pod());
  EXPECT_EQ(pods->storage_version_hash, "xPOwRZ+Yhw8=");
  EXPECT_EQ(std::vector(pods->short_names.begin(), pods->short_names.end()),
            std::vector<std::string_view>{"po"});
  EXPECT_FALSE(find_resource("", "v1", "nodes")->namespaced);
  // Off by default.
  EXPECT_EQ(find_resource("storage.k8s.io", "v1beta1", "volumeattributesclasses"), nullptr);
  EXPECT_EQ(find_resource("internal.apiserver.k8s.io", "v1alpha1", "storageversions"), nullptr);
  for (const BuiltinResource& resource : builtin_resources()) {
    EXPECT_EQ(find_builtin(resource.group, resource.version, resource.kind), resource.schema);
    EXPECT_FALSE(resource.verbs.empty());
  }
}

TEST(Builtin, subresources_name_the_kind_they_speak) {
  const auto subresources = find_resource("apps", "v1", "deployments")->subresources;
  ASSERT_EQ(subresources.size(), 2U);
  EXPECT_EQ(subresources[0].name, "scale");
  EXPECT_EQ(subresources[0].group, "autoscaling");
  EXPECT_EQ(subresources[0].kind, "Scale");
  EXPECT_EQ(subresources[1].name, "status");
  EXPECT_EQ(subresources[1].group, "");
  EXPECT_EQ(subresources[1].kind, "Deployment");
}

TEST(Builtin, groups_come_in_the_order_of_discovery) {
  std::vector<std::string> order;
  for (const BuiltinResource& resource : builtin_resources()) {
    std::string gv = std::string(resource.group) + "/" + std::string(resource.version);
    if (order.empty() || order.back() != gv) {
      order.push_back(gv);
    }
  }
  EXPECT_EQ(order, (std::vector<std::string>{"/v1",
                                             "apiregistration.k8s.io/v1",
                                             "apps/v1",
                                             "events.k8s.io/v1",
                                             "authentication.k8s.io/v1",
                                             "authorization.k8s.io/v1",
                                             "autoscaling/v2",
                                             "autoscaling/v1",
                                             "batch/v1",
                                             "certificates.k8s.io/v1",
                                             "networking.k8s.io/v1",
                                             "policy/v1",
                                             "rbac.authorization.k8s.io/v1",
                                             "storage.k8s.io/v1",
                                             "admissionregistration.k8s.io/v1",
                                             "apiextensions.k8s.io/v1",
                                             "scheduling.k8s.io/v1",
                                             "coordination.k8s.io/v1",
                                             "node.k8s.io/v1",
                                             "discovery.k8s.io/v1",
                                             "resource.k8s.io/v1",
                                             "flowcontrol.apiserver.k8s.io/v1"}));
}

}  // namespace
}  // namespace codeflare::apiserver::schema
