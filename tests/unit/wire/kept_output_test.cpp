#include "wire/kept_output.hpp"

#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "base/text/utf8.hpp"

using cove::StreamOutput;
using cove::wire::KeptOutput;

namespace {

StreamOutput keep(const std::string& text, std::size_t head, std::size_t tail, std::size_t piece) {
  cove::OutputLimits limits;
  limits.head_bytes = head;
  limits.tail_bytes = tail;
  KeptOutput kept(limits);
  for (std::size_t at = 0; at < text.size(); at += piece) kept.append(text.substr(at, piece));
  return kept.take();
}

}  // namespace

TEST_CASE("KeptOutput: what fits is kept whole, in head", "[unit][wire]") {
  for (const std::size_t piece : {1U, 3U, 100U}) {
    const auto output = keep("0123456789", 5, 5, piece);
    CHECK(output.head == "0123456789");
    CHECK(output.tail.empty());
    CHECK(output.dropped_bytes == 0);
    CHECK(output.total_bytes == 10);
  }
}

TEST_CASE("KeptOutput: one byte more drops the middle and counts it", "[unit][wire]") {
  for (const std::size_t piece : {1U, 4U, 100U}) {
    const auto output = keep("0123456789x", 5, 5, piece);
    CHECK(output.head == "01234");
    CHECK(output.tail == "6789x");
    CHECK(output.dropped_bytes == 1);
  }
}

TEST_CASE("KeptOutput: no character is cut at either edge [pain-52]", "[unit][wire][pain-52]") {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "\u6570\u00e9\U0001F600x";
  for (std::size_t head = 0; head < 30; ++head) {
    for (std::size_t tail = 0; tail < 30; ++tail) {
      const auto output = keep(text, head, tail, 7);
      CHECK(cove::base::is_utf8(output.head));
      CHECK(cove::base::is_utf8(output.tail));
      CHECK(output.head.size() <= head);
      CHECK(output.tail.size() <= tail);
      CHECK(output.head.size() + 3 >= head);
      CHECK(output.tail.size() + 3 >= tail);
      CHECK(output.head.size() + output.tail.size() + output.dropped_bytes == text.size());
      CHECK(text.starts_with(output.head));
      CHECK(text.ends_with(output.tail));
    }
  }
}

TEST_CASE("KeptOutput: bytes that are no UTF-8 are kept exactly", "[unit][wire]") {
  std::mt19937 random(3);
  std::string text;
  for (int i = 0; i < 5000; ++i) text.push_back(static_cast<char>(random() & 0xFF));
  const auto output = keep(text, 1000, 1000, 333);
  CHECK(text.starts_with(output.head));
  CHECK(text.ends_with(output.tail));
  CHECK(output.head.size() + output.tail.size() + output.dropped_bytes == text.size());
  CHECK(keep(text, 5000, 0, 512).head == text);
}

TEST_CASE("KeptOutput: lines are limits beside bytes", "[unit][wire]") {
  const auto kept = [](std::uint64_t head, std::uint64_t tail, const std::string& text) {
    cove::OutputLimits limits;
    limits.head_bytes = limits.tail_bytes = 100;
    limits.head_lines = head;
    limits.tail_lines = tail;
    KeptOutput output(limits);
    output.append(text);
    return output.take();
  };
  const std::string five = "1\n2\n3\n4\n5\n";
  CHECK(kept(2, 1, five).head == "1\n2\n");
  CHECK(kept(2, 1, five).tail == "5\n");
  CHECK(kept(2, 1, five).dropped_bytes == 4);
  CHECK(kept(2, 3, five).head == five);
  CHECK(kept(2, 3, five).dropped_bytes == 0);
  CHECK(kept(1, 1, "1\n2\n3").tail == "3");
  CHECK(kept(1, 0, five).head == five);
  CHECK(kept(1, 1, "").head.empty());
  CHECK(kept(1, 1, "\n\n\n").dropped_bytes == 1);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += std::to_string(i) + "\n";
  const auto both = kept(3, 2, many);
  CHECK(both.head == "0\n1\n2\n");
  CHECK(both.tail == "998\n999\n");
  CHECK(both.dropped_bytes == many.size() - both.head.size() - both.tail.size());
}
