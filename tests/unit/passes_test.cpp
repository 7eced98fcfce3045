// How scatters, scans and sorts are cut into passes, for sizes that no test can run.
#include "src/runtime/passes/passes.h"

#include <algorithm>
#include <cstdint>
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
  for (const std::int64_t count : {1, 1024, 1025, 8192, 8193, 65535}) {
    CAPTURE(count);
    const PassList list = sort_of(count, 100);
    REQUIRE(list.passes.size() >= 2);
    std::int64_t run = 1024;
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
    CHECK((list.workspace_bytes > 0) == (count > 1024));
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

TEST_CASE("a scan's levels join what the level below comes to, of any size") {
  for (const std::int64_t length : {1, 32, 33, 1024, 1025, 100'000, 2'147'483'647})
    for (const std::int64_t outer : {1, 3}) {
      CAPTURE(length);
      library::ScanOp op;
      op.length = length;
      op.outer = outer;
      op.x_outer = length;
      const PassList list = passes_of(op);
      // Up, then down: totals of each level but the last, which is one chunk; then as many scans and one
      // more.
      const std::size_t ups = list.passes.size() / 2;
      REQUIRE(list.passes.size() == 2 * ups + 1);
      std::int64_t elements = length;
      for (std::size_t p = 0; p < ups; ++p) {
        const std::int64_t chunks = (elements + 31) / 32;
        CHECK(list.passes[p].rows == outer * chunks);
        CHECK(written(list.passes[p]).numel == outer * chunks);
        elements = chunks;
      }
      CHECK(elements <= 32);
      const PassBuffer& last = written(list.passes.back());
      CHECK(last.of == Of::Result);
      CHECK(last.numel == outer * length);
      std::int64_t end = 0;
      for (const Pass& pass : list.passes)
        for (const PassBuffer& buffer : pass.buffers)
          if (buffer.of == Of::Workspace) end = std::max(end, buffer.first + buffer.numel);
      CHECK(static_cast<std::size_t>(end) * 4 == list.workspace_bytes);
      // What a scan reads as carried is what the scan before it wrote.
      for (std::size_t p = ups + 1; p < list.passes.size(); ++p) {
        const PassBuffer& above = written(list.passes[p - 1]);
        const PassBuffer& carried = list.passes[p].buffers[list.passes[p].buffers.size() - 2];
        CHECK(carried.name == "before");
        CHECK(carried.first == above.first);
        CHECK(carried.numel == above.numel);
      }
    }
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
  op.outer = op.x_outer = op.keep = op.length = 4096;
  CHECK(passes_of(op).passes.front().name == "count_digits");
  op.x_step = 4096, op.x_outer = 1;  // columns
  CHECK(passes_of(op).passes.front().name == "count_strided_digits");
  op.outer = 10'000'000;  // a grid has no room for a workgroup for each digit of each
  CHECK(passes_of(op).passes.front().name == "sort_runs");
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
