// expect: base class that has fields cannot be taken apart
#include <sinter/module.h>

struct Base {
#ifndef SINTER_CONTROL
  int x;
#endif
};
struct Model : Base {
  int y;
};

void visit(Model& model) {
  sinter::visit_parameters(model, [](const auto&, auto&) {});
}
