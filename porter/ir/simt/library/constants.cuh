// Numbers that are types, of <type_traits>.
namespace std {

template <typename T, T v>
struct integral_constant {
    static constexpr T value = v;
    typedef T value_type;
    __device__ operator T() const { return v; }
    __device__ T operator()() const { return v; }
};
template <bool v>
using bool_constant = integral_constant<bool, v>;
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;

}  // namespace std
