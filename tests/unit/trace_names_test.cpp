// Kernels that move data between ranks, by their names.

#include "headroom/trace/rank_trace.hpp"

#include <gtest/gtest.h>

namespace {

using namespace headroom;
using namespace headroom::trace;

TEST(TraceNames, KernelsThatMoveDataBetweenRanks) {
    for (char const* const name :
         {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
          "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)",
          "ncclDevKernel_Generic(x)",
          "ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_f32(x)",
          "mcclKernel_AllReduce_RING_LL_Sum_float(x)",
          "void mcclDevKernel_AllGather_RING_LL(x)",
          "cnclAllReduce",
          "bkcl_all_reduce",
          "void rocshmem::rocshmem_alltoall_kernel<float>(x)",
          "void hybrid_ep::dispatch_kernel<8192>(x)",
          "aclnnMoeDistributeCombine_MoeDistributeCombine_MoeDistributeCombine",
          "c10d::symmetric_memory::barrier_kernel(x)",
          "void deep_ep::internode_ll::dispatch<false>(x)",
          "void dpsk::ep::combine(x)",
          "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(x)",
          "void two_shot_all_reduce_kernel_inplace<x>(y)",
          "void vllm::cross_device_reduce_1stage<half, 2>(x)",
          "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<x>(y)",
          "void flashinfer::trtllm_mnnvl_allreduce::twoshot_allreduce_kernel<x>",
          "void quickreduce::allreduce_prototype_twoshot<x>(y)",
          "void userbuffers_fp16_sum_inplace_gpu_rr(x)",
          "hcom_allReduce__585_0_1",
          "hcom_broadcast__1_2_1@3",
          "void aiter::reduce_scatter_cross_device_store<__hip_bfloat16, 8>(aiter::RankData*)",
          "void aiter::allgather_lastdim<float, 4>(x)",
          "allgather_vec_naive(x)",
          "void tensorrt_llm::kernels::mnnvl_throughput::moeA2ADispatchKernel<256>(x)",
          "moeA2ACombineKernel(x)",
          "mori::moe::EpDispatchIntraNodeKernel(x)",
          "void tensorrt_llm::kernels::mnnvl::twoshot_allreduce_kernel<2>(x)",
          "void tensorrt_llm::kernels::fusedMoeCommKernels::moeAllToAllKernel<true>(x)",
          "void pplx::a2a_dispatch_send_kernel<x>(y)",
          "void EpCombineInterNodeKernel<float>(x)"}) {
        EXPECT_TRUE(names_communication(name)) << name;
    }
}

TEST(TraceNames, KernelsThatCompute) {
    for (char const* const name :
         {"void at::native::reduce_kernel<512, 1>", "hipblaslt_gemm", "Cijk_Alik_Bljk_SB",
          "void vectorized_gather_kernel<16>", "void broadcast_add_kernel", "split_embedding_backward",
          "void at::native::one_hot", "fused_all_reduce_norm_reference_gemm_like", "gemm_allgather_free(x)",
          "void gemm<EpDispatchPolicy>(x)", "moe_dispatch_mask_kernel", "my_hcom_gemm", "c10d::allgather_"}) {
        EXPECT_FALSE(names_communication(name)) << name;
    }
}

TEST(TraceNames, CallsThatWaitForADevice) {
    for (char const* const name :
         {"cudaDeviceSynchronize", "cuStreamSynchronize", "hipEventSynchronize", "urQueueFinish", "urEventWait",
          "zeCommandQueueSynchronize", "aclrtSynchronizeStream", "BlockHostUntilReady",
          "$array.py:663 block_until_ready"}) {
        EXPECT_TRUE(names_synchronization(name)) << name;
    }
    for (char const* const name : {"cudaStreamWaitEvent", "urEnqueueEventsWait", "aclrtStreamWaitEvent", "Synchronize",
                                   "zeCommandListAppendLaunchKernel", "optimizer.Synchronize"}) {
        EXPECT_FALSE(names_synchronization(name)) << name;
    }
}

TEST(TraceNames, FamiliesOfKernels) {
    EXPECT_EQ(kernel_family("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn"), "matrix products");
    EXPECT_EQ(kernel_family("Cijk_Alik_Bljk_BBS_BH_MT128x128x32"), "matrix products");
    EXPECT_EQ(kernel_family("void pytorch_flash::flash_fwd_kernel<Traits>(Params)"), "attention");
    EXPECT_EQ(kernel_family("sm80_xmma_wgrad_implicit_gemm_indexed_tf32"), "convolutions");
    EXPECT_EQ(kernel_family("void at::native::vectorized_elementwise_kernel<4, AddFunctor>"), "element-wise kernels");
    EXPECT_EQ(kernel_family("void at::native::multi_tensor_apply_kernel<FusedAdamFunctor>"), "optimizer kernels");
    EXPECT_EQ(kernel_family("void cunn_SoftMaxForward<8, c10::Half>"), "norms and softmax");
    EXPECT_EQ(kernel_family("my_kernel"), "");
}

} // namespace
