#include "apiserver/housekeeping/housekeeping.h"
#include "apiserver/kinds/strategies.h"
#include "apiserver/registry/edit.h"
#include "apiserver/store/testing/store_world.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/status.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

// A store, what is served, and the rules in front of it; writes go through the rules as the
// pipeline would send them.
class RulesWorld {
 public:
  RulesWorld() {
    add_builtin_resources(
        registry, [&](std::string_view name) { return world.store().collection(name); },
        [](Resource& resource) {
          resource.strategy = builtin_strategy(resource.group, resource.plural);
        });
    rules.emplace(world.env(), world.store(), registry);
  }

  // The message of the rejection; "ok" when it was committed. `hold` leaves the write on its way.
  std::string create(std::string_view group, std::string_view plural, std::string_view key,
                     std::string_view json, bool hold = false) {
    const ResourcePtr resource = registry.find(group, plural);
    const std::size_t slash = key.find('/');
    const std::string ns(slash == std::string_view::npos ? "" : key.substr(0, slash));
    const std::string name(slash == std::string_view::npos ? key : key.substr(slash + 1));
    json::Document document = *json::parse(json);
    json::Arena& arena = document.arena;
    json::Value& metadata = make_object(arena, document.root, "metadata");
    metadata.set(arena, "name", json::Value::string(arena, name));
    metadata.set(arena, "uid", json::Value::string(arena, "uid-" + std::string(key)));
    if (!ns.empty()) {
      metadata.set(arena, "namespace", json::Value::string(arena, ns));
    }
    WriteContext context{
        .arena = arena, .now = {}, .subresource = {}, .warnings = nullptr, .user = &user};
    resource->strategy->set_defaults(context, document.root);
    AdmissionRequest request{.user = user,
                             .resource = *resource,
                             .ns = ns,
                             .name = name,
                             .object = &document.root,
                             .context = context};
    Result<void> verdict;
    for (Admission* rule : rules->all()) {
      verdict = verdict ? rule->mutate(request) : verdict;
    }
    for (Admission* rule : rules->all()) {
      verdict = verdict ? rule->validate(request) : verdict;
    }
    if (verdict && hold) {
      for (auto& finish : request.on_finish) {
        on_their_way.push_back(std::move(finish));
      }
      return "ok";
    }
    if (verdict) {
      EXPECT_TRUE(world.commit({.collection = resource->collection,
                                .ns = ns,
                                .name = name,
                                .text = json::to_text(document.root)}));
      last = json::to_text(document.root);
    }
    for (auto& finish : request.on_finish) {
      finish(verdict.has_value());
    }
    return verdict ? "ok" : verdict.error().message;
  }

  // The writes that were held end so.
  void finish(bool written) {
    for (const auto& each : on_their_way) {
      each(written);
    }
  }

  void remove(std::string_view plural, std::string_view ns, std::string_view name) {
    const CollectionId id = world.store().collection(plural);
    EXPECT_TRUE(world.commit(world.removal(world.store().get(id, ns, name))));
  }

  std::string used(std::string_view resource) {
    const QuotaKeeper::Status* status = quota().status("a", "q");
    return status == nullptr ? "no quota" : status->used.get(resource).to_string();
  }
  QuotaKeeper& quota() { return *dynamic_cast<QuotaKeeper*>(rules->all().back()); }

  StoreWorld world;
  Registry registry;
  std::optional<HousekeepingRules> rules;
  User user{.name = "u"};
  std::string last;
  std::vector<std::function<void(bool)>> on_their_way;
};

constexpr std::string_view kPod = R"({"spec":{"containers":[{"name":"c","image":"x:1",
    "resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}})";

TEST(NamespaceAdmission, refuses_what_has_no_home) {
  RulesWorld w;
  EXPECT_EQ(w.create("", "pods", "a/p", kPod), "namespaces \"a\" not found");
  EXPECT_EQ(w.create("", "namespaces", "a", "{}"), "ok");
  EXPECT_EQ(w.create("", "pods", "a/p", kPod), "ok");
}

TEST(PodAdmission, gives_pods_their_priority_and_patience) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  EXPECT_EQ(w.create("", "pods", "a/p", kPod), "ok");
  json::Document pod = *json::parse(w.last);
  EXPECT_EQ(json::to_text(*pod.root.get({"spec", "priority"})), "0");
  EXPECT_EQ(pod.root.get({"spec", "tolerations"})->size(), 2u);
  EXPECT_EQ(w.create("", "pods", "a/q", R"({"spec":{"priorityClassName":"high","containers":[]}})"),
            "pods \"q\" is forbidden: no PriorityClass with name high was found");
  EXPECT_EQ(w.create("scheduling.k8s.io", "priorityclasses", "high", R"({"value":7})"), "ok");
  EXPECT_EQ(w.create("", "pods", "a/q", R"({"spec":{"priorityClassName":"high","containers":[]}})"),
            "ok");
  pod = *json::parse(w.last);
  EXPECT_EQ(json::to_text(*pod.root.get({"spec", "priority"})), "7");
}

TEST(PodAdmission, needs_the_runtime_class_that_a_pod_asks_for) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  const std::string pod = R"({"spec":{"runtimeClassName":"gvisor","containers":[]}})";
  EXPECT_EQ(w.create("", "pods", "a/p", pod),
            "pods \"p\" is forbidden: pod rejected: RuntimeClass \"gvisor\" not found");
  EXPECT_EQ(w.create("node.k8s.io", "runtimeclasses", "gvisor", R"({"handler":"runsc"})"), "ok");
  EXPECT_EQ(w.create("", "pods", "a/p", pod), "ok");
}

TEST(PodAdmission, knows_one_default_class_only) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  EXPECT_EQ(w.create("scheduling.k8s.io", "priorityclasses", "usual",
                     R"({"value":3,"globalDefault":true})"),
            "ok");
  EXPECT_EQ(w.create("", "pods", "a/p", kPod), "ok");
  const json::Document pod = *json::parse(w.last);
  EXPECT_EQ(text_at(*pod.root.find("spec"), "priorityClassName"), "usual");
  EXPECT_EQ(w.create("scheduling.k8s.io", "priorityclasses", "other",
                     R"({"value":4,"globalDefault":true})"),
            "priorityclasses.scheduling.k8s.io \"other\" is forbidden: PriorityClass usual is "
            "already marked as default. Only one default can exist");
}

TEST(AddressAdmission, gives_each_service_an_address_of_its_own) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(w.create("", "services", "a/s" + std::to_string(i),
                       R"({"spec":{"type":"NodePort","ports":[{"port":80}]}})"),
              "ok");
    const json::Document service = *json::parse(w.last);
    const json::Value& spec = *service.root.find("spec");
    EXPECT_TRUE(text_at(spec, "clusterIP").starts_with("10."));
    EXPECT_EQ(json::to_text(*spec.find("ipFamilies")), R"(["IPv4"])");
    EXPECT_TRUE(seen.emplace(text_at(spec, "clusterIP")).second);
    EXPECT_TRUE(
        seen.insert(json::to_text(*spec.find("ports")->items()[0].find("nodePort"))).second);
  }
}

TEST(AddressAdmission, gives_a_taken_address_back_only_when_its_service_goes) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  const std::string service = R"({"spec":{"clusterIP":"10.96.0.9","ports":[{"port":80}]}})";
  EXPECT_EQ(w.create("", "services", "a/s", service), "ok");
  EXPECT_EQ(w.create("", "services", "a/t", service),
            "Service \"t\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.9\"]: failed to "
            "allocate IP 10.96.0.9: provided IP is already allocated");
  w.remove("services", "a", "s");
  EXPECT_EQ(w.create("", "services", "a/t", service), "ok");
  EXPECT_TRUE(w.create("", "services", "a/u", R"({"spec":{"clusterIP":"1.2.3.4"}})")
                  .contains("not in the valid range"));
  EXPECT_EQ(w.create("", "services", "a/h", R"({"spec":{"clusterIP":"None"}})"), "ok");
  EXPECT_EQ(w.create("", "services", "a/i", R"({"spec":{"clusterIP":"None"}})"), "ok");
}

TEST(AddressAdmission, gives_one_node_port_to_both_protocols_of_a_port) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  const std::string both =
      R"({"spec":{"type":"NodePort","ports":[{"name":"t","port":53,"nodePort":30053},)"
      R"({"name":"u","port":53,"protocol":"UDP","nodePort":30053}]}})";
  EXPECT_EQ(w.create("", "services", "a/dns", both), "ok");
  EXPECT_EQ(w.create("", "services", "a/other", both),
            "Service \"other\" is invalid: spec.ports[0].nodePort: Invalid value: 30053: provided "
            "port is already allocated");
  EXPECT_EQ(w.create("", "services", "a/two",
                     R"({"spec":{"type":"NodePort","ports":[{"name":"t","port":53,"nodePort":)"
                     R"(30054},{"name":"u","port":54,"nodePort":30054}]}})"),
            "Service \"two\" is invalid: spec.ports[1].nodePort: Invalid value: 30054: provided "
            "port is already allocated");
  w.remove("services", "a", "dns");
  EXPECT_EQ(w.create("", "services", "a/other", both), "ok") << "it was held once and given back";
}

TEST(AddressAdmission, gives_local_load_balancers_a_port_for_health_checks) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  const auto balancer = [](std::string_view more) {
    return R"({"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","ports":[{"port":80}])" +
           std::string(more) + "}}";
  };
  ASSERT_EQ(w.create("", "services", "a/s", balancer("")), "ok");
  const json::Document service = *json::parse(w.last);
  const std::int64_t port =
      integer_at(*service.root.find("spec"), "healthCheckNodePort").value_or(0);
  EXPECT_GE(port, 30000);
  EXPECT_LT(port, 32768);
  const std::string same = balancer(",\"healthCheckNodePort\":" + std::to_string(port));
  EXPECT_TRUE(w.create("", "services", "a/t", same).contains("already allocated"));
  w.remove("services", "a", "s");
  EXPECT_EQ(w.create("", "services", "a/t", same), "ok");
}

TEST(AddressAdmission, holds_an_address_for_a_service_on_its_way) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  const std::string service = R"({"spec":{"clusterIP":"10.96.0.9","ports":[{"port":80}]}})";
  EXPECT_EQ(w.create("", "services", "a/s", service, true), "ok");
  EXPECT_NE(w.create("", "services", "a/t", service), "ok");
  w.finish(false);
  EXPECT_EQ(w.create("", "services", "a/t", service), "ok");
}

TEST(LimitRangeAdmission, fills_in_what_containers_leave_open) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  EXPECT_EQ(w.create("", "limitranges", "a/l", R"({"spec":{"limits":[{"type":"Container",
      "default":{"cpu":"0.5"},"defaultRequest":{"cpu":"100m","memory":"1Gi"}}]}})"),
            "ok");
  EXPECT_EQ(w.create("", "pods", "a/p", R"({"spec":{"initContainers":[{"name":"i","image":"x:1"}],
      "containers":[{"name":"c","image":"x:1","resources":{"requests":{"memory":"2Gi"}}}]}})"),
            "ok");
  const json::Document pod = *json::parse(w.last);
  const json::Value& spec = *pod.root.find("spec");
  EXPECT_EQ(json::to_text(*items_at(spec, "containers")[0].find("resources")),
            R"({"requests":{"memory":"2Gi","cpu":"100m"},"limits":{"cpu":"500m"}})");
  EXPECT_EQ(text_at(*pod.root.get({"metadata", "annotations"}), "kubernetes.io/limit-ranger"),
            "LimitRanger plugin set: cpu request for container c; cpu limit for container c; "
            "cpu, memory request for init container i; cpu limit for init container i");
  EXPECT_EQ(text_at(*pod.root.find("status"), "qosClass"), "Burstable");
}

TEST(LimitRangeAdmission, refuses_containers_and_pods_out_of_bounds) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  w.create("", "limitranges", "a/l", R"({"spec":{"limits":[
      {"type":"Container","max":{"cpu":"2"},"min":{"cpu":"500m"},"maxLimitRequestRatio":{"cpu":"2"}},
      {"type":"Pod","max":{"cpu":"3"}}]}})");
  const auto pod = [&](std::string_view name, std::string_view request, std::string_view limit,
                       int count) {
    std::string containers;
    for (int i = 0; i < count; ++i) {
      containers += (i > 0 ? "," : "") + (R"({"name":"c)" + std::to_string(i)) +
                    R"(","image":"x:1","resources":{"requests":{"cpu":")" + std::string(request) +
                    R"("},"limits":{"cpu":")" + std::string(limit) + R"("}}})";
    }
    return w.create("", "pods", "a/" + std::string(name),
                    R"({"spec":{"containers":[)" + containers + "]}}");
  };
  EXPECT_EQ(pod("fits", "1", "1", 3), "ok");
  EXPECT_EQ(pod("large", "2", "3", 1),
            "pods \"large\" is forbidden: maximum cpu usage per Container is 2, but limit is 3");
  EXPECT_EQ(pod("small", "100m", "200m", 1),
            "pods \"small\" is forbidden: minimum cpu usage per Container is 500m, but request is "
            "100m");
  EXPECT_EQ(pod("uneven", "500m", "2", 1),
            "pods \"uneven\" is forbidden: cpu max limit to request ratio per Container is 2, but "
            "provided ratio is 4.000000");
  EXPECT_EQ(pod("many", "2", "2", 2),
            "pods \"many\" is forbidden: maximum cpu usage per Pod is 3, but limit is 4");
  w.remove("limitranges", "a", "l");
  EXPECT_EQ(pod("large", "2", "3", 1), "ok");
}

TEST(LimitRangeAdmission, bounds_the_storage_of_claims) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  w.create("", "limitranges", "a/l", R"({"spec":{"limits":[{"type":"PersistentVolumeClaim",
      "min":{"storage":"1Gi"},"max":{"storage":"5Gi"}}]}})");
  const auto claim = [&](std::string_view size) {
    return w.create(
        "", "persistentvolumeclaims", "a/c",
        R"({"spec":{"resources":{"requests":{"storage":")" + std::string(size) + R"("}}}})");
  };
  EXPECT_EQ(claim("10Gi"),
            "persistentvolumeclaims \"c\" is forbidden: maximum storage usage per "
            "PersistentVolumeClaim is 5Gi, but request is 10Gi");
  EXPECT_NE(claim("1Mi"), "ok");
  EXPECT_EQ(claim("2Gi"), "ok");
}

TEST(QuotaKeeper, never_lets_a_namespace_exceed_its_quota) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  EXPECT_EQ(w.create("", "resourcequotas", "a/q", R"({"spec":{"hard":{"cpu":"2","pods":"5"}}})"),
            "ok");
  EXPECT_EQ(w.create("", "pods", "a/p1", kPod), "ok");
  EXPECT_EQ(w.create("", "pods", "a/p2", kPod), "ok");
  EXPECT_EQ(w.create("", "pods", "a/p3", kPod),
            "pods \"p3\" is forbidden: exceeded quota: q, requested: cpu=1, used: cpu=2, limited: "
            "cpu=2");
  EXPECT_EQ(w.used("cpu"), "2");
  EXPECT_EQ(w.used("pods"), "2");
  w.remove("pods", "a", "p1");
  EXPECT_EQ(w.used("cpu"), "1");
  EXPECT_EQ(w.create("", "pods", "a/p3", kPod), "ok");
}

TEST(QuotaKeeper, counts_pods_on_their_way) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  w.create("", "resourcequotas", "a/q", R"({"spec":{"hard":{"pods":"1"}}})");
  EXPECT_EQ(w.create("", "pods", "a/p1", kPod, true), "ok");
  EXPECT_NE(w.create("", "pods", "a/p2", kPod), "ok");
  w.finish(false);
  EXPECT_EQ(w.create("", "pods", "a/p2", kPod), "ok");
}

TEST(QuotaKeeper, counts_a_committed_write_once_before_its_writer_hears_of_it) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  w.create("", "resourcequotas", "a/q", R"({"spec":{"hard":{"pods":"2"}}})");
  EXPECT_EQ(w.create("", "pods", "a/p1", kPod, true), "ok");
  EXPECT_TRUE(w.world.commit(
      {.collection = w.world.store().collection("pods"),
       .ns = "a",
       .name = "p1",
       .text = R"({"metadata":{"name":"p1","namespace":"a","uid":"uid-a/p1"},"spec":{}})"}));
  EXPECT_EQ(w.create("", "pods", "a/p2", kPod), "ok") << "there is room for two";
  w.finish(true);
  EXPECT_NE(w.create("", "pods", "a/p3", kPod), "ok");
}

TEST(QuotaKeeper, a_quota_made_anew_owes_nothing_to_writes_of_the_old_one) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  const std::string one = R"({"spec":{"hard":{"pods":"1"}}})";
  w.create("", "resourcequotas", "a/q", one);
  EXPECT_EQ(w.create("", "pods", "a/p1", kPod, true), "ok");
  w.remove("resourcequotas", "a", "q");
  w.create("", "resourcequotas", "a/q", one);
  w.finish(false);
  EXPECT_EQ(w.create("", "pods", "a/p2", kPod), "ok");
  EXPECT_NE(w.create("", "pods", "a/p3", kPod), "ok") << "one pod, not two";
}

TEST(QuotaKeeper, wants_containers_to_say_what_it_bounds) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  w.create("", "resourcequotas", "a/q", R"({"spec":{"hard":{"limits.memory":"1Gi"}}})");
  EXPECT_EQ(w.create("", "pods", "a/p", kPod),
            "pods \"p\" is forbidden: failed quota: q: must specify limits.memory for: c");
}

TEST(QuotaKeeper, counts_any_kind_and_what_was_there_before_it) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  w.create("", "configmaps", "a/c", "{}");
  w.create("", "resourcequotas", "a/q",
           R"({"spec":{"hard":{"configmaps":"2","count/jobs.batch":"0"}}})");
  EXPECT_EQ(w.used("configmaps"), "1");
  EXPECT_EQ(w.create("", "configmaps", "a/d", "{}"), "ok");
  EXPECT_NE(w.create("", "configmaps", "a/e", "{}"), "ok");
  EXPECT_EQ(w.create("batch", "jobs", "a/j", "{}"),
            "jobs.batch \"j\" is forbidden: exceeded quota: q, requested: count/jobs.batch=1, "
            "used: count/jobs.batch=0, limited: count/jobs.batch=0");
}

TEST(QuotaKeeper, scopes_choose_pods) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  w.create("", "resourcequotas", "a/q",
           R"({"spec":{"hard":{"pods":"0"},"scopes":["BestEffort"]}})");
  EXPECT_EQ(w.create("", "pods", "a/p", kPod), "ok");
  EXPECT_NE(w.create("", "pods", "a/b", R"({"spec":{"containers":[{"name":"c","image":"x"}]}})"),
            "ok");
}

TEST(QuotaKeeper, a_scope_chooses_pods_that_look_into_other_namespaces) {
  RulesWorld w;
  w.create("", "namespaces", "a", "{}");
  w.create("", "resourcequotas", "a/q",
           R"({"spec":{"hard":{"pods":"0"},"scopes":["CrossNamespacePodAffinity"]}})");
  const auto pod = [](std::string_view kind, std::string_view terms) {
    return R"({"spec":{"affinity":{")" + std::string(kind) + R"(":{)" + std::string(terms) +
           R"(}},"containers":[{"name":"c","image":"x"}]}})";
  };
  const auto required = [](std::string_view more) {
    return R"("requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z")" +
           std::string(more) + "}]";
  };
  EXPECT_EQ(w.create("", "pods", "a/own", pod("podAffinity", required(""))), "ok");
  EXPECT_NE(w.create("", "pods", "a/named", pod("podAffinity", required(R"(,"namespaces":["b"])"))),
            "ok");
  EXPECT_NE(w.create("", "pods", "a/all",
                     pod("podAntiAffinity",
                         R"("preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,)"
                         R"("podAffinityTerm":{"topologyKey":"z","namespaceSelector":{}}}])")),
            "ok");
}

}  // namespace
}  // namespace codeflare::apiserver
