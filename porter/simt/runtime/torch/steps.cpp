// Steps of operators: done here, or recorded, or found by their names for a plan.
#include "steps.h"

#include <algorithm>
#include <map>

#include "loops.h"
#include "porter/plan_tensors.h"

namespace at::detail {

namespace {

std::map<std::string, const Step*>& known_steps() {
    static std::map<std::string, const Step*> steps;
    return steps;
}

bool on_device(const Tensor& tensor) { return tensor.is_cuda(); }

std::vector<porter::simt::PlannedTensor> described(TensorList tensors) {
    std::vector<porter::simt::PlannedTensor> found;
    for (const Tensor& tensor : tensors) {
        found.push_back({{tensor.data_ptr(), porter::simt::stored_type(tensor.scalar_type()), tensor.strides().data()},
                         tensor.sizes().data(), tensor.sizes().size()});
    }
    return found;
}

}  // namespace

Known::Known(ArrayRef<Step> steps) {
    for (const Step& step : steps) known_steps()[step.name()] = &step;
}

const Step* step_named(const std::string& name) {
    const auto found = known_steps().find(name);
    return found == known_steps().end() ? nullptr : found->second;
}

void Step::operator()(TensorList out, TensorList in, Numbers numbers) const {
    const bool here = std::none_of(out.begin(), out.end(), on_device) && std::none_of(in.begin(), in.end(), on_device);
    if (!porter::simt::planning() || here) return body_(out, in, numbers);
    if (std::all_of(out.begin(), out.end(), [](const Tensor& tensor) { return tensor.numel() == 0; })) return;
    std::vector<Tensor> there;  // a number of the host's is a tensor of the device in a plan
    for (const Tensor& tensor : in) there.push_back(tensor.to(kCUDA));
    porter::simt::plan_step(name_, described(out), described(there), numbers.vec());
}

}  // namespace at::detail

namespace {

std::vector<at::Tensor> tensors_of(const std::vector<porter::simt::PlannedTensor>& planned) {
    std::vector<at::Tensor> found;
    for (const auto& [elements, sizes, rank] : planned) {
        const at::TensorOptions options = at::TensorOptions(porter::simt::torch_type(elements.dtype)).device(at::kCUDA);
        found.push_back(at::from_blob(elements.data, {sizes, rank}, {elements.strides, rank}, options));
    }
    return found;
}

}  // namespace

extern "C" bool porter_carry_out(const char* name, const std::vector<porter::simt::PlannedTensor>& out,
                                 const std::vector<porter::simt::PlannedTensor>& in, const std::vector<double>& numbers) {
    const at::detail::Step* step = at::detail::step_named(name);
    if (step != nullptr) (*step)(tensors_of(out), tensors_of(in), numbers);
    return step != nullptr;
}
