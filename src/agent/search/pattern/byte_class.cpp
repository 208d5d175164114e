#include "agent/search/pattern/byte_class.hpp"

#include <array>
#include <cstddef>

namespace cove::agent {
namespace {

/// Of 100,000 bytes, counted over some 60 MB of Python, JavaScript and package documentation.
constexpr std::array<std::uint16_t, 128> kOften = {
    0,     0,    0,    0,    0,    0,    0,    0,   0,    66,   2565, 0,   30,   30,   0,    0,
    0,     0,    0,    0,    0,    0,    0,    0,   0,    0,    0,    0,   0,    0,    0,    0,
    20447, 22,   994,  338,  31,   38,   24,   814, 731,  732,  209,  61,  1147, 708,  1319, 942,
    570,   395,  359,  202,  161,  144,  139,  106, 129,  139,  783,  102, 621,  690,  728,  25,
    46,    470,  140,  366,  242,  548,  228,  167, 153,  485,  25,   53,  415,  190,  434,  342,
    285,   20,   402,  464,  627,  180,  83,   108, 54,   80,   20,   203, 150,  203,  9,    1157,
    192,   3801, 924,  2172, 2082, 6735, 1501, 993, 1523, 3834, 161,  372, 2805, 1512, 3602, 3702,
    1839,  107,  3856, 4060, 4977, 1526, 512,  480, 510,  814,  81,   72,  65,   71,   23,   0};
constexpr std::uint32_t kOther = 5;  // bytes of UTF-8 sequences, each

}  // namespace

std::uint32_t commonness(const ByteClass& set) {
  std::uint32_t sum = 0;
  for (std::size_t byte = 0; byte < set.size(); ++byte) {
    if (set[byte]) sum += byte < kOften.size() ? kOften[byte] + 1U : kOther;
  }
  return sum;
}

}  // namespace cove::agent
