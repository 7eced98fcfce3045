#include "src/runtime/host/products/onednn/part_convolution.h"

namespace sinter::runtime::host {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Direction = library::Conv2dOp::Direction;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// `dims` [images, channels, height, width] of images with `all_channels` each.
memory::desc images_of(const memory::dims& dims, memory::data_type dtype, std::int64_t all_channels,
                       bool last) {
  if (dims[1] == all_channels) return memory::desc(dims, dtype, last ? Tag::nhwc : Tag::nchw);
  const std::int64_t points = dims[2] * dims[3];
  if (last)
    return memory::desc(dims, dtype, {points * all_channels, 1, dims[3] * all_channels, all_channels});
  return memory::desc(dims, dtype, {all_channels * points, points, dims[3], 1});
}

}  // namespace

PartConvolution::PartConvolution(const library::Conv2dOp& op, const std::array<DType, 3>& dtypes,
                                 std::int64_t images, std::int64_t channels, bool winograd) {
  const bool grouped = op.groups > 1, of_x = op.direction == Direction::BackwardInput;
  const std::int64_t c_in = of_x ? channels : op.c_in, c_out = of_x ? op.c_out : channels,
                     window = op.kh * op.kw;
  const memory::dims x{images, c_in, op.h, op.w}, y{images, c_out, op.oh, op.ow};
  memory::dims w{c_out, c_in, op.kh, op.kw};
  if (grouped) w = {op.groups, c_out / op.groups, c_in / op.groups, op.kh, op.kw};
  const Tag weight_tag = grouped ? Tag::goihw : Tag::oihw;
  const memory::data_type x_type = data_type_of(dtypes[0]), w_type = data_type_of(dtypes[1]),
                          y_type = data_type_of(dtypes[2]);
  given_ = {images_of(x, x_type, op.c_in, op.x_last),
            c_in == op.c_in ? memory::desc(w, w_type, weight_tag)
                            : memory::desc(w, w_type, {op.c_in * window, window, op.kw, 1}),
            images_of(y, y_type, op.c_out, op.y_last)};
  // A gradient names the convolution that it is one of, which has the dtype of the operands on all sides.
  const bool is_forward = op.direction == Direction::Forward;
  const memory::data_type of_operands = data_type_of(op.stored_dtype(0));
  const auto try_layouts = [&](Tag of_images, Tag of_weight, dnnl::algorithm algorithm) {
    const auto descs = [&](memory::data_type of_x, memory::data_type of_w, memory::data_type of_y) {
      return Descs{memory::desc(x, of_x, of_images), memory::desc(w, of_w, of_weight),
                   memory::desc(y, of_y, of_images)};
    };
    const Descs wanted = descs(x_type, w_type, y_type);
    create(op, wanted, is_forward ? wanted : descs(of_operands, of_operands, of_operands), algorithm);
  };
  // Where one image has its channels last, both are computed so, unless there is only a plain loop for that.
  const bool last = op.x_last || op.y_last;
  if (winograd) {
    try_layouts(Tag::any, Tag::any, dnnl::algorithm::convolution_winograd);
  } else if (last) {
    try_layouts(Tag::nhwc, Tag::any, kDirect);
  }
  // Blocked layouts win by far, except where one or two channels of a block of 16 would be used.
  const bool any_layout = c_in / op.groups >= 4 || op.direction == Direction::BackwardWeight;
  if (!winograd && (!last || implementation_.starts_with("ref")))
    try_layouts(any_layout ? Tag::any : Tag::nchw, any_layout ? Tag::any : weight_tag, kDirect);
  require_instructions(op, implementation_);
  bytes_ = padded(scratch_.get_size());
  for (std::size_t i = 0; i < 3; ++i) {
    if (own_[i] == given_[i]) continue;
    offsets_[i] = bytes_;
    bytes_ += padded(own_[i].get_size());
    const bool out = i == out_;
    reorders_[i] = dnnl::reorder(dnnl::reorder::primitive_desc(
        engine(), out ? own_[i] : given_[i], engine(), out ? given_[i] : own_[i], dnnl::primitive_attr()));
  }
}

void PartConvolution::run(std::byte* working_memory, const std::array<std::byte*, 3>& data) const {
  Arguments arguments{{DNNL_ARG_SCRATCHPAD, at(scratch_, working_memory)}};
  for (std::size_t i = 0; i < 3; ++i) {
    const memory user = at(given_[i], data[i]);
    const memory own = reorders_[i] ? at(own_[i], working_memory + offsets_[i]) : user;
    if (reorders_[i] && i != out_) execute(*reorders_[i], {{DNNL_ARG_FROM, user}, {DNNL_ARG_TO, own}});
    arguments.emplace(names_[i], own);
  }
  execute(primitive_, arguments);
  if (reorders_[out_]) {
    const memory own = at(own_[out_], working_memory + offsets_[out_]), user = at(given_[out_], data[out_]);
    execute(*reorders_[out_], {{DNNL_ARG_FROM, own}, {DNNL_ARG_TO, user}});
  }
}

void PartConvolution::create(const library::Conv2dOp& op, const Descs& wanted, const Descs& convolved,
                             dnnl::algorithm algorithm) {
  const auto& [x, w, y] = wanted;
  const auto& [forward_x, forward_w, forward_y] = convolved;
  const memory::dims stride{op.stride[0], op.stride[1]}, low{op.padding[0], op.padding[1]};
  const memory::dims dilation{op.dilation[0] - 1, op.dilation[1] - 1};
  // oneDNN wants the padding at the far side to be exactly what the sizes need, negative where input is
  // left over.
  auto far = [](std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t step,
                std::int64_t spread,
                std::int64_t near) { return (out - 1) * step + (kernel - 1) * spread + 1 - in - near; };
  const memory::dims high{far(op.h, op.oh, op.kh, op.stride[0], op.dilation[0], op.padding[0]),
                          far(op.w, op.ow, op.kw, op.stride[1], op.dilation[1], op.padding[1])};
  constexpr auto kTraining = dnnl::prop_kind::forward_training;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::convolution_forward::primitive_desc forward(engine(), kTraining, algorithm, forward_x,
                                                          forward_w, forward_y, stride, dilation, low, high,
                                                          attributes());
#else
  const dnnl::convolution_forward::primitive_desc forward(
      {kTraining, algorithm, forward_x, forward_w, forward_y, stride, dilation, low, high}, attributes(),
      engine());
#endif
  switch (op.direction) {
    case Direction::Forward:
      primitive_ = dnnl::convolution_forward(forward);
      own_ = {forward.src_desc(), forward.weights_desc(), forward.dst_desc()};
      scratch_ = forward.scratchpad_desc();
      implementation_ = forward.impl_info_str();
      names_ = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
      out_ = 2;
      return;
    case Direction::BackwardInput: {
#if DNNL_VERSION_MAJOR >= 3
      const dnnl::convolution_backward_data::primitive_desc d(engine(), algorithm, x, w, y, stride, dilation,
                                                              low, high, forward, attributes());
#else
      const dnnl::convolution_backward_data::primitive_desc d(
          {algorithm, x, w, y, stride, dilation, low, high}, attributes(), engine(), forward);
#endif
      primitive_ = dnnl::convolution_backward_data(d);
      own_ = {d.diff_src_desc(), d.weights_desc(), d.diff_dst_desc()};
      scratch_ = d.scratchpad_desc();
      implementation_ = d.impl_info_str();
      names_ = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST};
      out_ = 0;
      return;
    }
    case Direction::BackwardWeight: {
#if DNNL_VERSION_MAJOR >= 3
      const dnnl::convolution_backward_weights::primitive_desc d(engine(), algorithm, x, w, y, stride,
                                                                 dilation, low, high, forward, attributes());
#else
      const dnnl::convolution_backward_weights::primitive_desc d(
          {algorithm, x, w, y, stride, dilation, low, high}, attributes(), engine(), forward);
#endif
      primitive_ = dnnl::convolution_backward_weights(d);
      own_ = {d.src_desc(), d.diff_weights_desc(), d.diff_dst_desc()};
      scratch_ = d.scratchpad_desc();
      implementation_ = d.impl_info_str();
      names_ = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};
      out_ = 1;
      return;
    }
  }
}

}  // namespace sinter::runtime::host
