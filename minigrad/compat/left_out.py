"""The table of what minigrad leaves out of PyTorch, and why.

`docs/en/library.md` tells users the same; a test compares both.
"""

from __future__ import annotations

__all__ = ["ANSWERS", "DTYPES", "LAYOUTS", "LEFT_OUT", "METHODS", "MODULES", "left_out"]

COMPLEX = "has no complex numbers"
SPARSE = "has no sparse tensors"
QUANTISED = "has no quantised tensors"
UNSIGNED = "has no unsigned integers of more than 8 bits"
SMALL = "has no numbers of fewer than 16 bits with a fraction, because NumPy has none"
NESTED = "has no tensors of uneven rows"
COMPILER = "compiles functions only by torch.compile, and exports no programs"
MACHINES = "runs in one process, on one machine"
HARDWARE = "runs on CPUs and on CUDA GPUs alone"
LIBRARIES = "calls NumPy and CuPy, and no other library of kernels"
NETWORK = "fetches nothing from a network"
PIPES = "loads data sets, but has no data pipes"
MASKED = "masks values by functions, and has no masked tensors"
POOL = "leaves the memory of GPUs to CuPy's pool"
TOOLS = "has none of the tools that build, patch and report on PyTorch itself"
FUSED = "computes attention in one way, without blocks to choose or masks to compile"

#: The reason why names are left out, and the names below `torch`.  A trailing dot marks a module
#: and everything below it; a module that exists in part is listed with the names that it lacks.
LEFT_OUT: dict[str, str] = {
    COMPLEX: """
        conj_physical_ view_as_complex_copy view_as_real_copy complex istft polar stft
        view_as_complex view_as_real fft. functional.istft functional.stft linalg.eig
        linalg.eigvals""",
    SPARSE: """
        ccol_indices_copy col_indices_copy crow_indices_copy dsmm hsmm indices_copy
        resize_as_sparse_ row_indices_copy saddmm spmm values_copy hspmm sparse_bsc_tensor
        sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor
        sparse_csr_tensor sspaddmm smm sparse. optim.SparseAdam optim.sparse_adam. cuda.sparse.""",
    QUANTISED: """
        dequantize fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
        per_channel_affine per_channel_affine_float_qparams per_channel_symmetric per_tensor_affine
        per_tensor_symmetric qscheme quantize_per_channel quantize_per_tensor
        quantize_per_tensor_dynamic quantized_batch_norm quantized_max_pool1d quantized_max_pool2d
        choose_qparams_optimized empty_quantized fbgemm_linear_fp16_weight
        fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
        fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight
        fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix fused_moving_avg_obs_fake_quant
        int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale
        q_zero_point quantized_gru_cell quantized_lstm_cell quantized_max_pool3d
        quantized_rnn_relu_cell quantized_rnn_tanh_cell ao. quantization. nn.intrinsic. nn.qat.
        nn.quantizable. nn.quantized. backends.quantized.""",
    NESTED: "nested.",
    COMPILER: """
        AggregationType AliasDb AnyType Argument ArgumentSpec AwaitType BenchmarkConfig
        BenchmarkExecutionStats Block BoolType CallStack Capsule ClassType Code CompilationUnit
        CompleteArgumentSpec ComplexType ConcreteModuleType ConcreteModuleTypeBuilder
        DeepCopyMemoTable DeserializationStorageContext DeviceObjType DictType EnumType ErrorReport
        ExcludeDispatchKeyGuard ExecutionPlan FileCheck FloatType FunctionSchema FutureType Gradient
        Graph GraphExecutorState IODescriptor InferredType IntType InterfaceType JITException
        ListType LiteScriptModule LockingLogger ModuleDict Node NoneType NoopLogger NumberType
        OperatorInfo OptionalType ParameterDict PyObjectType ScriptClass ScriptClassFunction
        ScriptDict ScriptDictIterator ScriptDictKeyIterator ScriptFunction ScriptList
        ScriptListIterator ScriptMethod ScriptModule ScriptModuleSerializer ScriptObject
        ScriptObjectProperty SerializationStorageContext StaticModule StreamObjType StringType
        SymBoolType SymIntType TensorType ThroughputBenchmark TracingState TupleType Type UnionType
        Use Value BufferDict AVG SUM DispatchKey DispatchKeySet Tag import_ir_module
        import_ir_module_from_buffer merge_type_from_type_comment parse_ir parse_schema
        parse_type_comment unify_type_list sym_constrain_range sym_constrain_range_for_size
        sym_float sym_fresh_size sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum SymBool
        SymFloat SymInt cond while_loop _dynamo. _inductor. export. fx. library. onnx. package.
        compiler.get_default_backend compiler.load_cache_artifacts compiler.load_compiled_function
        compiler.save_cache_artifacts compiler.set_default_backend compiler.wrap_numpy jit.Attribute
        jit.CompilationUnit jit.Error jit.RecursiveScriptModule jit.ScriptFunction jit.ScriptModule
        jit.enable_onednn_fusion jit.export_opnames jit.freeze jit.load jit.onednn_fusion_enabled
        jit.optimize_for_inference jit.optimized_execution jit.run_frozen_optimizations jit.save
        jit.set_fusion_strategy jit.strict_fusion jit.trace jit.trace_module utils.cpp_extension.
        utils.mobile_optimizer. jit.annotations. jit.frontend. jit.generate_bytecode. jit.mobile.
        jit.quantized. jit.supported_ops. jit.unsupported_tensor_ops. nn.cpp. nativert.
        utils.bundled_inputs. utils.jit. utils.model_dump. utils.throughput_benchmark.
        compiler.config. compiler.keep_portable_guards_unsafe compiler.keep_tensor_guards_unsafe
        compiler.set_enable_guard_collectives compiler.skip_all_guards_unsafe
        compiler.skip_guard_on_all_nn_modules_unsafe compiler.skip_guard_on_globals_unsafe
        compiler.skip_guard_on_inbuilt_nn_modules_unsafe""",
    PIPES: """
        utils.data.datapipes. utils.data.graph. utils.data.graph_settings. utils.data.DFIterDataPipe
        utils.data.DataChunk utils.data.IterDataPipe utils.data.MapDataPipe
        utils.data.argument_validation utils.data.functional_datapipe
        utils.data.guaranteed_datapipes_determinism utils.data.non_deterministic
        utils.data.runtime_validation utils.data.runtime_validation_disabled""",
    MASKED: """
        masked.maskedtensor. masked.MaskedTensor masked.as_masked_tensor masked.is_masked_tensor
        masked.masked_tensor""",
    POOL: """
        cuda.CUDAPluggableAllocator cuda.MemPool cuda.caching_allocator_alloc
        cuda.caching_allocator_delete cuda.caching_allocator_disabled cuda.caching_allocator_enable
        cuda.change_current_allocator cuda.get_allocator_backend cuda.memory_snapshot
        cuda.memory_summary cuda.use_mem_pool cuda.host_memory_stats
        cuda.host_memory_stats_as_nested_dict cuda.reset_accumulated_host_memory_stats
        cuda.reset_peak_host_memory_stats cuda.set_per_process_memory_fraction
        cuda.get_per_process_memory_fraction""",
    TOOLS: """
        contrib. monitor. numa. utils.backcompat. utils.backend_registration.
        utils.benchmark.examples. utils.benchmark.op_fuzzers. utils.collect_env.
        utils.cpp_backtrace. utils.debug_log. utils.file_baton. utils.hipify. utils.show_pickle.
        utils.viz. profiler.itt. profiler.python_tracer. autograd.profiler.emit_itt
        autograd.profiler.load_nvprof autograd.profiler.parse_nvprof_trace""",
    FUSED: """
        nn.attention.bias. nn.attention.experimental. nn.attention.flex_attention.
        nn.attention.varlen.""",
    MACHINES: """
        distributed. multiprocessing. nn.SyncBatchNorm nn.parallel.DistributedDataParallel
        utils.data.DistributedSampler utils.data.distributed. cuda.nccl. cuda.comm.
        nn.parallel.comm. nn.parallel.distributed. nn.parallel.parallel_apply.
        nn.parallel.replicate.""",
    HARDWARE: """
        mps. mtia. xpu. get_autocast_ipu_dtype get_autocast_xla_dtype is_autocast_ipu_enabled
        is_autocast_xla_enabled set_autocast_ipu_dtype set_autocast_ipu_enabled
        set_autocast_xla_dtype set_autocast_xla_enabled backends.cpu. backends.miopen.
        backends.python_native. backends.xeon. cuda.gds. cuda.green_contexts. cuda.GreenContext""",
    LIBRARIES: """
        cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu
        cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable
        miopen_batch_norm miopen_convolution miopen_convolution_add_relu miopen_convolution_relu
        miopen_convolution_transpose miopen_ctc_loss miopen_depthwise_convolution miopen_rnn
        mkldnn_adaptive_avg_pool2d mkldnn_convolution mkldnn_linear_backward_weights
        mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_rnn_layer backends.cusparselt. backends.mha.
        backends.mkl. backends.mkldnn. backends.nnpack. backends.openmp. backends.xnnpack.
        backends.kleidiai. backends.opt_einsum. cuda.jiterator. cuda.tunable. nn.backends.
        utils.mkldnn.""",
    NETWORK: "hub. utils.model_zoo.",
}

#: Methods of tensors, by the reason why they are left out.
METHODS: dict[str, str] = {
    COMPLEX: "cdouble cfloat chalf istft stft",
    SPARSE: """
        ccol_indices coalesce col_indices crow_indices dense_dim indices is_coalesced row_indices
        smm sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm to_sparse
        to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr values""",
    QUANTISED: """
        dequantize int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points
        q_scale q_zero_point qscheme""",
    NESTED: "to_padded_tensor",
    HARDWARE: "mtia xpu",
    LIBRARIES: "to_mkldnn",
}

#: Dtypes that no tensor has, by the reason: category as in `dtypes`, a similar NumPy dtype, bytes.
DTYPES: dict[str, dict[str, tuple[int, str, int]]] = {
    COMPLEX: {"complex32": (3, "complex64", 4), "complex64": (3, "complex64", 8),
              "complex128": (3, "complex128", 16)},
    QUANTISED: {"qint8": (1, "int8", 1), "quint8": (1, "uint8", 1), "qint32": (1, "int32", 4),
                "quint4x2": (1, "uint8", 1), "quint2x4": (1, "uint8", 1)},
    UNSIGNED: {"uint16": (1, "uint16", 2), "uint32": (1, "uint32", 4),
               "uint64": (1, "uint64", 8)},
    SMALL: {name: (2, "float16", 1) for name in (
        "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")},
}
#: Aliases of dtypes.
ALIASES = {"chalf": "complex32", "cfloat": "complex64", "cdouble": "complex128"}

#: Memory layouts that no tensor has, by the reason.
LAYOUTS: dict[str, str] = {
    SPARSE: "sparse_bsc sparse_bsr sparse_coo sparse_csc sparse_csr",
    NESTED: "jagged",
    LIBRARIES: "_mkldnn",
}

#: Marks functions that return their argument, because they only annotate it for others.
GIVEN = object()

#: Functions of left-out modules that may be called nevertheless, and what they return.
ANSWERS: dict[str, dict[str, object]] = {
    "_dynamo": {"allow_in_graph": GIVEN, "assume_constant_result": GIVEN, "disable": GIVEN,
                "disallow_in_graph": GIVEN, "forbid_in_graph": GIVEN, "graph_break": None,
                "is_compiling": False, "mark_dynamic": None, "mark_static": None,
                "maybe_mark_dynamic": None, "reset": None, "reset_code_caches": None,
                "run": GIVEN},
    "backends.mkl": {"is_available": False},
    "backends.mkldnn": {"is_available": False},
    "backends.nnpack": {"is_available": False},
    "backends.openmp": {"is_available": False},
    "cuda.nccl": {"is_available": False},
    "distributed": {"is_available": False, "is_gloo_available": False, "is_initialized": False,
                    "is_mpi_available": False, "is_nccl_available": False,
                    "is_torchelastic_launched": False, "is_ucc_available": False},
    "fx": {"wrap": GIVEN},
    "fx._symbolic_trace": {"is_fx_tracing": False},
    "multiprocessing": {"set_sharing_strategy": None},  # loaders work in threads
    "mps": {"device_count": 0},
    "mtia": {"device_count": 0, "is_available": False, "is_initialized": False},
    "onnx": {"is_in_onnx_export": False},
    "xpu": {"device_count": 0, "is_available": False, "is_initialized": False},
}


def _by_name(table: dict[str, str]) -> dict[str, str]:
    return {name: why for why, names in table.items() for name in names.split()}


_WHY = _by_name(LEFT_OUT)
#: Why each module is left out, by its name below `torch`.
MODULES = {name[:-1]: why for name, why in _WHY.items() if name.endswith(".")}
_NAMES = {name: why for name, why in _WHY.items() if not name.endswith(".")}


def left_out(path: str) -> str | None:
    """Return why a name below `torch`, or its module, is left out, or `None` if it is not.

    >>> left_out("fft.rfft"), left_out("ones")
    ('has no complex numbers', None)
    """
    why = None
    while why is None and path:
        why, path = _NAMES.get(path) or MODULES.get(path), path.rpartition(".")[0]
    return why


def error_text(path: str, why: str) -> str:
    """Return the error text for using a name that is left out."""
    return (f"torch.{path} is left out: minigrad {why}. docs/en/library.md lists "
            "everything that is left out")
