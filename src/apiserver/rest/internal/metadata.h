#pragma once

#include "apiserver/registry/resource.h"
#include "apiserver/schema/field_errors.h"
#include "base/env/env.h"
#include "base/result.h"
#include "json/value.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

// metadata of the object, made when it is missing.
json::Value& metadata_of(json::Arena& arena, json::Value& object);
std::string_view meta_text(const json::Value& object, std::string_view key);
// The resourceVersion that the writer has read; empty for none, which "0" says too.
std::string_view asked_revision(const json::Value& object);
std::vector<std::string_view> finalizers_of(const json::Value& object);
void set_finalizers(json::Arena& arena, json::Value& object,
                    const std::vector<std::string_view>& finalizers);
bool is_being_deleted(const json::Value& object);

// The namespace in the body is the request's; absent it is filled in (400 otherwise).
Result<void> settle_namespace(const Resource& resource, std::string_view ns, json::Arena& arena,
                              json::Value& object);

// uid, creationTimestamp and generation of a new object; what only updates may carry is dropped.
void fill_new_metadata(Env& env, const Resource& resource, json::Arena& arena, json::Value& object);
// A name out of metadata.generateName.
std::string generated_name(Random& random, std::string_view prefix);

// An update never changes what the server set.
void keep_server_metadata(json::Arena& arena, json::Value& object, const json::Value& live);

// Everything but apiVersion, kind, metadata and status.
bool spec_differs(const json::Value& a, const json::Value& b);

// Names, labels, annotations, owners and finalizers, in upstream's words. `live` is null for new
// objects.
void validate_metadata(const Resource& resource, const json::Value& object, const json::Value* live,
                       FieldErrors& errors);

// The text that is stored and shown: kind, apiVersion and metadata first, metadata in upstream's
// order, status last.
std::string storage_text(const Resource& resource, const json::Value& object);

}  // namespace codeflare::apiserver::internal
