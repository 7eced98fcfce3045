// Loads and stores as LLVM values.
#include <algorithm>

#include "jit/emit/llvm/values.h"

namespace sinter::emit {

using ir::Expr;

namespace {

// Bytes between what a loop loads and what it asks for: two rounds of eight registers.
constexpr int kAhead = 1024;

}  // namespace

std::string LlvmValues::zeros() {
  w_.module().declarations.insert("@sn_zeros = internal constant [8 x i8] zeroinitializer, align 8");
  return w_.module().typed_pointers ? "bitcast ([8 x i8]* @sn_zeros to i8*)" : "@sn_zeros";
}

std::string LlvmValues::to_memory(DType dtype, bool vector, const std::string& value) {
  if (dtype != DType::boolean) return value;
  const std::string to = vector ? w_.vector_of("i8") : "i8";
  return w_.value("zext " + w_.type(dtype, vector) + " " + value + " to " + to);
}

LlvmOperand LlvmValues::from_memory(DType dtype, bool vector, const std::string& value) {
  if (dtype != DType::boolean) return {value, vector};
  return {w_.value("icmp ne " + (vector ? w_.vector_of("i8") : std::string("i8")) + " " + value + ", " +
                   (vector ? "zeroinitializer" : "0")),
          vector};
}

std::string LlvmValues::both_masks(const std::string& a, const std::string& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return w_.value("and " + w_.vector_of("i1") + " " + a + ", " + b);
}

void LlvmValues::set_count(const std::string& count, const std::string& whole) {
  mask_count_ = count;
  whole_ = whole;
  mask_ = mask_of_count();
}

std::string LlvmValues::mask_of_count() {
  const std::string count = w_.value("trunc i64 " + mask_count_ + " to i32");
  return w_.value("icmp slt " + w_.vector_of("i32") + " " + w_.iota("i32") + ", " + w_.splat("i32", count));
}

std::string LlvmValues::where_there(const std::string& type, const std::string& next,
                                    const std::string& before) {
  if (mask_.empty()) return next;
  auto masked = [&](const std::string& mask) {
    return w_.value("select " + w_.vector_of("i1") + " " + mask + ", " + type + " " + next + ", " + type +
                    " " + before);
  };
  if (whole_.empty()) return masked(mask_);
  return w_.pick(
      whole_, type, [&] { return next; }, [&] { return masked(mask_of_count()); });
}

LlvmOperand LlvmValues::load_row(DType dtype, const std::string& pointer, bool vector,
                                 const std::string& wanted_one, const std::string& wanted) {
  const std::string element = llvm_memory_type(dtype);
  const int size = static_cast<int>(size_of(dtype));
  if (!vector) return from_memory(dtype, false, w_.load(element, pointer, size));
  const std::string type = w_.vector_of(element), row = w_.cast_pointer(element, type, pointer);
  auto plain = [&] { return w_.load(type, row, size); };
  auto masked = [&](const std::string& mask) {
    const std::string suffix =
        "v" + std::to_string(w_.lanes()) + (dtype == DType::boolean ? "i8" : llvm_suffix(dtype));
    return w_.intrinsic("llvm.masked.load." + suffix + "." + w_.pointer_suffix(suffix), type,
                        {{w_.pointer_to(type), row},
                         {"i32", std::to_string(size)},
                         {w_.vector_of("i1"), mask},
                         {type, "zeroinitializer"}});
  };
  auto all_lanes = [&] {
    return wanted_one.empty() ? plain() : w_.either(wanted_one, type, plain, "zeroinitializer");
  };
  auto some_lanes = [&](const std::string& there) {
    const std::string one = wanted_one.empty() ? "" : w_.splat("i1", wanted_one);
    return masked(both_masks(both_masks(wanted, one), there));
  };
  std::string lanes;
  if (!mask_.empty() && whole_.empty()) {
    lanes = some_lanes(mask_);
  } else if (!wanted.empty()) {
    // Mostly all lanes are wanted or none is; masked loads are slow on some processors.
    const std::string one = wanted_one.empty() ? "" : w_.splat("i1", wanted_one);
    const std::string mask = both_masks(both_masks(wanted, one), mask_);
    lanes = w_.pick(all_of(mask), type, plain, [&] {
      return w_.either(
          any_of(mask).text, type, [&] { return masked(mask); }, "zeroinitializer");
    });
  } else if (mask_.empty()) {
    lanes = all_lanes();
  } else {
    lanes = w_.pick(whole_, type, all_lanes, [&] { return some_lanes(mask_of_count()); });
  }
  return from_memory(dtype, true, lanes);
}

void LlvmValues::store_row(DType dtype, const std::string& pointer, const LlvmOperand& value) {
  const std::string element = llvm_memory_type(dtype);
  const int size = static_cast<int>(size_of(dtype));
  const std::string bytes = to_memory(dtype, value.vector, value.text);
  if (!value.vector) return w_.store(element, bytes, pointer, size);
  const std::string type = w_.vector_of(element), row = w_.cast_pointer(element, type, pointer);
  auto plain = [&] { w_.store(type, bytes, row, size); };
  auto masked = [&](const std::string& mask) {
    const std::string suffix =
        "v" + std::to_string(w_.lanes()) + (dtype == DType::boolean ? "i8" : llvm_suffix(dtype));
    w_.intrinsic("llvm.masked.store." + suffix + "." + w_.pointer_suffix(suffix), "void",
                 {{type, bytes},
                  {w_.pointer_to(type), row},
                  {"i32", std::to_string(size)},
                  {w_.vector_of("i1"), mask}});
  };
  if (mask_.empty()) return plain();
  if (whole_.empty()) return masked(mask_);
  w_.choose(whole_, plain, [&] { masked(mask_of_count()); });
}

void LlvmValues::store_result(std::size_t buffer, const std::string& pointer, const std::string& lanes) {
  const DType dtype = kernel_.buffers[buffer].dtype;
  if (!mask_.empty() && whole_.empty()) return store_row(dtype, pointer, {lanes, true});
  const std::string element = llvm_memory_type(dtype), type = w_.vector_of(element);
  const int align = std::min(static_cast<int>(size_of(dtype)) * w_.lanes(), target_.vector_bytes);
  // Whole vectors, at multiples of their size, and nobody wants to find them in a cache.
  const std::string address = w_.value("ptrtoint " + w_.pointer_to(element) + " " + pointer + " to i64");
  const std::string low = w_.value("and i64 " + w_.value("or i64 " + address + ", " + cached(buffer)) + ", " +
                                   std::to_string(align - 1));
  std::string streams = w_.value("icmp eq i64 " + low + ", 0");
  if (!mask_.empty()) streams = w_.value("and i1 " + streams + ", " + whole_);
  streams_ = true;
  w_.choose(
      streams,
      [&] {
        const std::string row = w_.cast_pointer(element, type, pointer);
        w_.store(type, to_memory(dtype, true, lanes), row, align, true);
      },
      [&] {
        store_row(dtype, pointer, {lanes, true});
      });
}

LlvmOperand LlvmValues::load_one(DType dtype, const std::string& pointer, const std::string& wanted) {
  const std::string element = llvm_memory_type(dtype), type = w_.pointer_to(element);
  std::string from = pointer;
  if (!wanted.empty()) {
    // What is not wanted may lie anywhere: it is read as a zero instead.
    std::string zero = zeros();
    if (w_.module().typed_pointers) zero = "bitcast ([8 x i8]* @sn_zeros to " + type + ")";
    from = w_.value("select i1 " + wanted + ", " + type + " " + pointer + ", " + type + " " + zero);
  }
  return load_row(dtype, from, false);
}

LlvmOperand LlvmValues::gather(DType dtype, const std::string& pointer, const std::string& positions,
                               const std::string& wanted) {
  const std::string element = llvm_memory_type(dtype), type = w_.vector_of(element);
  if (target_.has_gather && size_of(dtype) >= 4) {
    const std::string pointers = w_.vector_of(w_.pointer_to(element));
    const std::string at = w_.value("getelementptr " + element + ", " + w_.pointer_to(element) + " " +
                                    pointer + ", " + w_.vector_of(index_type()) + " " + positions);
    const std::string lanes = "v" + std::to_string(w_.lanes());
    const std::string name = "llvm.masked.gather." + lanes + llvm_suffix(dtype) + "." + lanes +
                             w_.pointer_suffix(llvm_suffix(dtype));
    const std::string mask = both_masks(wanted, mask_);
    return {w_.intrinsic(name, type,
                         {{pointers, at},
                          {"i32", std::to_string(size_of(dtype))},
                          {w_.vector_of("i1"), mask.empty() ? w_.splat("i1", "true") : mask},
                          {type, "zeroinitializer"}}),
            true};
  }
  std::string mask, places = positions, result = "poison";
  if (!wanted.empty()) {
    mask = both_masks(wanted, mask_);
  } else if (!mask_.empty()) {
    // Lanes that do not exist read what the first one does, which is shorter than to ask at each.
    const std::string type = w_.vector_of(index_type());
    const std::string first = w_.splat(index_type(), w_.first_lane(type, positions));
    places = w_.value("select " + w_.vector_of("i1") + " " + mask_ + ", " + type + " " + positions + ", " +
                      type + " " + first);
  }
  for (int lane = 0; lane < w_.lanes(); ++lane) {
    const std::string at = ", i32 " + std::to_string(lane);
    const std::string position = w_.value("extractelement " + w_.vector_of(index_type()) + " " + places + at);
    const std::string from = w_.value("getelementptr " + element + ", " + w_.pointer_to(element) + " " +
                                      pointer + ", " + index_type() + " " + position);
    const std::string wanted_here =
        mask.empty() ? "" : w_.value("extractelement " + w_.vector_of("i1") + " " + mask + at);
    // Bytes, also of truth values, become values once all are there.
    const LlvmOperand one = load_one(dtype == DType::boolean ? DType::u8 : dtype, from, wanted_here);
    result = w_.value("insertelement " + type + " " + result + ", " + element + " " + one.text + at);
  }
  return from_memory(dtype, true, result);
}

void LlvmValues::scatter(DType dtype, const std::string& pointer, const std::string& positions,
                         const std::string& value) {
  const std::string element = llvm_memory_type(dtype), type = w_.vector_of(element);
  const std::string bytes = to_memory(dtype, true, value);
  const std::string index = index_type(), indices = w_.vector_of(index);
  const int size = static_cast<int>(size_of(dtype));
  if (target_.vector_bytes == 64 && size >= 4) {
    const std::string pointers = w_.vector_of(w_.pointer_to(element));
    const std::string at = w_.value("getelementptr " + element + ", " + w_.pointer_to(element) + " " +
                                    pointer + ", " + indices + " " + positions);
    const std::string lanes = "v" + std::to_string(w_.lanes());
    w_.intrinsic("llvm.masked.scatter." + lanes + llvm_suffix(dtype) + "." + lanes +
                     w_.pointer_suffix(llvm_suffix(dtype)),
                 "void",
                 {{type, bytes},
                  {pointers, at},
                  {"i32", std::to_string(size)},
                  {w_.vector_of("i1"), mask_.empty() ? w_.splat("i1", "true") : mask_}});
    return;
  }
  // Lane by lane, through memory: a loop is less text than a branch for each lane. A mask has its lanes in
  // front.
  const std::size_t lanes = static_cast<std::size_t>(w_.lanes());
  const std::string values = w_.local(lanes * 8), where = w_.local(lanes * 8);
  w_.store(type, bytes, w_.cast_pointer("i8", type, values), 64);
  w_.store(indices, positions, w_.cast_pointer("i8", indices, where), 64);
  const std::string from = w_.cast_pointer("i8", element, values),
                    places = w_.cast_pointer("i8", index, where);
  w_.loop("0", mask_.empty() ? std::to_string(w_.lanes()) : mask_count_, "1", {},
          [&](const std::string& lane, const LlvmWriter::Names&) {
            const std::string one = w_.load(element, w_.element(element, from, lane), size);
            const std::string place = w_.load(index, w_.element(index, places, lane), kernel_.wide ? 8 : 4);
            const std::string to = w_.value("getelementptr " + element + ", " + w_.pointer_to(element) + " " +
                                            pointer + ", " + index + " " + place);
            w_.store(element, one, to, size);
            return LlvmWriter::Names{};
          });
}

std::string LlvmValues::buffer(std::size_t index) {
  std::string& name = buffers_[index];
  if (name.empty())
    name = w_.in_entry([&] {
      const std::string bytes = w_.pointer_to("i8");
      const std::string slot = w_.element(bytes, "%buffers", std::to_string(index));
      return w_.cast_pointer("i8", llvm_memory_type(kernel_.buffers[index].dtype), w_.load(bytes, slot, 8));
    });
  return name;
}

std::string LlvmValues::cached(std::size_t index) {
  std::string& name = cached_[index];
  if (name.empty())
    name = w_.in_entry([&] {
      const std::string bit = std::to_string(llvm_cached_bit(index));
      return w_.value("and i64 " + w_.value("lshr i64 %cached, " + bit) + ", 1");
    });
  return name;
}

std::string LlvmValues::scalar(std::size_t index) {
  std::string& name = scalars_[index];
  if (name.empty())
    name = w_.in_entry([&] {
      const DType dtype = kernel_.scalars[index];
      const std::string slot = w_.element("i8", "%scalars", std::to_string(8 * index));
      return load_row(dtype, w_.cast_pointer("i8", llvm_memory_type(dtype), slot), false).text;
    });
  return name;
}

LlvmOperand LlvmValues::any_of(const std::string& mask) {
  return {w_.intrinsic("llvm.vector.reduce.or.v" + std::to_string(w_.lanes()) + "i1", "i1",
                       {{w_.vector_of("i1"), mask}}),
          false};
}

std::string LlvmValues::all_of(const std::string& mask) {
  return w_.intrinsic("llvm.vector.reduce.and.v" + std::to_string(w_.lanes()) + "i1", "i1",
                      {{w_.vector_of("i1"), mask}});
}

LlvmOperand LlvmValues::load_where(const Expr& e, const LlvmOperand& at, const std::string& wanted_one,
                                   const std::string& wanted) {
  const std::string element = llvm_memory_type(e.dtype);
  if (!at.vector) {
    const std::string from = w_.element(element, buffer(e.buffer), at.text);
    if (wanted.empty()) return load_one(e.dtype, from, wanted_one);
    // One element for all lanes that want it, if any does.
    const std::string mask = both_masks(wanted, mask_);
    const LlvmOperand one = load_one(e.dtype, from, any_of(mask).text);
    const std::string type = w_.type(e.dtype, true);
    return {w_.value("select " + w_.vector_of("i1") + " " + mask + ", " + type + " " + vector(e.dtype, one) +
                     ", " + type + " zeroinitializer"),
            true};
  }
  return gather(e.dtype, buffer(e.buffer), at.text,
                both_masks(wanted, wanted_one.empty() ? "" : w_.splat("i1", wanted_one)));
}

LlvmOperand LlvmValues::load(const Expr& e) {
  std::string wanted_one, wanted;
  if (e.predicate != ir::kNone) {
    const LlvmOperand& predicate = values_[e.predicate];
    (predicate.vector ? wanted : wanted_one) = predicate.text;
  }
  const Walk walk = walk_of(e.map);
  if (!is_affine(e.map) || walk == Walk::Stays) return load_where(e, position(e.map), wanted_one, wanted);
  const std::string element = llvm_memory_type(e.dtype);
  const std::string from = w_.element(element, buffer(e.buffer), bases_[e.map]);
  if (walk == Walk::Row) {
    if (fetches_ahead_ && in_hot_loop_) prefetch(e.dtype, from, kAhead);
    return load_row(e.dtype, from, true, wanted_one, wanted);
  }
  return gather(e.dtype, from, lane_offsets(e.map),
                both_masks(wanted, wanted_one.empty() ? "" : w_.splat("i1", wanted_one)));
}

void LlvmValues::prefetch_next(const Expr& e, std::size_t loop, const std::string& steps) {
  const ir::IndexMap& map = kernel_.maps[e.map];
  if (e.kind != ir::ExprKind::Load || !is_affine(e.map) || walk_of(e.map) != Walk::Row ||
      map.steps.front().strides[loop].is_zero() || map.steps.front().strides[loop].is_one())
    return;
  const std::string element = llvm_memory_type(e.dtype);
  std::string far = integer(map.steps.front().strides[loop]);
  if (steps != "1") far = w_.value("mul i64 " + far + ", " + steps);
  const std::string next = add({bases_[e.map], false}, {far, false}).text;
  prefetch(e.dtype, w_.element(element, buffer(e.buffer), next), 0);
}

void LlvmValues::prefetch(DType dtype, const std::string& pointer, int ahead) {
  constexpr int kLine = 64;
  const std::string first = w_.cast_pointer(llvm_memory_type(dtype), "i8", pointer);
  const int bytes = w_.lanes() * static_cast<int>(size_of(dtype));
  for (int at = ahead; at < ahead + bytes; at += kLine)
    w_.intrinsic("llvm.prefetch." + w_.pointer_suffix("i8"), "void",
                 {{w_.pointer_to("i8"), at == 0 ? first : w_.element("i8", first, std::to_string(at))},
                  {"i32", "0"},
                  {"i32", "3"},
                  {"i32", "1"}});
}

LlvmOperand LlvmValues::load_at(const Expr& e) {
  const DType index_dtype = kernel_.exprs[e.args[0]].dtype;
  const LlvmOperand& index = values_[e.args[0]];
  const LlvmOperand predicate = e.predicate == ir::kNone ? LlvmOperand{"", false} : values_[e.predicate];
  const bool v = index.vector || predicate.vector;  // whether lanes may differ in what is wrong
  // The extent of a wide kernel may be more than an i32 can be.
  const DType compared = kernel_.wide ? DType::i64 : index_dtype;
  const std::string type = w_.type(compared, index.vector);
  std::string extent = integer(e.extent), number = index.text;
  if (compared == DType::i32 && extent[0] == '%') extent = w_.value("trunc i64 " + extent + " to i32");
  if (compared != index_dtype)
    number = w_.value("sext " + w_.type(index_dtype, index.vector) + " " + number + " to " + type);
  const std::string bound = index.vector ? w_.splat(llvm_type(compared), extent) : extent;
  // As unsigned numbers: below 0 is far above.
  std::string good = w_.value("icmp ult " + type + " " + number + ", " + bound);
  const std::string truth = w_.type(DType::boolean, v);
  auto spread = [&](const std::string& text, bool is_vector) {
    return v && !is_vector ? w_.splat("i1", text) : text;
  };
  good = spread(good, index.vector);
  std::string wanted = good;
  const std::string all = v ? w_.splat("i1", "true") : "true";
  std::string bad = w_.value("xor " + truth + " " + good + ", " + all);
  if (!predicate.text.empty()) {
    const std::string p = spread(predicate.text, predicate.vector);
    wanted = w_.value("and " + truth + " " + good + ", " + p);
    bad = w_.value("and " + truth + " " + bad + ", " + p);
  }
  if (v) bad = any_of(both_masks(bad, mask_)).text;
  // Several threads may find something wrong at once.
  w_.when(bad, [&] {
    const std::string word = e.fault == 0 ? "%fault" : w_.element("i32", "%fault", std::to_string(e.fault));
    w_.line("store atomic i32 1, " + w_.pointer_to("i32") + " " + word + " monotonic, align 4");
  });
  // Indices are brought into the type of positions after they are known to fit.
  LlvmOperand at{index.text, index.vector};
  if (index.vector) {
    const std::string wide = index_type();
    const std::string from = w_.vector_of(llvm_type(index_dtype)), to = w_.vector_of(wide);
    if (index_dtype == DType::i64 && !kernel_.wide)
      at.text = w_.value("trunc " + from + " " + at.text + " to " + to);
    if (index_dtype == DType::i32 && kernel_.wide) at.text = number;
  } else if (compared != index_dtype) {
    at.text = number;
  } else if (index_dtype == DType::i32) {
    at.text = w_.value("sext i32 " + at.text + " to i64");
  }
  if (!at.vector && is_affine(e.map) && walk_of(e.map) == Walk::Row) {
    // One index for all lanes, as in an embedding: a row.
    const std::string element = llvm_memory_type(e.dtype);
    const std::string start = add(multiply(at, e.stride), {bases_[e.map], false}).text;
    return load_row(e.dtype, w_.element(element, buffer(e.buffer), start), true, v ? "" : wanted,
                    v ? wanted : "");
  }
  const LlvmOperand where = add(multiply(at, e.stride), position(e.map));
  return load_where(e, where, v ? "" : wanted, v ? wanted : "");
}

void LlvmValues::store(const ir::Store& store) {
  const DType dtype = kernel_.exprs[store.value].dtype;
  const std::string element = llvm_memory_type(dtype);
  const LlvmOperand& value = values_[store.value];
  const Walk walk = walk_of(store.map);
  const std::string pointer = buffer(store.buffer);
  if (walk == Walk::Stays) {
    // A single point along the lanes.
    const std::string type = w_.type(dtype, true);
    const LlvmOperand one{value.vector ? w_.first_lane(type, value.text) : value.text, false};
    return store_row(dtype, w_.element(element, pointer, position(store.map).text), one);
  }
  const std::string text = vector(dtype, value);
  if (is_affine(store.map) && walk == Walk::Row)
    return store_result(store.buffer, w_.element(element, pointer, bases_[store.map]), text);
  if (is_affine(store.map))
    return scatter(dtype, w_.element(element, pointer, bases_[store.map]), lane_offsets(store.map), text);
  scatter(dtype, pointer, as_index(position(store.map)).text, text);
}

}  // namespace sinter::emit
