#include "queue/internal/item_check.h"

#include "json/parse.h"
#include "model/validation.h"
#include "queue/kinds/life.h"

#include <cstdint>
#include <string_view>

namespace codeflare::queue {
namespace {

constexpr std::size_t kSuffixLength = 8;

// FNV-1a: the same in every build, because names made of it must be found again.
std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  return hash;
}

std::string generated_name(std::string_view prefix, std::string_view uid, std::size_t item) {
  const std::uint64_t hash =
      stable_hash(std::string(uid) + "/" + std::to_string(item) + "/" + std::string(prefix));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name(prefix.substr(0, model::kDnsLabelLengthMax - kSuffixLength));
  for (std::size_t i = 0; i < kSuffixLength; ++i) {
    name += kDigits[(hash >> (60 - 4 * i)) & 15];
  }
  return name;
}

// Names that a server accepts as part of a path; stricter rules are those of the kind.
bool is_path_segment(std::string_view name) {
  return name != "." && name != ".." && name.find_first_of("/%") == std::string_view::npos &&
         name.size() <= model::kDnsSubdomainLengthMax;
}

class ItemCheck {
 public:
  ItemCheck(const model::AppWrapper& wrapper, std::size_t item, const json::Value& root,
            ItemProblems& problems)
      : wrapper_(wrapper), item_(item), root_(root), problems_(problems) {}

  ItemInfo run() {
    ItemInfo info;
    info.api_version = text("apiVersion");
    info.kind = text("kind");
    info.key.ns = wrapper_.metadata.ns;
    info.life = life_of(root_);
    check_type(info);
    const json::Value* metadata = root_.find("metadata");
    if (metadata == nullptr || !metadata->is_object()) {
      problems_.add("/metadata", metadata == nullptr ? "required" : "expected an object");
      return info;
    }
    info.key.name = name_of(*metadata);
    check_namespace(*metadata);
    check_labels(*metadata);
    check_owners(*metadata);
    return info;
  }

 private:
  std::string text(std::string_view key) {
    const json::Value* value = root_.find(key);
    if (value != nullptr && value->is_string() && !value->as_string().empty()) {
      return std::string(value->as_string());
    }
    problems_.add("/" + std::string(key),
                  value == nullptr || value->is_string() ? "required" : "expected a string");
    return {};
  }

  void check_type(const ItemInfo& info) {
    const model::GroupVersion type = model::parse_api_version(info.api_version);
    if (!info.api_version.empty() && (type.version.empty() || type.version.contains('/'))) {
      problems_.add("/apiVersion", "expected VERSION or GROUP/VERSION");
    }
    if (info.kind == "AppWrapper" &&
        (type.group == model::ResourceTraits<model::AppWrapper>::group ||
         type.group == model::kLegacyAppWrapperGroup)) {
      problems_.add("/kind", "an AppWrapper cannot wrap an AppWrapper");
    }
    if (info.kind == "List" && type.group.empty()) {
      problems_.add("/kind", "a List cannot be wrapped: wrap its items one by one");
    }
  }

  std::string name_of(const json::Value& metadata) {
    for (const std::string_view key : {"name", "generateName"}) {
      const json::Value* value = metadata.find(key);
      if (value == nullptr || value->is_null() ||
          (value->is_string() && value->as_string().empty())) {
        continue;
      }
      const std::string pointer = "/metadata/" + std::string(key);
      if (!value->is_string()) {
        problems_.add(pointer, "expected a string");
        return {};
      }
      if (!is_path_segment(value->as_string())) {
        problems_.add(pointer, "must be at most 253 characters without / and %");
        return {};
      }
      return key == "name" ? std::string(value->as_string())
                           : generated_name(value->as_string(), wrapper_.metadata.uid, item_);
    }
    problems_.add("/metadata/name", "required");
    return {};
  }

  void check_namespace(const json::Value& metadata) {
    const json::Value* ns = metadata.find("namespace");
    if (ns == nullptr || ns->is_null()) {
      return;
    }
    if (!ns->is_string()) {
      problems_.add("/metadata/namespace", "expected a string");
    } else if (!ns->as_string().empty() && !wrapper_.metadata.ns.empty() &&
               ns->as_string() != wrapper_.metadata.ns) {
      problems_.add("/metadata/namespace",
                    "must be the AppWrapper's own, " + wrapper_.metadata.ns + ", or be left out");
    }
  }

  void check_labels(const json::Value& metadata) {
    const json::Value* labels = metadata.find("labels");
    if (labels == nullptr || labels->is_null()) {
      return;
    }
    if (!labels->is_object()) {
      problems_.add("/metadata/labels", "expected an object");
    }
    for (const json::Member& label : labels->members()) {
      if (!label.value.is_string()) {
        problems_.add_decoding("/metadata/labels",
                               "[" + std::string(label.key) + "]: expected a string");
      }
    }
  }

  void check_owners(const json::Value& metadata) {
    const json::Value* owners = metadata.find("ownerReferences");
    if (owners == nullptr || owners->is_null()) {
      return;
    }
    if (!owners->is_array()) {
      problems_.add("/metadata/ownerReferences", "expected an array");
    }
    for (std::size_t i = 0; i < owners->items().size(); ++i) {
      const json::Value* controller = owners->items()[i].find("controller");
      if (controller != nullptr && controller->is_boolean() && controller->as_bool()) {
        problems_.add("/metadata/ownerReferences/" + std::to_string(i) + "/controller",
                      "must not be true: the AppWrapper is the controller");
      }
    }
  }

  const model::AppWrapper& wrapper_;
  std::size_t item_;
  const json::Value& root_;
  ItemProblems& problems_;
};

}  // namespace

std::string item_field(std::size_t item) {
  return "spec.resources.GenericItems[" + std::to_string(item) + "]";
}

std::optional<CheckedItem> check_item(const model::AppWrapper& wrapper, std::size_t item,
                                      Problems& problems) {
  const std::string field = item_field(item) + ".generictemplate";
  const model::RawJson& raw = wrapper.spec.resources.generic_items[item].generic_template;
  if (raw.empty()) {
    problems.add(field, "required");
    return std::nullopt;
  }
  Result<json::Document> document = json::parse_in_place(raw.text);
  if (!document) {
    problems.add(field, document.error().message);
    return std::nullopt;
  }
  if (!document->root.is_object()) {
    problems.add(field,
                 "expected an object, got " + std::string(json::to_string(document->root.kind())));
    return std::nullopt;
  }
  ItemProblems item_problems(problems, field);
  ItemInfo info = ItemCheck(wrapper, item, document->root, item_problems).run();
  return CheckedItem{*std::move(document), std::move(info)};
}

}  // namespace codeflare::queue
