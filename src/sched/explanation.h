#pragma once

#include "sched/decision.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Why a gang waits, with numbers, and what would help.
namespace codeflare::sched {

enum class Detail : std::uint8_t {
  brief,  // costs a look at every node
  full,   // and at every gang: the position, and whether it could ever fit
};

struct Shortage {
  std::string resource;
  Amount requested = 0;     // by the whole gang
  Amount free = 0;          // on all nodes that its constraints allow
  Amount capacity = 0;      // of those nodes
  Amount pod = 0;           // the largest request of one pod
  Amount best_node = 0;     // the most that one allowed node has free
  Amount largest_node = 0;  // the most that one allowed node could ever have free
  bool short_in_sum() const { return free < requested; }
  bool pod_too_large() const { return pod > largest_node; }  // whatever ends
};

// Nodes that one constraint takes away, counted at the first constraint that does.
struct Exclusion {
  std::string constraint;  // "selector zone=a", "taint dedicated=ml:NoSchedule", "affinity"
  std::int64_t nodes = 0;
  std::vector<std::string> names{};  // the first few of them
  std::optional<Taint> taint{};      // where the constraint is a taint that no toleration matches
};

// A node that would take pods if they tolerated these taints.
struct TaintedNode {
  std::string name;
  std::vector<Taint> taints;
};

struct PodSetReport {
  std::uint32_t pod_set = 0;
  std::int64_t wanted = 0;
  std::int64_t places = 0;         // pods of this set alone that would fit now, at most `wanted`
  std::int64_t nodes_allowed = 0;  // by its constraints
  std::int64_t nodes_all = 0;
  bool apart = false;      // each pod needs a node of its own
  std::string best_class;  // labels of the allowed node class with the most places
  std::int64_t best_class_places = 0;
  std::vector<Exclusion> excluded;
};

// One domain of a gang that has to stay within one.
struct DomainReport {
  std::string name;        // the value of the label
  std::int64_t nodes = 0;  // that some pod of it may use
  std::vector<Shortage> shortages;
  std::int64_t wanted = 0;  // pods of the gang
  // Pods that would fit now, each pod set alone; `wanted` when they only do not fit together.
  std::int64_t places = 0;
};

struct QuotaReport {
  std::string tree;
  std::string node;     // the node without room, or the unknown name
  std::string problem;  // for unknown nodes: what is wrong
  // Other nodes of the tree that its namespace may charge, by name. For a node without room: only
  // those that have room.
  std::vector<std::string> choices{};
  std::vector<std::string> full{};  // of the choices for an unknown node: those without room
  std::string resource;
  Amount limit = 0;
  Amount used = 0;
  Amount requested = 0;
};

// A running gang that holds what the waiting one needs.
struct Holder {
  GangId gang;
  std::string name;
  Resources held;              // of the resources asked for, on allowed nodes
  std::optional<Time> ends{};  // when its end is known
  // Pods of these that it has beyond its minimum, and could give back.
  std::int64_t growth = 0;
  // Where it holds them, as DomainReport has names; empty where the waiting one may be anywhere.
  std::vector<std::string> domains{};
};

struct ReservationReport {
  std::string holder;
  std::optional<Time> starts{};  // when the holder is expected to start
  Time expires{};
};

struct Explanation {
  std::string name;
  GangState state = GangState::waiting;
  Reason why = Reason::none;
  // 1 is the head of the line; 0 when it is not in line, and in brief.
  std::int64_t position = 0;
  std::vector<Shortage> shortages;
  std::vector<PodSetReport> pod_sets;
  // Of a gang that has to stay within one value of this label; else empty. Domains that lack least
  // come first, and `shortages` and `pod_sets` tell of the first.
  std::string within;
  std::vector<DomainReport> domains;
  // Every node on its way that has no room, leaf to root, or the one that is unknown.
  std::vector<QuotaReport> quota;
  // Of a nominated gang: those who leave and still hold its place; the largest first.
  std::vector<Holder> awaited;
  std::optional<ReservationReport> reservation;
  // Not even nodes without gangs could hold it: it waits for other nodes.
  bool never_fits = false;
  // If it never fits, or no node is allowed: cordoned nodes that would let it fit, by name.
  std::vector<std::string> cordoned;
  // The same where cordons are not all that keeps it away: nodes that would let it fit, by name.
  std::vector<TaintedNode> tainted;
  // Placement was given up after Options::search_steps_max, so "fragmented" is not proven.
  bool search_cut_short = false;
};

// The gangs whose end would make room to start it now, few and weak ones first.
struct Advice {
  bool possible = false;  // false: even if all of them ended
  std::vector<Holder> would_start_if_ended;
  // Gangs that need not end: `growth` pods fewer are enough.
  std::vector<Holder> would_start_if_shrunk{};
  Resources to_free;  // what those hold in sum of what is asked for
};

struct Estimate {
  std::optional<Time> start;
  // Where, as DomainReport has names; empty for a gang that may be anywhere.
  std::string domain{};
  // Gangs further back in a very long line were left out of the replay.
  bool approximate = false;
};

// One line for people: "insufficient nvidia.com/gpu: needs 16, 12 of 64 free".
std::string to_text(const Explanation& explanation);
// 3050 of cpu is "3050m", 4294967296 of memory "4Gi".
std::string amount_text(const std::string& resource, Amount amount);

}  // namespace codeflare::sched
