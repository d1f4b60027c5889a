// Work of products of matrices, counted from the shapes that a trace records, and the kernels that did it.

#include "trace/shaped_kernels.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace headroom;
using namespace headroom::trace;

TEST(TraceShapes, ProductsByHand) {
    // 2 x 64 x 4096 x 1024 operations; 2 bytes x (64 x 1024 + 1024 x 4096 + 64 x 4096) elements.
    auto const mm = operator_work("aten::mm", R"([[64, 1024], [1024, 4096], []] ["c10::Half", "c10::Half", ""])");
    ASSERT_TRUE(mm);
    EXPECT_EQ(mm->flops, 536'870'912.0);
    EXPECT_EQ(mm->bytes, 2.0 * (65'536 + 4'194'304 + 262'144));
    // The bias is read as well.
    auto const addmm = operator_work("aten::addmm", "[[4096],[64,1024],[1024,4096],[],[]] float");
    ASSERT_TRUE(addmm);
    EXPECT_EQ(addmm->flops, 536'870'912.0);
    EXPECT_EQ(addmm->bytes, 4.0 * (4'096 + 65'536 + 4'194'304 + 262'144));
    EXPECT_EQ(operator_work("aten::bmm", "[[8, 2, 3], [8, 3, 5]]")->flops, 2.0 * 8 * 2 * 3 * 5);
    EXPECT_EQ(operator_work("aten::bmm", "[[8, 2, 3], [8, 3, 5]]")->bytes, 0.0) << "no type, no bytes";
    EXPECT_EQ(operator_work("aten::baddbmm", "[[8,2,5],[8,2,3],[8,3,5]]")->flops, 2.0 * 8 * 2 * 3 * 5);
    EXPECT_EQ(operator_work("aten::linear", "[[4, 7, 16], [32, 16], [32]]")->flops, 2.0 * 28 * 32 * 16);
    EXPECT_EQ(operator_work("matmul", "[[5, 1, 2, 3], [4, 3, 6]]")->flops, 2.0 * 5 * 4 * 2 * 3 * 6) << "broadcast";
    EXPECT_EQ(operator_work("aten::matmul", "[[3], [3]]")->flops, 6.0) << "an inner product";
}

TEST(TraceShapes, WhatHasNoCount) {
    for (char const* const shapes : {"", "[", "[]", "[[2,3]]", "[[2,3],[4,5]]", "[[2,3],[3]]", "[[2,-3],[-3,5]]",
                                     "[[2,x],[3,5]]", "[[[2,3],[3,4]],[3,5]]", "[[0,3],[3,5]]", "[[2,3],[3,5]", "text",
                                     "[[99999999,99999999],[99999999,99999999]]", "[[99999999999999999999,3],[3,5]]"}) {
        EXPECT_FALSE(operator_work("aten::mm", shapes)) << shapes;
    }
    EXPECT_FALSE(operator_work("aten::convolution", "[[8,3,224,224],[64,3,7,7],[]]")) << "strides are not stated";
    EXPECT_FALSE(operator_work("aten::add", "[[2,3],[2,3]]"));
}

/// A host thread with linear > addmm > launch, and a device with two kernels of that launch.
RankTrace shaped_trace() {
    RankTrace trace;
    trace.lanes = {{false, 1, 1}, {true, 0, 7}, {false, 1, 2}};
    trace.timeline.lanes = {"thread", "stream", "other"};
    trace.timeline.names = {"aten::linear", "aten::addmm", "cudaLaunchKernel", "gemm", "splitK", "aten::mm"};
    trace.shape_texts = {"[[64,1024],[4096,1024],[4096]] float", "[[4096],[64,1024],[1024,4096]] float",
                         "[[2,3],[3,5]] float"};
    auto const add = [&](SpanKind kind, std::uint32_t name, std::uint32_t lane, Ticks begin, Ticks end,
                         std::uint32_t correlation = 0) {
        trace.timeline.begin.push_back(begin);
        trace.timeline.end.push_back(end);
        trace.timeline.lane.push_back(lane);
        trace.timeline.name.push_back(name);
        trace.kind.push_back(kind);
        trace.correlation.push_back(correlation);
        return static_cast<std::uint32_t>(trace.size() - 1);
    };
    for (Ticks const start : {0, 1000}) {
        std::uint32_t const number = start == 0 ? 1 : 2;
        add(SpanKind::compute, 3, 1, start + 200, start + 300, number); // the input is in no order
        trace.shapes.push_back({add(SpanKind::host, 0, 0, start, start + 100), 0});
        trace.shapes.push_back({add(SpanKind::host, 1, 0, start + 10, start + 90), 1});
        add(SpanKind::launch, 2, 0, start + 20, start + 30, number);
        add(SpanKind::compute, 4, 1, start + 300, start + 340, number);
    }
    // Another thread's product runs at the same time and launches nothing; a launch after the operators is nobody's.
    trace.shapes.push_back({add(SpanKind::host, 5, 2, 0, 2000), 2});
    add(SpanKind::launch, 2, 0, 1500, 1510, 9);
    add(SpanKind::compute, 3, 1, 1600, 1700, 9);
    return trace;
}

TEST(TraceShapes, TheLongestKernelOfTheInnermostOperatorHasTheWork) {
    std::vector<ShapedKernel> const kernels = shaped_kernels(shaped_trace());
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].name, "gemm");
    EXPECT_EQ(kernels[0].shape, "aten::addmm [[4096],[64,1024],[1024,4096]] float");
    EXPECT_EQ(kernels[0].count, 2);
    EXPECT_EQ(kernels[0].total, 200);
    EXPECT_EQ(kernels[0].flops, 536'870'912.0);
}

TEST(TraceShapes, WithoutShapesNothing) {
    RankTrace trace = shaped_trace();
    trace.shapes.clear();
    EXPECT_TRUE(shaped_kernels(trace).empty());
    EXPECT_TRUE(shaped_kernels({}).empty());
}

} // namespace
