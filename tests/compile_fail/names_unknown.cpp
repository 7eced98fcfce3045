// expect: the names of this aggregate's fields cannot be found
#include <string>

#include <sinter/module.h>
#include <sinter/tensor.h>

struct Model {
  const std::string& text;
  sinter::Tensor<1> weight;
#ifdef SINTER_CONTROL
  SINTER_FIELDS(weight)
#endif
};

void visit(Model& model) {
  sinter::visit_parameters(model, [](const auto&, auto&) {});
}
