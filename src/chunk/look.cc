// Reads chunks and their sets.
#include "chunk/chunks.h"
#include "lease/answer.h"
#include "lease/page.h"
#include "model/bounds.h"
#include "model/described.h"
#include "model/words.h"
#include "storage/query.h"

namespace leasehold {

namespace chunk {
namespace {

ChunkInfo chunk_info_from(sql::ChunkList::Row& row, std::string_view set) {
  auto holder = lease::holder_in(row);
  auto info = std::move(row).as<ChunkInfo, 2>();
  info.set = set;
  info.holder = std::move(holder);
  return info;
}

ChunkSetInfo set_info_from(sql::ChunkSetList::Row& row) { return std::move(row).as<ChunkSetInfo>(); }

Result<std::vector<ChunkInfo>> list_chunks(storage::Backend& backend, const sql::ChunkList& statement,
                                           BootTime deadline) {
  return storage::query_list(backend, statement, deadline,
                             [&](auto& row) { return chunk_info_from(row, statement.set_name); });
}

}  // namespace
}  // namespace chunk

Result<ChunkInfo> Chunks::show(std::string_view set, std::string_view key) const {
  if (auto checked = check_chunk(set, key); !checked) return std::move(checked).error();
  const sql::ChunkList statement{.set_name = set, .key = key, .max = 1};
  auto chunks = chunk::list_chunks(*impl_->backend, statement, impl_->deadline());
  if (!chunks) return std::move(chunks).error();
  if (chunks->empty()) return chunk::no_such_chunk(set, key);
  return std::move(chunks->front());
}

Result<Page<ChunkInfo>> Chunks::list(std::string_view set, const ChunkFilter& filter) const {
  if (auto checked = check_name("set name", set); !checked) return std::move(checked).error();
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto from = lease::page_number(filter.page);
  if (!from) return std::move(from).error();
  sql::ChunkList statement{.set_name = set};
  if (filter.state) statement.state = to_string(*filter.state);
  // A page's number is the position of its first chunk.
  if (*from > 0) statement.after_position = *from - 1;
  statement.max = lease::rows_for(filter.max);
  auto chunks = chunk::list_chunks(*impl_->backend, statement, impl_->deadline());
  // No such chunks, or no such set?
  if (chunks && chunks->empty()) {
    if (auto known = progress(set); !known) return std::move(known).error();
  }
  return lease::page_of(std::move(chunks), filter.max,
                        [](const auto& shown) { return std::to_string(shown.back().position + 1); });
}

Result<ChunkSetInfo> Chunks::progress(std::string_view set) const {
  if (auto checked = check_name("set name", set); !checked) return std::move(checked).error();
  const sql::ChunkSetList statement{.set_name = set};
  auto sets = impl_->new_call().list(statement, chunk::set_info_from);
  if (!sets) return std::move(sets).error();
  if (sets->empty()) return chunk::no_such_set(set);
  return std::move(sets->front());
}

Result<std::vector<ChunkSetInfo>> Chunks::sets() const {
  const sql::ChunkSetList statement{.set_name = std::nullopt};
  return impl_->new_call().list(statement, chunk::set_info_from);
}

}  // namespace leasehold
