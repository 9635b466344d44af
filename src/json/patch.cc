#include "json/patch.h"

#include "json/internal/measure.h"
#include "json/parse.h"
#include "json/pointer.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::json {

namespace {

enum class Op { add, remove, replace, move, copy, test };

struct Operation {
  Op op = Op::add;
  Pointer path;
  Pointer from;                  // move, copy
  const Value* value = nullptr;  // add, replace, test
};

std::optional<Op> op_of(std::string_view name) {
  static constexpr std::pair<std::string_view, Op> kNames[] = {
      {"add", Op::add},   {"remove", Op::remove}, {"replace", Op::replace},
      {"move", Op::move}, {"copy", Op::copy},     {"test", Op::test}};
  for (auto [known, op] : kNames) {
    if (known == name) {
      return op;
    }
  }
  return std::nullopt;
}

Result<Pointer> read_pointer(const Value& operation, std::string_view key) {
  const Value* text = operation.find(key);
  if (text == nullptr || !text->is_string()) {
    return fail(invalid_argument("needs a string \"" + std::string(key) + "\""));
  }
  auto pointer = Pointer::parse(text->as_string());
  if (!pointer) {
    return fail(std::move(pointer).error().with_context(key));
  }
  return pointer;
}

Result<Operation> read_operation(const Value& source) {
  if (!source.is_object()) {
    return fail(invalid_argument("is not an object"));
  }
  Operation operation;
  std::string_view name = source.string_or_empty("op");
  std::optional<Op> op = op_of(name);
  if (!op) {
    return fail(invalid_argument("\"op\" must be add, remove, replace, move, copy or test"));
  }
  operation.op = *op;
  TRY_ASSIGN(operation.path, read_pointer(source, "path"));
  if (*op == Op::move || *op == Op::copy) {
    TRY_ASSIGN(operation.from, read_pointer(source, "from"));
  }
  if (*op == Op::add || *op == Op::replace || *op == Op::test) {
    operation.value = source.find("value");
    if (operation.value == nullptr) {
      return fail(invalid_argument(std::string(name) + " needs a \"value\""));
    }
  }
  if (*op == Op::move && operation.from.is_proper_prefix_of(operation.path)) {
    return fail(invalid_argument("cannot move a value into itself"));
  }
  if ((*op == Op::remove && operation.path.is_root()) ||
      (*op == Op::move && operation.from.is_root() && !operation.path.is_root())) {
    return fail(invalid_argument("cannot remove the whole document"));
  }
  return operation;
}

// "operation 3 (test "/a")", for errors.
std::string describe(const Value& patch, std::size_t index) {
  const Value& source = patch.items()[index];
  return "operation " + std::to_string(index) + " (" + std::string(source.string_or_empty("op")) +
         " \"" + std::string(source.string_or_empty("path")) + "\")";
}

class Patcher {
 public:
  Patcher(Document& document, const PatchOptions& options)
      : document_(document),
        bytes_max_(document.arena.bytes_allocated() + options.max_growth_bytes),
        work_left_(options.max_work),
        replace_adds_(options.replace_adds) {}

  Result<void> apply(const Operation& operation) {
    TRY(change(operation));
    // Beside copies, which are checked before they are made, containers grow: at most twofold.
    return check_growth(0);
  }

 private:
  Result<void> change(const Operation& operation) {
    switch (operation.op) {
      case Op::add: {
        TRY_ASSIGN(Value copy, cloned(*operation.value));
        return add(operation.path, copy);
      }
      case Op::remove:
        return remove(operation.path);
      case Op::replace: {
        if (replace_adds_ && !operation.path.is_root()) {
          TRY_ASSIGN(Value * parent, existing(operation.path.parent()));
          if (parent->is_object()) {
            TRY_ASSIGN(Value copy, cloned(*operation.value));
            return add(operation.path, copy);
          }
        }
        TRY_ASSIGN(Value * target, existing(operation.path));
        TRY_ASSIGN(Value copy, cloned(*operation.value));
        TRY(check_depth(operation.path, copy));
        *target = copy;
        return {};
      }
      case Op::move: {
        TRY_ASSIGN(Value * source, existing(operation.from));
        Value moved = *source;
        if (operation.from.tokens() == operation.path.tokens()) {
          return {};
        }
        TRY(remove(operation.from));
        return add(operation.path, moved);
      }
      case Op::copy: {
        TRY_ASSIGN(Value * source, existing(operation.from));
        TRY_ASSIGN(Value copy, cloned(*source));
        return add(operation.path, copy);
      }
      case Op::test: {
        TRY_ASSIGN(Value * target, existing(operation.path));
        if (!equal(*target, *operation.value)) {
          return fail(failed_precondition("the value differs"));
        }
        return {};
      }
    }
    return {};
  }

  Result<void> check_growth(std::size_t more) {
    if (document_.arena.bytes_allocated() + more > bytes_max_) {
      return fail(too_large("the document would grow too much"));
    }
    return {};
  }

  Result<void> spend(std::size_t work) {
    if (work > work_left_) {
      return fail(too_large("the patch costs too much work"));
    }
    work_left_ -= work;
    return {};
  }

  Result<Value*> existing(const Pointer& path) {
    Value* at = &document_.root;
    for (const std::string& token : path.tokens()) {
      TRY_ASSIGN(at, child(*at, token));
    }
    return at;
  }

  Result<Value*> child(Value& parent, std::string_view token) {
    if (parent.is_object()) {
      TRY(spend(parent.size()));  // a linear search
      if (Value* found = parent.find(token); found != nullptr) {
        return found;
      }
      return fail(failed_precondition("there is no member \"" + std::string(token) + "\""));
    }
    if (parent.is_array()) {
      TRY_ASSIGN(std::size_t index, index_below(token, parent.size()));
      return &parent.items()[index];
    }
    return fail(failed_precondition("\"" + std::string(token) + "\" lies inside a " +
                                    std::string(to_string(parent.kind()))));
  }

  Result<std::size_t> index_below(std::string_view token, std::size_t end) {
    auto index = array_index(token);
    if (!index || *index >= end) {
      return fail(
          failed_precondition("\"" + std::string(token) + "\" is not an index of the array"));
    }
    return *index;
  }

  Result<Value> cloned(const Value& value) {
    TRY(check_growth(internal::footprint(value)));
    return value.clone(document_.arena);
  }

  Result<void> check_depth(const Pointer& path, const Value& value) {
    internal::Extent extent = internal::measure(value);
    TRY(spend(extent.nodes));
    if (path.tokens().size() + extent.depth > kDepthLimit) {
      return fail(too_large("the document would nest too deep"));
    }
    return {};
  }

  Result<void> add(const Pointer& path, Value value) {
    TRY(check_depth(path, value));
    if (path.is_root()) {
      document_.root = value;
      return {};
    }
    TRY_ASSIGN(Value * parent, existing(path.parent()));
    const std::string& token = path.tokens().back();
    TRY(spend(parent->size()));
    if (parent->is_object()) {
      parent->set(document_.arena, token, value);
      return {};
    }
    if (parent->is_array()) {
      std::size_t index = parent->size();
      if (token != "-") {
        TRY_ASSIGN(index, index_below(token, parent->size() + 1));
      }
      parent->insert(document_.arena, index, value);
      return {};
    }
    return fail(failed_precondition("the parent is a " + std::string(to_string(parent->kind()))));
  }

  Result<void> remove(const Pointer& path) {
    TRY(existing(path));
    TRY_ASSIGN(Value * parent, existing(path.parent()));
    const std::string& token = path.tokens().back();
    TRY(spend(parent->size()));
    if (parent->is_object()) {
      parent->erase(token);
    } else {
      parent->erase_at(*array_index(token));
    }
    return {};
  }

  Document& document_;
  std::size_t bytes_max_;
  std::size_t work_left_;
  bool replace_adds_;
};

}  // namespace

Result<Document> apply_patch(const Value& target, const Value& patch, const PatchOptions& options) {
  if (!patch.is_array()) {
    return fail(invalid_argument("a JSON patch is an array of operations"));
  }
  if (patch.size() > options.max_operations) {
    return fail(too_large("patch of " + std::to_string(patch.size()) + " operations, at most " +
                          std::to_string(options.max_operations) + " are allowed"));
  }
  // All are read before the first is applied: a malformed patch is malformed whatever the target.
  std::vector<Operation> operations;
  operations.reserve(patch.size());
  for (const Value& source : patch.items()) {
    auto operation = read_operation(source);
    if (!operation) {
      return fail(std::move(operation).error().with_context(describe(patch, operations.size())));
    }
    operations.push_back(*std::move(operation));
  }
  Document result;
  result.root = target.clone(result.arena);
  Patcher patcher(result, options);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (auto applied = patcher.apply(operations[i]); !applied) {
      return fail(std::move(applied).error().with_context(describe(patch, i)));
    }
  }
  return result;
}

}  // namespace codeflare::json
