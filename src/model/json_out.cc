#include "model/json.h"

#include <fmt/format.h>

#include <iterator>

#include "base/json.h"
#include "base/json_text.h"

namespace leasehold::model {
namespace {

/// Appends JSON to a text, so that an answer with a hundred jobs is written once.
class Writer {
 public:
  explicit Writer(std::string& out, Proofs proofs = Proofs::shown) : out_(out), proofs_(proofs) {}

  // A value or a scalar. Numbers are written without needless digits: 30, or 0.25.
  void operator()(std::monostate) { out_ += "null"; }
  void operator()(bool value) { out_ += value ? "true" : "false"; }
  void operator()(std::int64_t value) { out_ += fmt::format_int(value).c_str(); }
  void operator()(double value) { fmt::format_to(std::back_inserter(out_), "{}", value); }
  void operator()(std::string_view value) { append_json_string(out_, value); }
  void operator()(const std::string& value) { append_json_string(out_, value); }
  void operator()(Timestamp value) { append_json_string(out_, leasehold::to_string(value)); }
  void operator()(Duration value) {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(value);
    if (whole == value) return (*this)(std::int64_t{whole.count()});
    (*this)(std::chrono::duration<double>(value).count());
  }
  void operator()(const Object& value) {
    out_ += '{';
    members(value);
    out_ += '}';
  }
  template <typename T>
  void operator()(const std::vector<T>& list) {
    out_ += '[';
    for (const auto& one : list) {
      if (&one != &list.front()) out_ += ',';
      (*this)(one);
    }
    out_ += ']';
  }

  void members(const Object& object) {
    for (const auto& field : object.type.fields) member(field, object.at);
  }
  void members(Members members) {
    for (const auto& [name, scalar] : members) {
      key(name);
      std::visit(*this, scalar);
    }
  }
  /// A key; its value comes next.
  void key(std::string_view name, std::string_view ending = {}) {
    if (out_.back() != '{') out_ += ',';
    out_ += '"';
    out_ += name;
    out_ += ending;
    out_ += "\":";
  }
  /// Under `name` if they are JSON, otherwise under `name`_base64; null if there are none.
  void bytes(std::string_view name, std::string_view bytes) {
    const bool json = bytes.empty() || is_json(bytes);
    key(name, json ? "" : "_base64");
    if (bytes.empty()) return (*this)(std::monostate());
    if (json) return append_on_one_line(out_, bytes);
    (*this)(to_base64(bytes));
  }

 private:
  void member(const Field& field, const void* object) {
    if (field.kind == Kind::hidden || (field.present != nullptr && !field.present(object))) return;
    const auto value = field.proof && proofs_ == Proofs::hidden ? Value() : value_of(field, object);
    const bool is_none = std::holds_alternative<std::monostate>(value);
    if (is_none && field.left_out) return;
    if (is_none) {
      key(field.name);
      out_ += "null";
    } else if (field.kind == Kind::inlined) {
      members(std::get<Object>(value));
    } else if (field.kind == Kind::bytes) {
      bytes(field.name, std::get<std::string>(value));
    } else if (field.kind == Kind::json) {
      key(field.name);
      out_ += json_line(std::get<std::string>(value));
    } else {
      key(field.name);
      std::visit(*this, value);
    }
  }

  std::string& out_;
  Proofs proofs_;
};

}  // namespace

std::string to_json(const Value& value) {
  std::string text;
  std::visit(Writer{text}, value);
  return text;
}

std::string to_json(const Object& answer, Proofs proofs) {
  std::string text;
  Writer{text, proofs}(answer);
  return text;
}

std::string list_to_json(const std::vector<Object>& items, const std::optional<std::string>& next) {
  std::string text = "{";
  Writer writer(text);
  writer.key("items");
  writer(items);
  writer.key("next");
  next ? writer(*next) : writer(std::monostate());
  return text + '}';
}

std::string to_json(const Error& error) {
  std::string text = "{";
  Writer writer(text);
  writer.key("error");
  writer(object_of(error));
  return text + '}';
}

std::string json_object(Members members) {
  std::string text = "{";
  Writer{text}.members(members);
  return text + '}';
}

std::string bytes_object(std::string_view key, std::string_view bytes) {
  std::string text = "{";
  Writer{text}.bytes(key, bytes);
  return text + '}';
}

}  // namespace leasehold::model
