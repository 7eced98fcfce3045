// Rows for kernels that programs bring along.
#include "src/runtime/custom_kernels.h"

#include "src/runtime/host/products/custom.h"
#include "src/runtime/host/products/library.h"
#include "src/runtime/passes/passes.h"

namespace sinter::runtime {

void add_rows(const library::Custom& kind) {
  const CustomKernelSource& source = kind.source();
  if (source.host)
    host::library_table().add(kind, [](const library::LibraryOp& op) {
      return host::make_custom(library::as<library::CustomOp>(op));
    });
  if (!source.source.empty() || !source.cuda.empty() || !source.glsl.empty())
    pass_table().add(kind, [](const library::LibraryOp& op, PassDevice) {
      return passes_of(library::as<library::CustomOp>(op));
    });
}

PassList passes_of(const library::CustomOp& op) {
  const CustomKernelSource& source = op.custom->source();
  PassList list;
  list.functions = source.functions;
  list.results = op.results.size();
  list.dtype = op.dtype;
  Pass pass;
  pass.name = source.name;
  const auto body = [&](const std::string& own) {
    return "if (row >= threads) return;\nconst Index thread = row;\n{\n" +
           (own.empty() ? source.source : own) + "\n}\n";
  };
  pass.cuda = body(source.cuda);
  pass.glsl = body(source.glsl);
  const auto add = [&](PassBuffer::Of of, const std::vector<std::string>& names,
                       const std::vector<library::TensorType>& types) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto& [shape, dtype] = types[k];
      pass.buffers.push_back({names[k], dtype, of, k, 0, shape.numel(), of == PassBuffer::Of::Result});
      if (dtype == DType::f64) list.dtype = dtype;
    }
  };
  add(PassBuffer::Of::Operand, source.inputs, op.operands);
  add(PassBuffer::Of::Result, source.outputs, op.results);
  pass.rows = op.threads;
  pass.ints.emplace_back("threads", op.threads);
  for (std::size_t i = 0; i < source.sizes.size(); ++i) pass.ints.emplace_back(source.sizes[i], op.sizes[i]);
  list.passes.push_back(std::move(pass));
  return list;
}

}  // namespace sinter::runtime
