#include "model/json.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_text.h"

namespace leasehold::model {
namespace {

/// An object, member by member.
class ObjectText {
 public:
  explicit ObjectText(Proofs proofs = Proofs::shown) : proofs_(proofs) {}

  ObjectText& put(std::string_view key, std::string_view json) {
    if (text_.size() > 1) text_ += ',';
    text_ += fmt::format("\"{}\":{}", key, json);
    return *this;
  }

  /// Under `key` if they are JSON, otherwise under `key`_base64; null if there are none.
  ObjectText& put_bytes(std::string_view key, std::string_view bytes) {
    if (bytes.empty()) return put(key, "null");
    if (is_json(bytes)) return put(key, json_line(bytes));
    return put(std::string(key) + "_base64", json_string(to_base64(bytes)));
  }

  ObjectText& put(Members members);
  ObjectText& put(const Object& object) {
    for (const auto& field : object.type.fields) put(field, object.at);
    return *this;
  }

  std::string close() { return std::move(text_) + '}'; }

 private:
  void put(const Field& field, const void* object);

  Proofs proofs_;
  std::string text_ = "{";
};

/// A value or a scalar as JSON. Numbers are written without needless digits: 30, or 0.25.
struct Written {
  Proofs proofs = Proofs::shown;

  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(std::string_view value) const { return json_string(value); }
  std::string operator()(const std::string& value) const { return json_string(value); }
  std::string operator()(Timestamp value) const { return json_string(leasehold::to_string(value)); }
  std::string operator()(Duration value) const {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(value);
    if (whole == value) return (*this)(std::int64_t{whole.count()});
    return (*this)(std::chrono::duration<double>(value).count());
  }
  std::string operator()(const Object& value) const { return ObjectText(proofs).put(value).close(); }
  template <typename T>
  std::string operator()(const std::vector<T>& list) const {
    std::string text = "[";
    for (const auto& one : list) text += (text.size() > 1 ? "," : "") + (*this)(one);
    return text + ']';
  }
};

ObjectText& ObjectText::put(Members members) {
  for (const auto& [key, scalar] : members) put(key, std::visit(Written(), scalar));
  return *this;
}

void ObjectText::put(const Field& field, const void* object) {
  if (field.kind == Kind::hidden || (field.present != nullptr && !field.present(object))) return;
  const auto value = field.proof && proofs_ == Proofs::hidden ? Value() : value_of(field, object);
  const bool is_none = std::holds_alternative<std::monostate>(value);
  if (is_none && field.left_out) return;
  if (is_none) {
    put(field.name, "null");
  } else if (field.kind == Kind::inlined) {
    put(std::get<Object>(value));
  } else if (field.kind == Kind::bytes) {
    put_bytes(field.name, std::get<std::string>(value));
  } else if (field.kind == Kind::json) {
    put(field.name, json_line(std::get<std::string>(value)));
  } else {
    put(field.name, std::visit(Written{proofs_}, value));
  }
}

}  // namespace

std::string to_json(const Value& value) { return std::visit(Written(), value); }

std::string to_json(const Object& answer, Proofs proofs) { return ObjectText(proofs).put(answer).close(); }

std::string list_to_json(const std::vector<Object>& items, const std::optional<std::string>& next) {
  return ObjectText().put("items", Written()(items)).put("next", next ? json_string(*next) : "null").close();
}

std::string to_json(const Error& error) { return ObjectText().put("error", to_json(object_of(error))).close(); }

std::string json_object(Members members) { return ObjectText().put(members).close(); }

std::string bytes_object(std::string_view key, std::string_view bytes) {
  return ObjectText().put_bytes(key, bytes).close();
}

}  // namespace leasehold::model
