// Views, padding and placing: of tensors in memory, of computed values, and of views.
#include <functional>

#include <doctest/doctest.h>

#include "tests/support/programs/program_builder.h"

namespace sinter::testing {
namespace {

using View = std::function<int(ProgramBuilder&, int)>;

struct NamedView {
  const char* name;
  Shape shape;  // of the view's source
  View view;
};

std::vector<NamedView> views() {
  using B = ProgramBuilder;
  return {
      {"reshape",
       {4, 6},
       [](B& b, int x) {
         return b.reshape(x, {3, -1, 2});
       }},
      {"reshape to nothing", {1, 1}, [](B& b, int x) { return b.reshape(x, {}); }},
      {"reshape of nothing",
       {0, 3},
       [](B& b, int x) {
         return b.reshape(x, {3, 0, 5});
       }},
      {"permute",
       {2, 3, 5},
       [](B& b, int x) {
         return b.permute(x, {2, 0, 1});
       }},
      {"permute 5",
       {2, 1, 3, 2, 2},
       [](B& b, int x) {
         return b.permute(x, {-1, 0, 3, 1, 2});
       }},
      {"permute, reshape",
       {4, 6},
       [](B& b, int x) {
         return b.reshape(b.permute(x, {1, 0}), {3, 8});
       }},
      {"permute, reshape, permute",
       {4, 6},
       [](B& b, int x) {
         return b.permute(b.reshape(b.permute(x, {1, 0}), {2, 2, 6}), {2, 0, 1});
       }},
      {"expand",
       {3, 1},
       [](B& b, int x) {
         return b.expand(x, {2, -1, 4});
       }},
      {"expand a number",
       {},
       [](B& b, int x) {
         return b.expand(x, {3, 2});
       }},
      {"expand, reshape",
       {3, 1},
       [](B& b, int x) {
         return b.reshape(b.expand(x, {3, 4}), {2, 6});
       }},
      {"slice",
       {7, 5},
       [](B& b, int x) {
         return b.slice(x, {{1, 6, 2}, {2, {}, 1}});
       }},
      {"slice back",
       {7, 5},
       [](B& b, int x) {
         return b.slice(x, {{{}, {}, -2}, {-2, 0, -1}});
       }},
      {"slice nothing",
       {7, 5},
       [](B& b, int x) {
         return b.slice(x, {{3, 3, 1}});
       }},
      {"slice of slice",
       {9, 8},
       [](B& b, int x) {
         return b.slice(b.slice(x, {{1, {}, 2}, {{}, {}, -1}}), {{{}, {}, -1}, {1, {}, 3}});
       }},
      {"slice, reshape",
       {6, 4},
       [](B& b, int x) {
         return b.reshape(b.slice(x, {{1, 5, 1}, {0, 3, 2}}), {8});
       }},
      {"flip",
       {3, 4, 2},
       [](B& b, int x) {
         return b.flip(x, {0, -1});
       }},
      {"flip, permute, slice",
       {3, 4, 2},
       [](B& b, int x) {
         return b.slice(b.permute(b.flip(x, {1}), {1, 2, 0}), {{{}, {}, 3}, {1, {}, 1}});
       }},
      {"windows", {3, 8}, [](B& b, int x) { return b.windows(x, 1, 3, 2); }},
      {"windows twice", {6, 5}, [](B& b, int x) { return b.windows(b.windows(x, 0, 2, 1), 1, 3, 1); }},
      {"windows, reshape",
       {6, 4},
       [](B& b, int x) {
         return b.reshape(b.windows(x, 0, 3, 1), {4, 12});
       }},
  };
}

std::vector<DType> stored_dtypes(const Device& device) {
  std::vector<DType> dtypes = computed_dtypes(device);
  if (compiles_slowly(device)) dtypes = {DType::f32, DType::u8};
  return dtypes;
}

}  // namespace

TEST_CASE("views of what is in memory") {
  const Device device = test_device();
  for (DType dtype : stored_dtypes(device)) {
    ProgramBuilder program;
    for (const NamedView& v : views()) v.view(program, program.input(v.shape, dtype));
    program.expect(device, "views of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("views of computed values, and computing with views") {
  const Device device = test_device();
  const bool few = compiles_slowly(device);
  for (DType dtype : few ? std::vector{DType::f32} : std::vector{DType::f32, DType::i64}) {
    for (const NamedView& v : views()) {
      ProgramBuilder program;
      const int x = program.input(v.shape, dtype);
      const int computed = program.binary(Op::Mul, {x}, {-1, 3});
      program.binary(Op::Add, {v.view(program, computed)}, {-1, 1});
      const int view = v.view(program, x);
      program.drop(x);
      program.flush();
      // Now the view's memory has no other handle.
      program.binary(Op::Add, {view}, {view});
      program.expect(device, v.name);
    }
  }
}

TEST_CASE("views of views of what was computed before") {
  const Device device = test_device();
  for (const NamedView& outer : views()) {
    if (compiles_slowly(device) && outer.shape.rank() != 2) continue;
    ProgramBuilder program;
    // A tensor of the wanted shape that is itself a view with gaps, steps and permuted dims.
    Shape wide;
    Dims order;
    std::vector<Range> ranges;
    for (std::size_t d = outer.shape.rank(); d-- > 0;) {
      wide.push_back(outer.shape[d] * 2 + 1);
      ranges.push_back({outer.shape[d] * 2 - 1 < 0 ? 0 : outer.shape[d] * 2 - 1, {}, -2});
      if (outer.shape[d] == 0) ranges.back() = {0, 0, 1};
    }
    for (std::size_t d = 0; d < outer.shape.rank(); ++d)
      order.push_back(static_cast<std::int64_t>(outer.shape.rank() - 1 - d));
    const int base = program.unary(Op::Neg, program.input(wide, DType::f32));
    const int inner = program.permute(program.slice(base, ranges), order);
    program.flush();
    const int view = outer.view(program, inner);
    program.binary(Op::Mul, {view}, {-1, 2.0});
    program.expect(device, outer.name);
  }
}

TEST_CASE("padding") {
  const Device device = test_device();
  for (DType dtype : computed_dtypes(device)) {
    ProgramBuilder program;
    const Scalar fill = dtype == DType::boolean ? Scalar(true) : is_float(dtype) ? Scalar(-1.5) : Scalar(7);
    const int x = program.input({3, 4}, dtype), empty = program.input({0, 2}, dtype),
              single = program.input({}, dtype);
    program.pad(x, {1, 0}, {0, 2}, fill);
    program.pad(empty, {1, 1}, {2, 0}, fill);
    program.pad(single, {}, {}, fill);
    program.pad(program.permute(x, {1, 0}), {0, 2}, {1, 1}, fill);
    program.pad(program.pad(x, {1, 1}, {1, 1}, fill), {2, 0}, {0, 2}, 0);
    program.slice(program.pad(x, {2, 2}, {2, 2}, fill), {{1, {}, 2}, {{}, {}, -1}});
    program.pad(program.reshape(program.flip(x, {0}), {2, 6}), {0, 1}, {1, 0}, fill);
    // Reads only inside: the padded part of an empty slice does not exist.
    program.pad(program.slice(x, {{2, 2, 1}}), {2, 1}, {1, 1}, fill);
    program.pad(program.reshape(program.slice(program.permute(x, {1, 0}), {{1, 1, 1}}), {3, 0}), {1, 1},
                {1, 1}, fill);
    program.expect(device, "padding of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("the same memory seen inside of several frames and outside of any") {
  const Device device = test_device();
  ProgramBuilder program;
  const int x = program.input({3, 4}, DType::f32);
  // All of these access x with strides 4 and 1; each has padding elsewhere.
  const int narrow = program.pad(program.slice(x, {{}, {0, 2, 1}}), {0, 0}, {0, 3}, 1.0);
  const int wider = program.pad(program.slice(x, {{}, {0, 3, 1}}), {0, 0}, {0, 2}, 2.0);
  const int whole = program.pad(x, {0, 0}, {0, 1}, 4.0);
  const int overlapping = program.windows(program.reshape(x, {12}), 0, 5, 4);
  const std::vector<Range> rows = {{0, 2, 1}};
  int sum = program.binary(Op::Add, {program.slice(narrow, rows)}, {program.slice(wider, rows)});
  sum = program.binary(Op::Add, {sum}, {program.slice(whole, rows)});
  program.binary(Op::Add, {sum}, {overlapping});
  for (int value : {narrow, wider, whole, overlapping, sum}) program.drop(value);
  program.expect(device, "frames");
}

TEST_CASE("nothing is read where only a frame is seen") {
  // No coordinate decides what is read, and yet there is nothing to read: the oracle throws where a kernel
  // reads it anyway.
  const Device device = test_device();
  ProgramBuilder program;
  const int one = program.input({1}, DType::f32), x = program.input({3}, DType::f32),
            rows = program.input({2, 3}, DType::f32), scale = program.input({1, 3}, DType::f32);
  program.roll(program.pad(one, {0}, {1}, 4.0), 3, 0);
  for (const Range& side : {Range{0, 1, 1}, Range{0, 2, 1}, Range{5, 6, 1}, Range{5, 7, 1}})
    program.slice(program.pad(x, {2}, {2}, 1.0), {side});
  // Here the tested coordinate is none of the scale's.
  const int framed =
      program.pad(program.binary(Op::Mul, {rows}, {program.expand(scale, {2, 3})}), {1, 0}, {1, 0}, 2.0);
  for (const Range& side : {Range{0, 1, 1}, Range{0, 2, 1}, Range{3, 4, 1}})
    program.slice(framed, {side, Range{}});
  program.expect(device, "frames alone");
}

TEST_CASE("placing") {
  const Device device = test_device();
  for (DType dtype : compiles_slowly(device) ? std::vector{DType::f32} : computed_dtypes(device)) {
    ProgramBuilder program;
    const Scalar fill = dtype == DType::boolean ? Scalar(true)
                        : is_float(dtype)       ? Scalar(0.5)
                                                : Scalar(is_unsigned(dtype) ? 3 : -3);
    const int x = program.input({3, 4}, dtype), y = program.input({5}, dtype);
    program.place(x, {7, 8}, {1, 1}, {2, 2}, fill);
    program.place(x, {7, 4}, {6, 0}, {-3, 1}, fill);
    program.place(y, {13}, {0}, {3}, fill);
    program.place(y, {14}, {13}, {-3}, fill);
    program.place(y, {5}, {4}, {-1}, fill);
    program.place(program.permute(x, {1, 0}), {9, 5}, {2, 1}, {2, 1}, fill);
    program.place(program.slice(x, {{0, 0, 1}}), {2, 4}, {0, 0}, {1, 1}, fill);
    program.place(program.place(y, {9}, {0}, {2}, fill), {20}, {1}, {2}, 0);
    program.binary(Op::Equal, {program.place(y, {10}, {0}, {2}, fill)},
                   {program.place(y, {10}, {1}, {2}, fill)});
    program.expect(device, "placing of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("narrow, transpose, squeeze and unsqueeze are the views they stand for") {
  const Device device = test_device();
  std::vector<float> data(24);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const auto bytes = std::as_bytes(std::span(data));
  const AnyTensor x = AnyTensor::from_bytes(bytes, {2, 3, 4}, DType::f32, device);
  const Reference r;
  const ReferenceTensor want = r.from_bytes(bytes, {2, 3, 4}, DType::f32);
  const std::vector<Range> middle = {{}, {1, 3, 1}};
  CHECK(difference(x.narrow(1, 1, 2), r.slice(want, middle)) == "");
  CHECK(difference(x.narrow(-2, 1, 2), r.slice(want, middle)) == "");
  CHECK(difference(x.transpose(0, -1), r.permute(want, {2, 1, 0})) == "");
  CHECK(difference(x.unsqueeze(1), r.reshape(want, {2, 1, 3, 4})) == "");
  CHECK(difference(x.unsqueeze(-1), r.reshape(want, {2, 3, 4, 1})) == "");
  CHECK(difference(x.unsqueeze(1).squeeze(1), want) == "");
  CHECK(difference(x.narrow(0, 1, 1).squeeze({0}),
                   r.reshape(r.slice(want, std::vector<Range>{{1, {}, 1}}), {3, 4})) == "");
}

}  // namespace sinter::testing
