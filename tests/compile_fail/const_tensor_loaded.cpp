// expect: a module with const tensors in it can be saved, but not loaded
#include <sinter/nn/linear.h>
#include <sinter/record.h>

struct Model {
#ifndef SINTER_CONTROL
  const
#endif
      sinter::nn::Linear layer;
};

void load(Model& model, const sinter::record::Record& record) {
  const Model& same = model;
  sinter::record::to_record(same);
  sinter::record::load_record(model, record);
}
