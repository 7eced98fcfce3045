// Records in several files with an index, as Hugging Face's libraries write and read them.
#pragma once

#include <cstdint>
#include <string>

#include <sinter/record/record.h>

namespace sinter::record {

/// FILE.index.json
std::string index_of(const Path& file);
bool is_index(const Path& file);

Record read_shards(const Path& index, const ReadOptions& options);

/// Writes the index last. The shards have new names, unless they have the same content as those of that name:
/// a reader of the old index finds its files until the new one is there.
void write_shards(const Record& record, const Path& name, std::uint64_t max_shard_bytes);

/// What Sinter wrote as shards of the index that is there, to be removed when other content has taken their
/// place. Empty where a file of the index is somebody else's.
std::vector<std::string> own_shards(const Path& index);

}  // namespace sinter::record
