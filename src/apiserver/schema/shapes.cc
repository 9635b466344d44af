#include "apiserver/schema/internal/number.h"
#include "apiserver/schema/walk.h"
#include "base/base64.h"
#include "base/go_duration.h"
#include "base/time.h"
#include "model/quantity.h"

#include <cctype>
#include <limits>

namespace codeflare::apiserver::schema {
namespace {

// "io.k8s.api.core.v1.PodSpec": "PodSpec", or with its package "v1.PodSpec" as Go names the type.
std::string_view last_parts(std::string_view name, int parts) {
  std::size_t at = name.size();
  while (parts-- > 0 && at != std::string_view::npos && at > 0) {
    at = name.rfind('.', at - 1);
  }
  return at == std::string_view::npos || at == 0 ? name : name.substr(at + 1);
}

std::string go_type(const Node& node) {
  switch (node.shape) {
    case Shape::boolean:
      return "bool";
    case Shape::integer:
      return node.bits == 64 ? "int64" : "int32";
    case Shape::number:
      return "float64";
    case Shape::structure:
      return std::string(last_parts(node.type_name, 2));
    case Shape::map:
      return "map[string]" + (node.items == nullptr ? "interface {}" : go_type(*node.items));
    case Shape::list:
      return "[]" + (node.items == nullptr ? "interface {}" : go_type(*node.items));
    case Shape::bytes:
      return "[]uint8";
    case Shape::int_or_string:
      return "intstr.IntOrString";
    case Shape::quantity:
      return "resource.Quantity";
    default:
      return "string";
  }
}

std::string_view go_kind(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::boolean:
      return "bool";
    case json::Kind::number:
      return "number";
    case json::Kind::string:
      return "string";
    case json::Kind::array:
      return "array";
    default:
      return "object";
  }
}

class ShapeChecker {
 public:
  Result<void> check(const Node& node, const json::Value& value) {
    if (value.is_null()) {
      return {};
    }
    switch (node.shape) {
      case Shape::any:
        return {};
      case Shape::boolean:
        return value.is_boolean() ? Result<void>() : mismatch(node, go_kind(value));
      case Shape::integer:
        return check_integer(node, value);
      case Shape::number:
        return value.is_number() ? Result<void>() : mismatch(node, go_kind(value));
      case Shape::string:
        return value.is_string() ? Result<void>() : mismatch(node, go_kind(value));
      case Shape::structure:
      case Shape::map:
        return check_object(node, value);
      case Shape::list:
        return check_list(node, value);
      case Shape::bytes:
        return check_bytes(node, value);
      default:
        return check_own_reader(node.shape, value);
    }
  }

 private:
  Result<void> mismatch(const Node& node, std::string_view what) const {
    std::string message = "json: cannot unmarshal " + std::string(what) + " into Go ";
    if (fields_.empty()) {
      message += "value";
    } else {
      message.append("struct field ").append(last_parts(structure_->type_name, 1)).append(".");
      message.append(fields_);
    }
    return fail(invalid_argument(message + " of type " + go_type(node)));
  }

  Result<void> check_integer(const Node& node, const json::Value& value) const {
    if (!value.is_number()) {
      return mismatch(node, go_kind(value));
    }
    std::optional<std::int64_t> number = internal::exact_integer(value.number());
    bool fits =
        number && (node.bits == 64 || (*number >= std::numeric_limits<std::int32_t>::min() &&
                                       *number <= std::numeric_limits<std::int32_t>::max()));
    return fits ? Result<void>() : mismatch(node, "number " + std::string(value.number()));
  }

  Result<void> check_bytes(const Node& node, const json::Value& value) const {
    if (!value.is_string()) {
      return mismatch(node, go_kind(value));
    }
    auto decoded = from_base64(value.as_string());
    return decoded ? Result<void>()
                   : fail(invalid_argument("illegal base64 data at input byte " +
                                           first_bad_byte(value.as_string())));
  }

  static std::string first_bad_byte(std::string_view text) {
    auto good = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '/' ||
             c == '\n' || c == '\r';
    };
    std::size_t at = 0;
    while (at < text.size() && good(text[at])) {
      ++at;
    }
    return std::to_string(at);
  }

  // Types with a reader of their own know nothing of the field they stand in.
  static Result<void> check_own_reader(Shape shape, const json::Value& value) {
    auto into = [&](std::string_view type) {
      return fail(invalid_argument("json: cannot unmarshal " + std::string(go_kind(value)) +
                                   " into Go value of type " + std::string(type)));
    };
    if (shape == Shape::int_or_string) {
      bool integer = value.is_number() && internal::exact_integer(value.number());
      if (!value.is_string() && !integer) {
        return into("int32");
      }
    } else if (shape == Shape::quantity) {
      if (!value.is_string() && !value.is_number()) {
        return fail(
            invalid_argument("quantities must match the regular expression "
                             "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"));
      }
      TRY(model::Quantity::parse(value.is_string() ? value.as_string() : value.number()));
    } else if (!value.is_string()) {
      return into("string");
    } else if (shape == Shape::duration) {
      if (!go_duration(value.as_string())) {
        return fail(invalid_argument("time: invalid duration " + quote(value.as_string())));
      }
    } else if (!value.as_string().empty() && !parse_rfc3339(value.as_string())) {
      return fail(invalid_argument("parsing time " + quote(value.as_string()) + " as \"" +
                                   (shape == Shape::micro_time ? "2006-01-02T15:04:05.000000Z07:00"
                                                               : "2006-01-02T15:04:05Z07:00") +
                                   "\": cannot parse " + quote(value.as_string()) +
                                   " as \"2006\""));
    }
    return {};
  }

  Result<void> check_list(const Node& node, const json::Value& value) {
    if (!value.is_array()) {
      return mismatch(node, go_kind(value));
    }
    if (node.items != nullptr) {
      for (const json::Value& item : value.items()) {
        TRY(check(*node.items, item));
      }
    }
    return {};
  }

  Result<void> check_object(const Node& node, const json::Value& value) {
    if (!value.is_object()) {
      return mismatch(node, go_kind(value));
    }
    const Node* outer = structure_;
    for (const json::Member& member : value.members()) {
      const Field* field = node.find(member.key);
      if (field == nullptr) {
        if (node.items != nullptr) {
          TRY(check(*node.items, member.value));
        }
        continue;
      }
      structure_ = &node;
      std::size_t length = fields_.size();
      fields_.append(length == 0 ? "" : ".").append(member.key);
      TRY(check(*field->node, member.value));
      fields_.resize(length);
      structure_ = outer;
    }
    return {};
  }

  const Node* structure_ = nullptr;  // of the last of the fields
  std::string fields_;
};

}  // namespace

Result<void> check_shapes(const Node& node, const json::Value& value) {
  return ShapeChecker().check(node, value);
}

}  // namespace codeflare::apiserver::schema
