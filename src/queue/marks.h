#pragma once

#include <string_view>

// Labels, annotations and names that tie wrapped objects and their pods to an AppWrapper.
namespace codeflare::queue {

// On every wrapped object and on every pod template inside one.
inline constexpr std::string_view kAppWrapperLabel = "workload.codeflare.dev/appwrapper";  // name
inline constexpr std::string_view kUidLabel = "workload.codeflare.dev/appwrapper-uid";
inline constexpr std::string_view kPodSetLabel = "workload.codeflare.dev/pod-set";  // "0", "1"...
// MCAD's labels, for clients that select by them.
inline constexpr std::string_view kMcadLabel = "appwrapper.mcad.ibm.com";  // name
inline constexpr std::string_view kMcadResourceLabel = "resourceName";     // the object's name

// Holds an AppWrapper until what it created is gone.
inline constexpr std::string_view kFinalizer = "workload.codeflare.dev/finalizer";

// The submitter, as admission saw it; a JSON object {"username","uid","groups"}.
inline constexpr std::string_view kUserAnnotation = "workload.codeflare.dev/submitted-by";

// When, to the microsecond, as admission saw it: creationTimestamp has whole seconds only.
inline constexpr std::string_view kTimeAnnotation = "workload.codeflare.dev/submitted-at";

// Settings of the queue, and whether it is paused.
inline constexpr std::string_view kQueueConfigMap = "codeflare-queue";
// Where the controller of a cluster lives unless told otherwise.
inline constexpr std::string_view kControllerNamespace = "codeflare-system";

// A label key of nodes, or several with commas: all pods of the AppWrapper stay on nodes with equal
// values of it.
inline constexpr std::string_view kWithinAnnotation = "workload.codeflare.dev/within";

inline constexpr std::string_view kSchedulerName = "codeflare";

// No label: what a node's name is called in the core's constraints (spec.nodeName, matchFields).
// NodeSpec::labels of every node must carry it.
inline constexpr std::string_view kNodeNameKey = "field:metadata.name";

}  // namespace codeflare::queue
