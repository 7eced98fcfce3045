#include "src/runtime/host/products/onednn/execution.h"

#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace sinter::runtime::host {
namespace {

// The functions are there iff oneDNN was built with OpenMP.
using SetThreads = void (*)(int);
using GetThreads = int (*)();
SetThreads set_threads() {
  static const SetThreads function = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  return function;
}
GetThreads most_threads() {
  static const GetThreads function = reinterpret_cast<GetThreads>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  return function;
}

// Has no destructor: a thread's tensors may be computed after its stream has ended.
thread_local bool stream_has_ended = false;

struct Stream {
  dnnl::stream stream{engine()};
  ~Stream() { stream_has_ended = true; }
};

void execute_on(dnnl::stream& stream, const dnnl::primitive& primitive, const Arguments& arguments) {
  primitive.execute(stream, arguments);
  stream.wait();
}

}  // namespace

const dnnl::engine& engine() {
  // Never destroyed: threads may compute after the end of static objects.
  static const dnnl::engine& instance = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return instance;
}

dnnl::memory::data_type data_type_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return kF32;
    case DType::bf16: return dnnl::memory::data_type::bf16;
    default: throw std::logic_error("oneDNN is given no " + std::string(name_of(dtype)));
  }
}

bool has_dtypes(const library::ProductOp& op) {
  if (op.dtype != DType::f32) return false;
  if (!op.is_stored_otherwise()) return true;
  const DType result = op.stored_dtype(2);
  return op.stored_dtype(0) == DType::bf16 && op.stored_dtype(1) == DType::bf16 &&
         (result == DType::bf16 || result == DType::f32);
}

void require_instructions(const library::ProductOp& op, std::string_view implementation) {
  if (!op.is_stored_otherwise()) return;
  for (const std::string_view instructions : {"avx512_core_bf16", "amx"})
    if (implementation.find(instructions) != std::string_view::npos) return;
  // As oneDNN says of what it has no program for: the caller takes one of the host's own.
  throw dnnl::error(dnnl_unimplemented,
                    "[onednn] this processor multiplies no 16-bit floats by instructions of their own");
}

OneThread::OneThread() {
  if (set_threads() == nullptr || most_threads() == nullptr) return;
  before_ = most_threads()();
  if (before_ != 1) set_threads()(1);
}

OneThread::~OneThread() {
  if (before_ > 1) set_threads()(before_);
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr result;
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return result;
}

dnnl::memory at(const dnnl::memory::desc& desc, const void* data) {
  return dnnl::memory(desc, engine(), const_cast<void*>(data));
}

void execute(const dnnl::primitive& primitive, const Arguments& arguments) {
  if (stream_has_ended) {
    dnnl::stream late(engine());
    return execute_on(late, primitive, arguments);
  }
  thread_local Stream own;
  execute_on(own.stream, primitive, arguments);
}

}  // namespace sinter::runtime::host
