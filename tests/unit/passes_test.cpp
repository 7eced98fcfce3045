// How scatters, scans and sorts are cut into passes, for sizes that no test can run.
#include "src/runtime/passes/passes.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

using Of = PassBuffer::Of;

PassList sort_of(std::int64_t count, std::int64_t rows) {
  library::SortIndicesOp op;
  op.count = count;
  op.rows = rows;
  return passes_of(op);
}

PassList sum_of(std::int64_t count, std::int64_t columns, std::int64_t rows, bool dense) {
  library::SegmentSumOp op;
  op.count = count;
  op.columns = columns;
  op.rows = rows;
  op.dense = dense;
  return passes_of(op);
}

const PassBuffer& written(const Pass& pass) {
  for (const PassBuffer& buffer : pass.buffers)
    if (buffer.written) return buffer;
  FAIL("a pass that writes nothing");
  return pass.buffers.front();
}

}  // namespace

TEST_CASE("each merge reads what the pass before it wrote, and the last list is the result's") {
  for (const std::int64_t count : {1, 4096, 4097, 8192, 8193, 65535}) {
    CAPTURE(count);
    const PassList list = sort_of(count, 100);
    REQUIRE(list.passes.size() >= 2);
    const bool in_tile = count <= 4096;
    CHECK((list.passes.front().name == "sort_tiles") == in_tile);
    if (in_tile) CHECK(list.passes.size() == 2);
    std::int64_t run = in_tile ? count : 1024;
    for (std::size_t p = 1; p + 1 < list.passes.size(); ++p, run *= 8) {
      const PassBuffer &from = list.passes[p].buffers[0], &before = written(list.passes[p - 1]);
      CHECK(from.of == before.of);
      CHECK(from.first == before.first);
      CHECK(from.of != written(list.passes[p]).of);
      CHECK(list.passes[p].ints[1].second == run);
    }
    CHECK(run >= count);
    const PassBuffer& last = written(list.passes[list.passes.size() - 2]);
    CHECK(last.of == Of::Result);
    CHECK(last.first == 100);
    CHECK(list.passes.back().name == "first_places");
    CHECK((list.workspace_bytes > 0) == !in_tile);
  }
}

TEST_CASE("lanes cover all rows and columns, and there are no more groups than that takes") {
  for (const std::int64_t rows : {1, 3, 255, 257, 100'000, 2'147'483'646})
    for (const std::int64_t columns : {1, 2, 3, 64, 255, 256, 257, 768, 1024, 1025, 1'000'000}) {
      Pass pass;
      pass.rows = rows;
      pass.columns = columns;
      const std::int64_t width = std::int64_t{1} << pass.width_bits();
      CHECK(width <= pass.lanes);
      CHECK(pass.tiles() * width * Pass::kColumns >= columns);
      CHECK((pass.tiles() - 1) * width * Pass::kColumns < columns);
      CHECK(pass.groups() / pass.tiles() * (pass.lanes / width) >= rows);
      CHECK((pass.groups() / pass.tiles() - 1) * (pass.lanes / width) < rows);
    }
  Pass none;
  CHECK(none.groups() == 0);
  none.rows = 5;
  none.columns = 0;
  CHECK(none.groups() == 0);
}

TEST_CASE("no lane has a long loop, however long a segment is") {
  CHECK(sum_of(64, 10, 5, true).passes.size() == 1);
  CHECK(sum_of(64, 10, 5, true).workspace_bytes == 0);
  const PassList many = sum_of(1 << 30, 8, 5, true);
  REQUIRE(many.passes.size() == 2);
  CHECK(many.passes[0].rows == 1 << 15);
  CHECK(many.workspace_bytes == (std::size_t{1} << 15) * 8 * 4);
  CHECK(many.passes[1].buffers[0].numel == std::int64_t{8} << 30);  // in 64 bits
  CHECK(sum_of(100, 8, 1000, false).passes.back().rows == 101);
  CHECK(sum_of(1000, 8, 100, true).passes.back().rows == 100);
}

namespace {

const PassBuffer* named(const Pass& pass, const char* name) {
  for (const PassBuffer& buffer : pass.buffers)
    if (buffer.name == name) return &buffer;
  return nullptr;
}

std::int64_t int_of(const Pass& pass, const char* name) {
  for (const auto& [own, value] : pass.ints)
    if (own == name) return value;
  FAIL("no such int");
  return 0;
}

std::int64_t int_of_or(const Pass& pass, const char* name, std::int64_t otherwise) {
  for (const auto& [own, value] : pass.ints)
    if (own == name) return value;
  return otherwise;
}

/// The buffer of that name of the first pass from `begin` on that has one.
const PassBuffer* named_first(const std::vector<Pass>& passes, std::size_t begin, const char* name) {
  for (std::size_t p = begin; p < passes.size(); ++p)
    if (const PassBuffer* buffer = named(passes[p], name)) return buffer;
  FAIL("no such buffer");
  return nullptr;
}

bool overlap(const PassBuffer& a, const PassBuffer& b) {
  const auto begin = [](const PassBuffer& x) {
    return x.first * static_cast<std::int64_t>(size_of(x.dtype));
  };
  const auto end = [&](const PassBuffer& x) {
    return begin(x) + x.numel * static_cast<std::int64_t>(size_of(x.dtype));
  };
  return a.of == b.of && a.number == b.number && begin(a) < end(b) && begin(b) < end(a);
}

/// Scans of contiguous elements.
PassList scan_of(library::ScanKind kind, DType dtype, std::int64_t outer, std::int64_t length,
                 std::int64_t inner) {
  library::ScanOp op;
  op.scan = kind;
  op.x_dtype = dtype;
  op.dtype = library::gives_positions(kind) ? DType::i32 : dtype;
  op.outer = outer, op.length = length, op.inner = inner;
  op.x_outer = length * inner, op.x_step = inner;
  return passes_of(op);
}

void check_workspace(const PassList& list) {
  std::int64_t end = 0;
  for (const Pass& pass : list.passes)
    for (const PassBuffer& buffer : pass.buffers)
      if (buffer.of == Of::Workspace)
        end = std::max(end, (buffer.first + buffer.numel) * static_cast<std::int64_t>(size_of(buffer.dtype)));
  CHECK(static_cast<std::size_t>(end) == list.workspace_bytes);
}

/// The lanes that share a sequence have room for all of it.
void check_tiles(const Pass& pass, std::int64_t elements, std::int64_t tile) {
  const std::int64_t width = std::int64_t{1} << pass.width_bits(), each = int_of(pass, "each"),
                     rounds = int_of(pass, "rounds");
  CHECK(pass.columns == width);
  CHECK(pass.tiles() == 1);
  CHECK(each % 2 == 1);
  CHECK(256 * each <= tile);
  CHECK(rounds * width * each >= elements);
  CHECK((rounds - 1) * width * each < elements);
  CHECK(pass.shared_words * 4 <= 16384);
  CHECK(pass.body == "scan_tiles.inc");
}

}  // namespace

TEST_CASE("scans go over tiles of sequences, in one pass or in three") {
  struct Kind {
    library::ScanKind kind;
    DType dtype;
    std::int64_t tile;
  };
  for (const Kind& k :
       {Kind{library::ScanKind::Sum, DType::f32, 3840}, Kind{library::ScanKind::Sum, DType::f64, 1792},
        Kind{library::ScanKind::MaxPosition, DType::f32, 1792},
        Kind{library::ScanKind::MinPosition, DType::i64, 768}})
    for (const std::int64_t length : {std::int64_t{1}, std::int64_t{2}, std::int64_t{9}, std::int64_t{120},
                                      std::int64_t{121}, k.tile, k.tile + 1, 4 * k.tile, 4 * k.tile + 1,
                                      k.tile * k.tile, k.tile * k.tile + 1, std::int64_t{2'147'483'647}})
      for (const std::int64_t outer : {1, 511, 512})
        for (const std::int64_t inner : {1, 7}) {
          CAPTURE(k.tile);
          CAPTURE(length);
          CAPTURE(outer);
          CAPTURE(inner);
          const PassList list = scan_of(k.kind, k.dtype, outer, length, inner);
          const std::int64_t sequences = outer * inner;
          check_workspace(list);
          const Pass& last = list.passes.back();
          CHECK(named(last, "to")->of == Of::Result);
          CHECK(named(last, "to")->numel == sequences * length);
          const bool whole = length <= 4 * k.tile || (sequences >= 512 && length <= 512 * k.tile);
          REQUIRE(list.passes.size() == (whole ? 1 : 3));
          if (whole) {
            CHECK(last.rows == sequences);
            CHECK(list.workspace_bytes == 0);
            check_tiles(last, length, k.tile);
            continue;
          }
          const Pass &totals = list.passes[0], &scan = list.passes[1];
          const std::int64_t chunk = int_of(last, "chunk"), chunks = int_of(last, "chunks");
          CHECK(chunks * chunk >= length);
          CHECK((chunks - 1) * chunk < length);
          for (const Pass* pass : {&totals, &last}) {
            CHECK(pass->rows == sequences * chunks);
            CHECK(int_of(*pass, "chunk") == chunk);
            CHECK(int_of(*pass, "chunks") == chunks);
          }
          CHECK(int_of(last, "ends") == last.rows);
          check_tiles(last, chunk, k.tile);
          check_tiles(scan, chunks, k.tile);
          CHECK(int_of(scan, "rounds") == 1);
          CHECK(int_of(scan, "length") == chunks);
          CHECK(named(totals, "to")->first == named(scan, "from")->first);
          CHECK(named(scan, "to")->first == named(last, "before")->first);
          CHECK(!overlap(*named(scan, "from"), *named(scan, "to")));
          for (const char* name : {"from", "to"}) CHECK(named(scan, name)->numel == sequences * chunks);
        }
}

TEST_CASE("scans across lanes have levels that join what the level below comes to, of any size") {
  for (const std::int64_t length : {1, 32, 33, 1024, 1025, 100'000, 2'147'483'647})
    for (const std::int64_t outer : {1, 3})
      for (const std::int64_t inner : {8, 8192, 1 << 17}) {
        CAPTURE(length);
        CAPTURE(outer);
        CAPTURE(inner);
        const PassList list = scan_of(library::ScanKind::Sum, DType::f32, outer, length, inner);
        // Up, then down: totals of each level but the last, which is one chunk; then as many scans and one
        // more.
        const std::size_t ups = list.passes.size() / 2;
        REQUIRE(list.passes.size() == 2 * ups + 1);
        if (inner == 1 << 17) CHECK(ups == 0);  // lanes enough
        std::int64_t elements = length;
        for (std::size_t p = 0; p < ups; ++p) {
          const std::int64_t chunk = int_of(list.passes[p], "chunk"), chunks = (elements + chunk - 1) / chunk;
          CHECK(chunk >= 32);
          CHECK(int_of(list.passes[p], "chunks") == chunks);
          CHECK(list.passes[p].rows == outer * inner * chunks);
          CHECK(written(list.passes[p]).numel == outer * inner * chunks);
          elements = chunks;
        }
        CHECK(elements <= int_of(list.passes[ups], "chunk"));
        const PassBuffer& last = written(list.passes.back());
        CHECK(last.of == Of::Result);
        CHECK(last.numel == outer * length * inner);
        check_workspace(list);
        // What a scan reads as carried is what the scan before it wrote.
        for (std::size_t p = ups + 1; p < list.passes.size(); ++p) {
          const PassBuffer &above = written(list.passes[p - 1]), &carried = *named(list.passes[p], "before");
          CHECK(carried.first == above.first);
          CHECK(carried.numel == above.numel);
        }
      }
}

namespace {

/// Three passes for each digit, each of which reads what the one before it wrote, and nothing it writes.
void check_digits(const std::vector<Pass>& passes, std::size_t digits, std::size_t workspace_bytes) {
  REQUIRE(passes.size() == 3 * digits);
  for (std::size_t p = 0; p < passes.size(); ++p) {
    for (const PassBuffer& one : passes[p].buffers) {
      if (one.of == Of::Workspace)
        CHECK(static_cast<std::size_t>(one.first + one.numel) * size_of(one.dtype) <= workspace_bytes);
      for (const PassBuffer& other : passes[p].buffers)
        if (&one != &other && (one.written || other.written)) CHECK(!overlap(one, other));
    }
    CHECK(passes[p].shared_words * 4 <= 16384);
    CHECK(passes[p].rows % passes[p].lanes == 0);
  }
  for (std::size_t d = 0; d < digits; ++d) {
    const Pass &count = passes[3 * d], &scan = passes[3 * d + 1], &scatter = passes[3 * d + 2];
    CHECK(overlap(*named(count, "counts"), *named(scan, "counts")));
    CHECK(overlap(*named(scan, "before"), *named(scatter, "before")));
    CHECK(int_of(count, "shift") == int_of(scatter, "shift"));
    // A lane of a scan adds up to 16 counts at a time; 256 lanes go round.
    const std::int64_t blocks = int_of(scan, "blocks");
    CHECK(scan.tiles() == 1);
    CHECK(scan.columns == std::int64_t{1} << scan.width_bits());
    CHECK((scan.columns * 16 >= blocks || scan.columns == 256));
    CHECK((scan.columns == 1 || scan.columns * 8 < blocks));
    CHECK(scan.rows * blocks == named(scan, "counts")->numel);
    CHECK(named(scan, "before")->numel ==
          named(scan, "counts")->numel + named(scan, "counts")->numel / int_of(scan, "blocks"));
    CHECK((int_of(scatter, "flip") == 0 || d + 1 == digits));
    if (d == 0) continue;
    const Pass& before = passes[3 * d - 1];
    CHECK(named(before, "to")->first == named(scatter, "keys")->first);
    CHECK(named(before, "to")->of == named(scatter, "keys")->of);
    CHECK(named(before, "to")->first == named(count, "keys")->first);
    CHECK(named(before, "places")->first == named(scatter, "positions")->first);
    CHECK(named(before, "places")->of == named(scatter, "positions")->of);
  }
}

}  // namespace

TEST_CASE("long sequences are sorted by the digits that their numbers have") {
  struct Numbers {
    DType computed, numbers;
    std::size_t digits;
  };
  for (const Numbers& n : {Numbers{DType::f32, DType::f32, 4}, Numbers{DType::f32, DType::bf16, 2},
                           Numbers{DType::f32, DType::f16, 3}, Numbers{DType::i32, DType::u8, 1},
                           Numbers{DType::i32, DType::i16, 2}, Numbers{DType::i64, DType::u32, 4},
                           Numbers{DType::i64, DType::u64, 8}, Numbers{DType::f64, DType::f64, 8}})
    for (const std::int64_t length : {65536, 3'000'000, 2'147'483'647})
      for (const std::int64_t keep : {length, length - 1})
        for (const bool with_values : {false, true}) {
          CAPTURE(name_of(n.numbers));
          CAPTURE(length);
          CAPTURE(keep);
          library::SortOp op;
          op.x_dtype = n.computed;
          op.numbers = n.numbers;
          op.length = length, op.keep = keep;
          op.with_values = with_values;
          const PassList list = passes_of(op);
          check_digits(list.passes, n.digits, list.workspace_bytes);
          const Pass& last = list.passes.back();
          CHECK(named(last, "places")->of == Of::Result);
          CHECK(named(last, "places")->numel == keep);
          CHECK(int_of(last, "kept") == keep);
          CHECK((named(last, "to") != nullptr) == with_values);
          if (with_values) CHECK(named(last, "to")->number == 1);
        }
  // Of 100 rows an index has 7 bits, of 257 9.
  for (const auto& [rows, digits] : {std::pair(100, 1), std::pair(256, 1), std::pair(257, 2)})
    for (const std::int64_t count : {65536, 2'147'483'647}) {
      PassList list = sort_of(count, rows);
      list.passes.pop_back();  // first_places
      check_digits(list.passes, static_cast<std::size_t>(digits), list.workspace_bytes);
      CHECK(named(list.passes.back(), "places")->of == Of::Result);
      CHECK(named(list.passes.back(), "to")->first == rows);
    }
  library::SortOp op;
  op.outer = op.x_outer = op.keep = op.length = 8192;
  CHECK(passes_of(op).passes.front().name == "count_digits");
  op.x_step = 8192, op.x_outer = 1;  // columns
  CHECK(passes_of(op).passes.front().name == "count_strided_digits");
  op.outer = 10'000'000;  // a grid has no room for a workgroup for each digit of each
  CHECK(passes_of(op).passes.front().name == "sort_runs");
}

namespace {

std::int64_t defined(const Pass& pass, const std::string& name) {
  const std::size_t at = pass.defines.find("#define " + name + " ");
  REQUIRE(at != std::string::npos);
  return std::stoll(pass.defines.substr(at + name.size() + 9));
}

PassList sort_rows(std::int64_t sequences, std::int64_t length) {
  library::SortOp op;
  op.outer = sequences;
  op.x_outer = op.length = op.keep = length;
  return passes_of(op);
}

}  // namespace

TEST_CASE("short sequences are sorted in one pass, each or several by a workgroup") {
  for (const std::int64_t length :
       {1, 3, 4, 255, 256, 257, 384, 385, 512, 513, 768, 769, 1024, 1025, 2048, 2049, 4096})
    for (const std::int64_t sequences : {1, 2, 3, 300, 100'000'000}) {
      CAPTURE(length);
      CAPTURE(sequences);
      const PassList list = sort_rows(sequences, length);
      REQUIRE(list.passes.size() == 1);
      CHECK(list.workspace_bytes == 0);
      const Pass& pass = list.passes[0];
      const bool packed = defined(pass, "PACKED") == 1;
      CHECK(packed == (sequences > 1 && length <= 256));
      const std::int64_t in_tile = packed ? int_of(pass, "in_tile") : 1,
                         room = pass.lanes * defined(pass, "ITEMS");
      CHECK(in_tile * length <= room);
      CHECK(in_tile <= 256);  // one digit
      CHECK(pass.groups() * in_tile >= sequences);
      CHECK((pass.groups() - 1) * in_tile < sequences);
      if (packed)
        for (std::int64_t place = 0; place < in_tile * length; ++place)
          REQUIRE((place * int_of(pass, "reciprocal") >> 20) == place / length);
      CHECK(int_of(pass, "digits") == (packed ? 5 : 4));
      CHECK(int_of(pass, "sign_digit") == 3);
      // Counts and masks of all teams, or all keys.
      CHECK(pass.shared_words >= room);
      CHECK(pass.shared_words >= 2 * defined(pass, "MASKS"));
      CHECK(pass.shared_words * 4 <= 16384);
      CHECK(defined(pass, "EACH") * pass.lanes == 256);
      if (!packed && length > 384) CHECK(3 * length > 2 * room - 3);
    }
  CHECK(sort_rows(1, 4097).passes.front().name == "sort_runs");
  CHECK(sort_rows(100, 4097).passes.front().name == "count_digits");
}

TEST_CASE("of many rows all tiles are full, or nearly") {
  for (const std::int64_t length : {4097, 5000, 7680, 7681, 8192, 10'000, 11'521, 50'257}) {
    CAPTURE(length);
    const Pass count = sort_rows(256, length).passes.front();
    const std::int64_t tile = defined(count, "TILE"), blocks = int_of(count, "blocks");
    CHECK(tile == 256 * defined(count, "ITEMS"));
    CHECK(tile <= 3840);
    CHECK(count.groups() == 256 * blocks);
    CHECK(tile * blocks >= length);
    CHECK(tile * (blocks - 1) < length);
    CHECK(static_cast<double>(tile * blocks) <= 1.25 * static_cast<double>(length));
  }
}

TEST_CASE("each pass of a sort by runs reads the lists that the one before it wrote") {
  for (const DType dtype : {DType::f32, DType::i64})
    for (const std::int64_t length : {1, 1024, 1025, 8193, 65535})
      for (const std::int64_t kept : {length, length - length / 3}) {
        CAPTURE(length);
        CAPTURE(kept);
        library::SortOp op;
        op.dtype = DType::i32;
        op.x_dtype = dtype;
        op.length = length;
        op.keep = kept;
        const PassList list = passes_of(op);
        REQUIRE(!list.passes.empty());
        std::int64_t bytes = 0;
        for (std::size_t p = 0; p < list.passes.size(); ++p) {
          for (const PassBuffer& buffer : list.passes[p].buffers)
            if (buffer.of == Of::Workspace)
              bytes = std::max(
                  bytes, (buffer.first + buffer.numel) * static_cast<std::int64_t>(size_of(buffer.dtype)));
          if (p == 0) continue;
          const std::vector<PassBuffer>&from = list.passes[p].buffers, &before = list.passes[p - 1].buffers;
          const std::size_t keys = before.size() - 2;  // then positions
          for (std::size_t k = 0; k < 2; ++k) {
            CHECK(from[k].of == before[keys + k].of);
            CHECK(from[k].first == before[keys + k].first);
            CHECK(from[k].dtype == before[keys + k].dtype);
          }
          // Never in place.
          CHECK(written(list.passes[p]).of != Of::Operand);
          CHECK((written(list.passes[p]).of == Of::Result || written(list.passes[p]).first != from[0].first));
        }
        CHECK(static_cast<std::size_t>(bytes) <= list.workspace_bytes);
        CHECK(list.passes.back().buffers.back().of == Of::Result);
        CHECK(list.passes.back().buffers.back().numel == kept);
      }
}

TEST_CASE("the first keys are selected, then sorted alone") {
  struct Numbers {
    DType computed, numbers;
    std::size_t digits;  // of 11 bits
  };
  for (const Numbers& n : {Numbers{DType::f32, DType::f32, 3}, Numbers{DType::f32, DType::bf16, 2},
                           Numbers{DType::f32, DType::f16, 2}, Numbers{DType::i32, DType::boolean, 1},
                           Numbers{DType::i64, DType::i64, 6}})
    for (const std::int64_t length : {129, 16384, 16385, 262'145, 3'000'000, 2'147'483'647})
      for (const std::int64_t sequences : {1, 191, 192, 70'000})
        for (const std::int64_t keep :
             {std::int64_t{1}, std::int64_t{50}, std::int64_t{5000}, (length + 1) / 2}) {
          if (2 * keep > length + 1 || sequences * length > 2'147'483'647) continue;
          CAPTURE(name_of(n.numbers));
          CAPTURE(length);
          CAPTURE(sequences);
          CAPTURE(keep);
          library::SortOp op;
          op.x_dtype = n.computed;
          op.numbers = n.numbers;
          op.outer = sequences, op.length = length, op.keep = keep;
          op.x_outer = length;
          op.with_values = true;
          const PassList list = passes_of(op);
          const std::vector<Pass>& passes = list.passes;
          for (const Pass& pass : passes) {
            for (const PassBuffer& one : pass.buffers) {
              if (one.of == Of::Workspace)
                CHECK(static_cast<std::size_t>(one.first + one.numel) * size_of(one.dtype) <=
                      list.workspace_bytes);
              for (const PassBuffer& other : pass.buffers)
                if (&one != &other && (one.written || other.written)) CHECK(!overlap(one, other));
            }
            CHECK(pass.shared_words * 4 <= 16384);
            if (pass.name.starts_with("select") || pass.name == "sum_counts") {
              CHECK(pass.rows <= 4'294'967'295);  // in 32 bits on Vulkan
              CHECK(pass.rows % pass.lanes == 0);
              CHECK(pass.most_rounds < 60'000);
              CHECK(int_of_or(pass, "kept", keep) == keep);
            }
          }
          const bool shared = length > 262'144 || (length > 16384 && sequences < 192);
          std::size_t last = 0;
          if (shared) {
            last = 2 * n.digits + 1;
            const std::int64_t blocks = int_of(passes[0], "blocks"), chunk = int_of(passes[0], "chunk");
            CHECK((chunk * blocks >= length && chunk * (blocks - 1) < length));
            for (std::size_t digit = 0; digit <= n.digits; ++digit) {
              const Pass& count = passes[2 * digit];
              CHECK(count.name == "select_counts");
              CHECK(int_of(count, "stage") == static_cast<std::int64_t>(digit));
              CHECK(count.rows == sequences * blocks * count.lanes);
              const PassBuffer& counted = written(count);
              CHECK(counted.numel == sequences * blocks * (named(count, "sums")->numel / sequences + 8));
              const Pass& next = passes[std::min(2 * digit + 2, last)];
              CHECK(named(next, "counted")->first == counted.first);
              if (digit == n.digits) continue;
              const Pass& sum = passes[2 * digit + 1];
              CHECK(named(sum, "counts")->first == counted.first);
              CHECK(written(sum).first == named(next, "sums")->first);
              CHECK(sum.rows / sum.lanes * 32 == written(sum).numel);
            }
          }
          REQUIRE(passes.size() > last);
          CHECK(passes[last].name == (shared ? "select_gathers" : "select"));
          const PassBuffer &keys = *named(passes[last], "to"), &positions = *named(passes[last], "places");
          CHECK(keys.numel == sequences * keep);
          CHECK((keep == 1) == (passes.size() == last + 1));
          for (std::size_t p = last + 1; p < passes.size(); ++p)
            if (const PassBuffer* read = named(passes[p], "keys"); read && p <= last + 3)
              CHECK((read->first == keys.first && read->of == keys.of));
          if (keep > 1) CHECK(overlap(*named_first(passes, last + 1, "positions"), positions));
          CHECK(written(passes.back()).of == Of::Result);
          CHECK(written(passes.back()).numel == sequences * keep);
        }
  library::SortOp op;
  op.with_values = true;
  op.length = 128, op.keep = 1;
  CHECK(passes_of(op).passes.front().name == "sort_runs");
  op.length = 1000, op.keep = 501;
  CHECK(passes_of(op).passes.front().name == "sort_runs");
  op.keep = 500;
  CHECK(passes_of(op).passes.front().name == "select");
  op.x_step = 3;
  CHECK(passes_of(op).passes.front().name == "select_strided");
}
