"""The names that a program may say before their modules are loaded, by module.

Written by `python -m minigrad.utils.stubs`; do not edit.  "new=old" is `old as new` in an import,
and "new=." the module itself.
"""

#: Names of each package, by the module that has them.
NAMES = {
    "": {
        "_C": "_C=.",
        "_six": "_six=.",
        "accelerator": "accelerator=.",
        "amp": "amp=. autocast is_autocast_available",
        "amp.switches": (
            "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache "
            "get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype "
            "is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled "
            "set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled "
            "set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype"),
        "aot": "aot=.",
        "autograd": (
            "autograd=. enable_grad inference_mode is_grad_enabled is_inference_mode_enabled "
            "no_grad set_grad_enabled"),
        "autograd.anomaly_mode": (
            "is_anomaly_check_nan_enabled is_anomaly_enabled set_anomaly_enabled"),
        "backend": "backend=.",
        "backend.threads": "get_num_threads set_num_threads",
        "backends": "backends=.",
        "batching": "batching=.",
        "codegen": "codegen=.",
        "compat": "compat=.",
        "compat.as_torch": "as_torch",
        "compat.settings": (
            "are_deterministic_algorithms_enabled get_deterministic_debug_mode "
            "get_float32_matmul_precision get_num_interop_threads "
            "is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled "
            "set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision "
            "set_flush_denormal set_num_interop_threads set_warn_always "
            "use_deterministic_algorithms"),
        "compiler": "compiler=. compile",
        "cuda": "cuda=.",
        "default_device": "get_default_device set_default_device default_device=.",
        "device": "device=.",
        "distributions": "distributions=.",
        "dtypes": "dtypes=.",
        "engine": "engine=.",
        "examples": "examples=.",
        "frames": "frames=.",
        "func": "func=. vmap",
        "functional": "functional=.",
        "futures": "futures=.",
        "graph": "graph=.",
        "jit": "jit=.",
        "linalg": "linalg=.",
        "masked": "masked=.",
        "nn": "nn=.",
        "on_demand": "on_demand=.",
        "op": "op=.",
        "ops": "ops=.",
        "ops.creation.legacy": (
            "BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor "
            "LongTensor ShortTensor"),
        "ops.creation.tensor_options": (
            "channels_last channels_last_3d contiguous_format preserve_format strided"),
        "ops.info": "finfo iinfo",
        "ops.random.sampling": "random=. Generator default_generator",
        "ops.shape.storages": "TypedStorage UntypedStorage",
        "optim": "optim=.",
        "overrides": "overrides=.",
        "profiler": "profiler=.",
        "return_types": "return_types=.",
        "serialization": "load save serialization=.",
        "shapes": "shapes=.",
        "signal": "signal=.",
        "special": "special=.",
        "storage": "storage=.",
        "tensor.formatting": "set_printoptions",
        "testing": "testing=.",
        "tiny": "tiny=.",
        "torch_version": "torch_version=.",
        "types": "types=.",
        "utils": "utils=.",
        "version": "version=.",
        "viz": "viz=.",
    },
    "amp": {
        "amp.autocast": "autocast is_autocast_available",
        "amp.casts": "casts=.",
        "amp.custom": "custom_bwd custom_fwd custom=.",
        "amp.for_cuda": "for_cuda=.",
        "amp.grad_scaler": "GradScaler grad_scaler=.",
        "amp.policy": "policy=.",
        "amp.switches": "get_autocast_dtype is_autocast_enabled switches=.",
    },
    "autograd": {
        "autograd.anomaly_mode": "anomaly_mode=. detect_anomaly set_detect_anomaly",
        "autograd.backward": "backward grad",
        "autograd.batched_grads": "batched_grads=.",
        "autograd.forward_ad": "forward_ad=.",
        "autograd.function": "Function NestedIOFunction function=.",
        "autograd.functional": "functional=.",
        "autograd.grad_mode": (
            "grad_mode=. enable_grad inference_mode is_grad_enabled is_inference_mode_enabled "
            "no_grad set_grad_enabled"),
        "autograd.gradcheck": "GradcheckError gradcheck gradgradcheck",
        "autograd.graph": "graph=. is_multithreading_enabled set_multithreading_enabled",
        "autograd.profiler": "profiler=. kineto_available",
        "autograd.profiler.contexts": "_profiler_enabled",
        "autograd.profiler_util": "profiler_util=.",
        "autograd.saved_tensor": "SavedTensor saved_tensor=.",
        "autograd.variable": "Variable variable=.",
    },
    "autograd.profiler": {
        "autograd.profiler.collect": "collect=.",
        "autograd.profiler.contexts": "kineto_available profile record_function contexts=.",
        "autograd.profiler.device": "device=.",
        "autograd.profiler.device_times": "device_times=.",
        "autograd.profiler.emit": "emit_nvtx emit=.",
        "autograd.profiler.html": "html=.",
        "autograd.profiler.nvtx": "nvtx=.",
        "autograd.profiler.op_names": "op_names=.",
        "autograd.profiler.recorder": "recorder=.",
        "autograd.profiler.results": "results=.",
        "autograd.profiler.table": "table=.",
        "autograd.profiler_util": "EventList FunctionEvent",
    },
    "backends": {
        "backends.cuda": "cuda=.",
        "backends.cudnn": "cudnn=.",
        "backends.mps": "mps=.",
    },
    "cuda": {
        "cuda.amp": "amp=.",
        "cuda.devices": (
            "current_device device device_count device_of get_device_capability get_device_name "
            "get_device_properties init is_available is_bf16_supported is_initialized set_device "
            "devices=."),
        "cuda.graphs": "CUDAGraph graph graph_pool_handle is_current_stream_capturing graphs=.",
        "cuda.memory": (
            "empty_cache max_memory_allocated max_memory_reserved mem_get_info memory_allocated "
            "memory_reserved reset_peak_memory_stats memory=."),
        "cuda.nvtx": "nvtx=.",
        "cuda.random": (
            "random=. get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all "
            "seed seed_all set_rng_state set_rng_state_all"),
        "cuda.streams": (
            "Event Stream StreamContext current_stream default_stream stream synchronize "
            "streams=."),
    },
    "func": {
        "func.functional_call": "functional_call stack_module_state",
        "func.in_place_writes": "in_place_writes=.",
        "func.inner_levels": "inner_levels=.",
        "func.jacobians": "hessian jacfwd jacrev jacobians=.",
        "func.levels": "levels=.",
        "func.reverse_jacobian": "reverse_jacobian=.",
        "func.transforms": "grad grad_and_value jvp linearize value_and_grad vjp transforms=.",
        "func.tree": "tree=.",
        "func.vmap": "vmap",
        "func.vmap_checks": "vmap_checks=.",
    },
    "linalg": {
    },
    "masked": {
        "masked.masks": "masks=.",
        "masked.normalizations": "normalizations=.",
        "masked.reductions": "reductions=.",
    },
    "nn": {
        "nn.activation": (
            "activation=. CELU ELU GELU GLU SELU Hardshrink Hardsigmoid Hardswish Hardtanh "
            "LeakyReLU LogSigmoid LogSoftmax Mish PReLU RReLU ReLU ReLU6 SiLU Sigmoid Softmax "
            "Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold"),
        "nn.adaptive_softmax": "adaptive_softmax=. AdaptiveLogSoftmaxWithLoss",
        "nn.attention": "attention=. MultiheadAttention",
        "nn.attention_kernels": "attention_kernels=.",
        "nn.batchnorm": "batchnorm=. BatchNorm1d BatchNorm2d BatchNorm3d",
        "nn.containers": "containers=. ModuleDict ModuleList Sequential",
        "nn.conv": "conv=. Conv1d Conv2d Conv3d",
        "nn.conv_transpose": "conv_transpose=. ConvTranspose1d ConvTranspose2d ConvTranspose3d",
        "nn.dropout": (
            "dropout=. AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout"),
        "nn.embedding": "embedding=. Embedding EmbeddingBag",
        "nn.functional": "functional=.",
        "nn.functional_attention": "functional_attention=.",
        "nn.functional_dropout": "functional_dropout=.",
        "nn.functional_embedding_bag": "functional_embedding_bag=.",
        "nn.functional_loss": "functional_loss=.",
        "nn.functional_norm": "functional_norm=.",
        "nn.functional_pool": "functional_pool=.",
        "nn.functional_upsample": "functional_upsample=.",
        "nn.global_hooks": "global_hooks=.",
        "nn.grad": "grad=.",
        "nn.hooks": "hooks=.",
        "nn.init": "init=.",
        "nn.lazy": (
            "lazy=. LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d "
            "LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d "
            "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear"),
        "nn.linear": "linear=. Bilinear Identity Linear",
        "nn.loss": (
            "loss=. BCELoss BCEWithLogitsLoss CrossEntropyLoss HuberLoss KLDivLoss L1Loss MSELoss "
            "NLLLoss SmoothL1Loss"),
        "nn.margin_loss": (
            "margin_loss=. CosineEmbeddingLoss CosineSimilarity GaussianNLLLoss "
            "HingeEmbeddingLoss MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss "
            "MultiMarginLoss PairwiseDistance PoissonNLLLoss SoftMarginLoss TripletMarginLoss "
            "TripletMarginWithDistanceLoss"),
        "nn.member_tables": "member_tables=.",
        "nn.models": "models=.",
        "nn.module": "Module module=.",
        "nn.module_call": "module_call=.",
        "nn.module_state": "module_state=.",
        "nn.module_tables": "module_tables=.",
        "nn.modules": "modules=.",
        "nn.norm_pool": (
            "norm_pool=. FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d"),
        "nn.normalization": (
            "normalization=. GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm "
            "LocalResponseNorm RMSNorm"),
        "nn.padding": (
            "padding=. CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d "
            "ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d "
            "ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d"),
        "nn.parallel": "parallel=. DataParallel",
        "nn.parameter": "parameter=. Buffer Parameter UninitializedBuffer UninitializedParameter",
        "nn.parameter_containers": "parameter_containers=. ParameterDict ParameterList",
        "nn.pool": (
            "pool=. AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
            "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d MaxPool1d "
            "MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d"),
        "nn.pytorch_names": "pytorch_names=.",
        "nn.rnn": "rnn=. GRU LSTM RNN GRUCell LSTMCell RNNBase RNNCell RNNCellBase",
        "nn.sequence_loss": "sequence_loss=. CTCLoss LinearCrossEntropyLoss",
        "nn.shape_layers": (
            "shape_layers=. ChannelShuffle Flatten Fold PixelShuffle PixelUnshuffle Unflatten "
            "Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d"),
        "nn.state": "state=.",
        "nn.transformer": (
            "transformer=. Transformer TransformerDecoder TransformerDecoderLayer "
            "TransformerEncoder TransformerEncoderLayer"),
        "nn.uninitialized": "uninitialized=.",
        "nn.utils": "utils=.",
    },
    "nn.attention": {
    },
    "nn.parallel": {
        "nn.parallel.data_parallel": "DataParallel data_parallel",
        "nn.parallel.scatter_gather": "scatter_gather=.",
    },
    "nn.utils": {
        "nn.utils.clip_grad": (
            "clip_grad=. clip_grad_norm clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ "
            "get_total_norm"),
        "nn.utils.convert_parameters": (
            "convert_parameters=. parameters_to_vector vector_to_parameters"),
        "nn.utils.fusion": (
            "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights "
            "skip_init fusion=."),
        "nn.utils.parametrizations": "parametrizations=.",
        "nn.utils.parametrize": "parametrize=.",
        "nn.utils.prune": "prune=.",
        "nn.utils.pruning_methods": "pruning_methods=.",
        "nn.utils.rnn": "rnn=.",
        "nn.utils.spectral_norm": "remove_spectral_norm spectral_norm",
        "nn.utils.weight_norm": "remove_weight_norm weight_norm",
    },
    "optim": {
        "optim.adafactor": "Adafactor adafactor=.",
        "optim.adagrad": "Adagrad adagrad=.",
        "optim.adam": "Adam AdamW adam=.",
        "optim.adam_variants": "Adamax NAdam RAdam adam_variants=.",
        "optim.asgd": "ASGD asgd=.",
        "optim.cache_blocks": "cache_blocks=.",
        "optim.checks": "checks=.",
        "optim.hooks": "hooks=.",
        "optim.lbfgs": "LBFGS lbfgs=.",
        "optim.line_search": "line_search=.",
        "optim.load_state": "load_state=.",
        "optim.lr_scheduler": "lr_scheduler=.",
        "optim.multi_tensor": "multi_tensor=.",
        "optim.muon": "Muon muon=.",
        "optim.optimizer": "Optimizer optimizer=.",
        "optim.param_groups": "param_groups=.",
        "optim.recorded": "recorded=.",
        "optim.rmsprop": "Adadelta RMSprop rmsprop=.",
        "optim.rprop": "Rprop rprop=.",
        "optim.sgd": "SGD sgd=.",
        "optim.state_arrays": "state_arrays=.",
        "optim.swa_utils": "swa_utils=.",
    },
    "optim.lr_scheduler": {
        "optim.lr_scheduler.composed": "ChainedScheduler SequentialLR composed=.",
        "optim.lr_scheduler.cosine": "CosineAnnealingLR CosineAnnealingWarmRestarts cosine=.",
        "optim.lr_scheduler.cycles": "CyclicLR OneCycleLR cycles=.",
        "optim.lr_scheduler.factors": (
            "ConstantLR ExponentialLR LambdaLR LinearLR MultiplicativeLR MultiStepLR PolynomialLR "
            "StepLR factors=."),
        "optim.lr_scheduler.plateau": "ReduceLROnPlateau plateau=.",
        "optim.lr_scheduler.scheduler": "LRScheduler _LRScheduler scheduler=.",
    },
    "profiler": {
    },
    "serialization": {
        "serialization.allowed": (
            "add_safe_globals clear_safe_globals get_safe_globals safe_globals allowed=."),
        "serialization.archive": "archive=.",
        "serialization.files": "get_unsafe_globals_in_checkpoint load save files=.",
        "serialization.legacy": "legacy=.",
        "serialization.names": "names=.",
        "serialization.pickling": "pickling=.",
        "serialization.reading": "reading=.",
        "serialization.storage_types": "storage_types=.",
        "serialization.unpickling": "unpickling=.",
    },
    "signal": {
        "signal.windows": "windows=.",
    },
    "testing": {
    },
    "utils": {
        "utils.benchmark": "benchmark=.",
        "utils.checkpoint": "checkpoint=.",
        "utils.data": "data=.",
        "utils.dlpack": "dlpack=.",
        "utils.exchange": "exchange=.",
        "utils.hooks": "hooks=.",
        "utils.memory": "memory=.",
        "utils.name_tables": "name_tables=.",
        "utils.recomputation": "recomputation=.",
        "utils.safetensors": "safetensors=.",
        "utils.stubs": "stubs=.",
        "utils.swapping": "swapping=.",
        "utils.tensorboard": "tensorboard=.",
    },
    "utils.benchmark": {
    },
    "utils.data": {
        "utils.data.collate": "default_collate default_convert collate=.",
        "utils.data.dataloader": "dataloader=. DataLoader",
        "utils.data.dataset": (
            "dataset=. ChainDataset ConcatDataset Dataset IterableDataset StackDataset Subset "
            "TensorDataset random_split"),
        "utils.data.sampler": (
            "sampler=. BatchSampler RandomSampler Sampler SequentialSampler SubsetRandomSampler "
            "WeightedRandomSampler"),
        "utils.data.workers": "WorkerInfo get_worker_info workers=.",
    },
}

#: Functions of `F`.
F_NAMES = {
    "ops.creation.create": (
        "arange as_tensor asarray empty empty_permuted empty_strided eye from_dlpack from_numpy "
        "frombuffer full linspace logspace ones scalar_tensor tensor zeros"),
    "ops.creation.create_like": (
        "empty_like full_like new_empty new_empty_strided new_full new_ones new_zeros ones_like "
        "zeros_like"),
    "ops.creation.legacy": "range",
    "ops.creation.windows": (
        "bartlett_window blackman_window hamming_window hann_window kaiser_window"),
    "ops.indexing.gather": (
        "gather gather_backward index_add index_add_ index_copy index_copy_ index_fill "
        "index_select index_select_backward take_along_dim"),
    "ops.indexing.index": "index index_backward index_put",
    "ops.indexing.masked": (
        "argwhere masked_pick masked_place masked_scatter masked_scatter_ masked_select nonzero "
        "nonzero_static put put_ take take_backward"),
    "ops.indexing.scatter": "scatter scatter_ scatter_add scatter_add_",
    "ops.indexing.scatter_reduce": "index_reduce index_reduce_ scatter_reduce scatter_reduce_",
    "ops.indexing.unravel": "unravel_index",
    "ops.indexing.view_scatter": "as_strided_scatter diagonal_scatter select_scatter slice_scatter",
    "ops.info": (
        "is_complex is_floating_point is_inference is_nonzero is_signed is_tensor numel "
        "result_type typename"),
    "ops.linalg.addmm": "addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_",
    "ops.linalg.bilinear": "bilinear",
    "ops.linalg.decompositions": (
        "cholesky det inverse linalg_cholesky linalg_det linalg_inv linalg_qr linalg_slogdet "
        "linalg_solve logdet qr slogdet"),
    "ops.linalg.einsum": "einsum",
    "ops.linalg.householder": "geqrf linalg_householder_product orgqr ormqr",
    "ops.linalg.ldl": "linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve",
    "ops.linalg.least_squares": "linalg_lstsq",
    "ops.linalg.lowrank": "pca_lowrank svd_lowrank",
    "ops.linalg.lu": (
        "linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve lu lu_solve lu_unpack"),
    "ops.linalg.matmul": "bmm dot matmul mm mv",
    "ops.linalg.products": (
        "chain_matmul cross kron linalg_cross linalg_matrix_power linalg_multi_dot linalg_vecdot "
        "matrix_power tensordot trace"),
    "ops.linalg.removed": "eig lstsq matrix_rank solve symeig",
    "ops.linalg.renorm": "renorm",
    "ops.linalg.solve_ex": (
        "linalg_cholesky_ex linalg_diagonal linalg_inv_ex linalg_solve_ex linalg_tensorinv "
        "linalg_tensorsolve linalg_vander matrix_exp"),
    "ops.linalg.svd_eigh": (
        "linalg_eigh linalg_eigvalsh linalg_matrix_rank linalg_pinv linalg_svd linalg_svdvals "
        "pinverse svd"),
    "ops.linalg.triangular": (
        "cholesky_inverse cholesky_solve linalg_solve_triangular triangular_solve"),
    "ops.linalg.vector_products": "ger inner outer vdot",
    "ops.math.arithmetic": "add add_ mul mul_ multiply neg neg_ negative sub sub_ subtract",
    "ops.math.arithmetic_variants": "addcdiv addcdiv_ addcmul addcmul_ reciprocal reciprocal_ rsub",
    "ops.math.bessel": (
        "i0 i0_ special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 "
        "special_bessel_y1 special_i0e special_i1 special_i1e special_modified_bessel_i0 "
        "special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 "
        "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 "
        "special_spherical_bessel_j0"),
    "ops.math.clamp_where_fill": (
        "clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ fill fill_ lerp lerp_ "
        "masked_fill masked_fill_ where zero_"),
    "ops.math.comparison": (
        "allclose bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not "
        "bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor "
        "bitwise_xor_ eq eq_ equal ge ge_ greater greater_equal gt gt_ heaviside heaviside_ "
        "isclose isfinite isin isinf isnan isneginf isposinf le le_ less less_equal logical_and "
        "logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ lt "
        "lt_ ne ne_ not_equal signbit"),
    "ops.math.division": (
        "div div_ divide divide_ floor_divide floor_divide_ fmod fmod_ remainder remainder_ "
        "true_divide true_divide_"),
    "ops.math.exp_log": "exp exp_ log log_ sigmoid sigmoid_ tanh tanh_",
    "ops.math.exp_log_variants": (
        "exp2 exp2_ expm1 expm1_ log10 log10_ log1p log1p_ log2 log2_ logaddexp logaddexp2 logit "
        "logit_ xlogy xlogy_"),
    "ops.math.fmax_fmin": "fmax fmin",
    "ops.math.gradient": "gradient",
    "ops.math.integers": "frexp gcd gcd_ lcm lcm_",
    "ops.math.maximum": "maximum minimum",
    "ops.math.normal_functions": (
        "special_entr special_erfcx special_log_ndtr special_ndtr special_ndtri special_xlog1py "
        "special_zeta"),
    "ops.math.polynomials": (
        "special_chebyshev_polynomial_t special_chebyshev_polynomial_u "
        "special_chebyshev_polynomial_v special_chebyshev_polynomial_w "
        "special_hermite_polynomial_h special_hermite_polynomial_he special_laguerre_polynomial_l "
        "special_legendre_polynomial_p special_shifted_chebyshev_polynomial_t "
        "special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v "
        "special_shifted_chebyshev_polynomial_w"),
    "ops.math.pow": "float_power pow pow_ rsqrt rsqrt_ square square_",
    "ops.math.powers": "sqrt sqrt_",
    "ops.math.real_numbers": (
        "angle conj conj_physical imag is_conj is_neg isreal real resolve_conj resolve_neg"),
    "ops.math.rounding": (
        "abs abs_ absolute ceil ceil_ fix floor floor_ frac frac_ positive round round_ sgn sgn_ "
        "sign sign_ trunc trunc_"),
    "ops.math.special_functions": (
        "copysign copysign_ digamma digamma_ erf erf_ erfc erfc_ erfinv erfinv_ igamma igammac "
        "lgamma lgamma_ mvlgamma nan_to_num nan_to_num_ nextafter nextafter_ polygamma"),
    "ops.math.trigonometric": (
        "acos acos_ acosh acosh_ arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asin_ "
        "asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ cos cos_ cosh cosh_ deg2rad deg2rad_ "
        "hypot hypot_ rad2deg rad2deg_ sin sin_ sinc sinc_ sinh sinh_ tan tan_"),
    "ops.nn.activation": (
        "celu celu_ elu elu_ gelu hardshrink hardsigmoid hardsigmoid_ hardswish hardswish_ "
        "hardtanh hardtanh_ leaky_relu leaky_relu_ logsigmoid mish mish_ prelu relu6 relu6_ selu "
        "selu_ silu silu_ softplus softshrink softsign tanhshrink threshold threshold_"),
    "ops.nn.batch_norm": "batch_norm layer_norm rms_norm",
    "ops.nn.conv": "conv1d conv2d conv3d",
    "ops.nn.conv_transpose": "conv_transpose1d conv_transpose2d conv_transpose3d",
    "ops.nn.ctc_loss": "ctc_loss",
    "ops.nn.dropout": (
        "alpha_dropout dropout dropout_ feature_alpha_dropout feature_dropout native_dropout"),
    "ops.nn.group_norm": "group_norm instance_norm",
    "ops.nn.linear": "embedding",
    "ops.nn.loss": "binary_cross_entropy_with_logits kl_div",
    "ops.nn.pool": "adaptive_avg_pool1d avg_pool1d max_pool1d max_pool2d",
    "ops.nn.pool3d": "max_pool3d",
    "ops.nn.relu": "relu relu_",
    "ops.nn.rnn_stacks": (
        "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell"),
    "ops.nn.rrelu": "rrelu rrelu_",
    "ops.nn.softmax": "log_softmax softmax softmin",
    "ops.overloads": "depend_on",
    "ops.random.gamma": "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad",
    "ops.random.generator": "get_rng_state initial_seed manual_seed seed set_rng_state",
    "ops.random.random_counts": "binomial poisson",
    "ops.random.sampling": (
        "bernoulli multinomial normal rand rand_like randint randint_like randn randn_like "
        "randperm"),
    "ops.reduction.all_or_along": "mean std sum var",
    "ops.reduction.any_all": "all any count_nonzero",
    "ops.reduction.covariance": "corrcoef cov",
    "ops.reduction.cumulative": (
        "cummax cummin cumprod cumprod_ cumsum cumsum_ cumulative_trapezoid diff logcumsumexp "
        "prod trapezoid trapz"),
    "ops.reduction.distance": (
        "cdist cosine_similarity frobenius_norm linalg_cond linalg_matrix_norm linalg_norm "
        "linalg_vector_norm nuclear_norm pairwise_distance pdist"),
    "ops.reduction.histogram": "histogram histogramdd",
    "ops.reduction.minmax": (
        "amax amin aminmax argmax argmin kthvalue max median min mode nanmedian"),
    "ops.reduction.nan_sums": "nanmean nansum",
    "ops.reduction.norms": "dist norm",
    "ops.reduction.quantile": "nanquantile quantile",
    "ops.reduction.sorting": (
        "argsort bincount bucketize histc msort searchsorted sort topk unique unique_consecutive"),
    "ops.reduction.spread_and_mean": "std_mean var_mean",
    "ops.reduction.vector_norm": "logsumexp",
    "ops.shape.as_strided": "adjoint alias as_strided detach resize_as_ restride",
    "ops.shape.combinations": "cartesian_prod combinations",
    "ops.shape.concat": (
        "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cat "
        "column_stack concat concatenate diag diag_embed diagflat dstack hstack meshgrid repeat "
        "repeat_interleave row_stack stack tile vstack"),
    "ops.shape.convert": "clone to",
    "ops.shape.diagonals_and_sizes": "detach_ index_put_ is_same_size vander",
    "ops.shape.flip_roll": (
        "flip fliplr flipud roll rot90 tril tril_ tril_indices triu triu_ triu_indices"),
    "ops.shape.pad": "constant_pad_nd",
    "ops.shape.slicing": (
        "chunk diagonal diagonal_backward narrow narrow_copy select select_backward slice "
        "slice_backward sliding_windows split split_with_sizes tensor_split unbind "
        "unfold_backward unsafe_chunk unsafe_split unsafe_split_with_sizes"),
    "ops.shape.split_by_axis": "dsplit hsplit vsplit",
    "ops.shape.storages": "is_storage",
    "ops.shape.unfold": "channel_shuffle pixel_shuffle pixel_unshuffle",
    "ops.shape.view": (
        "broadcast_to expand expand_as flatten moveaxis movedim permute ravel reshape reshape_as "
        "squeeze squeeze_ swapaxes swapdims t t_ transpose transpose_ unflatten unsqueeze "
        "unsqueeze_ view view_as"),
}

#: Operations that the package offers.
FUNCTION_NAMES = {
    "ops.creation.create": (
        "arange as_tensor asarray empty empty_permuted empty_strided eye from_dlpack from_numpy "
        "frombuffer full linspace logspace ones scalar_tensor tensor zeros"),
    "ops.creation.create_like": (
        "empty_like full_like new_empty new_empty_strided new_full new_ones new_zeros ones_like "
        "zeros_like"),
    "ops.creation.legacy": "range",
    "ops.creation.windows": (
        "bartlett_window blackman_window hamming_window hann_window kaiser_window"),
    "ops.indexing.gather": (
        "gather gather_backward index_add index_add_ index_copy index_copy_ index_fill "
        "index_select index_select_backward take_along_dim"),
    "ops.indexing.index": "index index_backward index_put",
    "ops.indexing.masked": (
        "argwhere masked_pick masked_place masked_scatter masked_scatter_ masked_select nonzero "
        "nonzero_static put put_ take take_backward"),
    "ops.indexing.scatter": "scatter scatter_ scatter_add scatter_add_",
    "ops.indexing.scatter_reduce": "index_reduce index_reduce_ scatter_reduce scatter_reduce_",
    "ops.indexing.unravel": "unravel_index",
    "ops.indexing.view_scatter": "as_strided_scatter diagonal_scatter select_scatter slice_scatter",
    "ops.info": (
        "is_complex is_floating_point is_inference is_nonzero is_signed is_tensor numel "
        "result_type typename"),
    "ops.linalg.addmm": "addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_",
    "ops.linalg.bilinear": "bilinear",
    "ops.linalg.decompositions": (
        "cholesky det inverse linalg_cholesky linalg_det linalg_inv linalg_qr linalg_slogdet "
        "linalg_solve logdet qr slogdet"),
    "ops.linalg.einsum": "einsum",
    "ops.linalg.householder": "geqrf linalg_householder_product orgqr ormqr",
    "ops.linalg.ldl": "linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve",
    "ops.linalg.least_squares": "linalg_lstsq",
    "ops.linalg.lowrank": "pca_lowrank svd_lowrank",
    "ops.linalg.lu": (
        "linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve lu lu_solve lu_unpack"),
    "ops.linalg.matmul": "bmm dot matmul mm mv",
    "ops.linalg.products": (
        "chain_matmul cross kron linalg_cross linalg_matrix_power linalg_multi_dot linalg_vecdot "
        "matrix_power tensordot trace"),
    "ops.linalg.removed": "eig lstsq matrix_rank solve symeig",
    "ops.linalg.renorm": "renorm",
    "ops.linalg.solve_ex": (
        "linalg_cholesky_ex linalg_diagonal linalg_inv_ex linalg_solve_ex linalg_tensorinv "
        "linalg_tensorsolve linalg_vander matrix_exp"),
    "ops.linalg.svd_eigh": (
        "linalg_eigh linalg_eigvalsh linalg_matrix_rank linalg_pinv linalg_svd linalg_svdvals "
        "pinverse svd"),
    "ops.linalg.triangular": (
        "cholesky_inverse cholesky_solve linalg_solve_triangular triangular_solve"),
    "ops.linalg.vector_products": "ger inner outer vdot",
    "ops.math.arithmetic": (
        "add add_ mul mul_ multiply multiply_ neg neg_ negative negative_ sub sub_ subtract "
        "subtract_"),
    "ops.math.arithmetic_variants": "addcdiv addcdiv_ addcmul addcmul_ reciprocal reciprocal_ rsub",
    "ops.math.bessel": (
        "i0 i0_ special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 "
        "special_bessel_y1 special_i0e special_i1 special_i1e special_modified_bessel_i0 "
        "special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 "
        "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 "
        "special_spherical_bessel_j0"),
    "ops.math.clamp_where_fill": (
        "clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ fill fill_ lerp lerp_ "
        "masked_fill masked_fill_ where zero_"),
    "ops.math.comparison": (
        "allclose bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not "
        "bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor "
        "bitwise_xor_ eq eq_ equal ge ge_ greater greater_ greater_equal greater_equal_ gt gt_ "
        "heaviside heaviside_ isclose isfinite isin isinf isnan isneginf isposinf le le_ less "
        "less_ less_equal less_equal_ logical_and logical_and_ logical_not logical_not_ "
        "logical_or logical_or_ logical_xor logical_xor_ lt lt_ ne ne_ not_equal not_equal_ "
        "signbit"),
    "ops.math.division": (
        "div div_ divide divide_ floor_divide floor_divide_ fmod fmod_ remainder remainder_ "
        "true_divide true_divide_"),
    "ops.math.exp_log": "exp exp_ log log_ sigmoid sigmoid_ tanh tanh_",
    "ops.math.exp_log_variants": (
        "exp2 exp2_ expm1 expm1_ log10 log10_ log1p log1p_ log2 log2_ logaddexp logaddexp2 logit "
        "logit_ xlogy xlogy_"),
    "ops.math.fmax_fmin": "fmax fmin",
    "ops.math.gradient": "gradient",
    "ops.math.integers": "frexp gcd gcd_ lcm lcm_",
    "ops.math.maximum": "maximum minimum",
    "ops.math.normal_functions": (
        "special_entr special_erfcx special_log_ndtr special_ndtr special_ndtri special_xlog1py "
        "special_zeta"),
    "ops.math.polynomials": (
        "special_chebyshev_polynomial_t special_chebyshev_polynomial_u "
        "special_chebyshev_polynomial_v special_chebyshev_polynomial_w "
        "special_hermite_polynomial_h special_hermite_polynomial_he special_laguerre_polynomial_l "
        "special_legendre_polynomial_p special_shifted_chebyshev_polynomial_t "
        "special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v "
        "special_shifted_chebyshev_polynomial_w"),
    "ops.math.pow": "float_power pow pow_ rsqrt rsqrt_ square square_",
    "ops.math.powers": "sqrt sqrt_",
    "ops.math.real_numbers": (
        "angle conj conj_physical imag is_conj is_neg isreal real resolve_conj resolve_neg"),
    "ops.math.rounding": (
        "abs abs_ absolute absolute_ ceil ceil_ fix fix_ floor floor_ frac frac_ positive round "
        "round_ sgn sgn_ sign sign_ trunc trunc_"),
    "ops.math.special_functions": (
        "copysign copysign_ digamma digamma_ erf erf_ erfc erfc_ erfinv erfinv_ igamma igammac "
        "lgamma lgamma_ mvlgamma nan_to_num nan_to_num_ nextafter nextafter_ polygamma"),
    "ops.math.trigonometric": (
        "acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ "
        "arctan arctan2 arctan2_ arctan_ arctanh arctanh_ asin asin_ asinh asinh_ atan atan2 "
        "atan2_ atan_ atanh atanh_ cos cos_ cosh cosh_ deg2rad deg2rad_ hypot hypot_ rad2deg "
        "rad2deg_ sin sin_ sinc sinc_ sinh sinh_ tan tan_"),
    "ops.nn.activation": (
        "celu celu_ elu elu_ gelu hardshrink hardsigmoid hardsigmoid_ hardswish hardswish_ "
        "hardtanh hardtanh_ leaky_relu leaky_relu_ logsigmoid mish mish_ prelu relu6 relu6_ selu "
        "selu_ silu silu_ softplus softshrink softsign tanhshrink threshold threshold_"),
    "ops.nn.batch_norm": "batch_norm layer_norm rms_norm",
    "ops.nn.conv": "conv1d conv2d conv3d",
    "ops.nn.conv_transpose": "conv_transpose1d conv_transpose2d conv_transpose3d",
    "ops.nn.ctc_loss": "ctc_loss",
    "ops.nn.dropout": (
        "alpha_dropout dropout dropout_ feature_alpha_dropout feature_dropout native_dropout"),
    "ops.nn.group_norm": "group_norm instance_norm",
    "ops.nn.linear": "embedding",
    "ops.nn.loss": "binary_cross_entropy_with_logits kl_div",
    "ops.nn.pool": "adaptive_avg_pool1d avg_pool1d max_pool1d max_pool2d",
    "ops.nn.pool3d": "max_pool3d",
    "ops.nn.relu": "relu relu_",
    "ops.nn.rnn_stacks": (
        "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell"),
    "ops.nn.rrelu": "rrelu rrelu_",
    "ops.nn.softmax": "log_softmax softmax softmin",
    "ops.random.gamma": "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad",
    "ops.random.generator": "get_rng_state initial_seed manual_seed seed set_rng_state",
    "ops.random.random_counts": "binomial poisson",
    "ops.random.sampling": (
        "bernoulli multinomial normal rand rand_like randint randint_like randn randn_like "
        "randperm"),
    "ops.reduction.all_or_along": "mean std sum var",
    "ops.reduction.any_all": "all any count_nonzero",
    "ops.reduction.covariance": "corrcoef cov",
    "ops.reduction.cumulative": (
        "cummax cummin cumprod cumprod_ cumsum cumsum_ cumulative_trapezoid diff logcumsumexp "
        "prod trapezoid trapz"),
    "ops.reduction.distance": (
        "cdist cosine_similarity frobenius_norm linalg_cond linalg_matrix_norm linalg_norm "
        "linalg_vector_norm nuclear_norm pairwise_distance pdist"),
    "ops.reduction.histogram": "histogram histogramdd",
    "ops.reduction.minmax": (
        "amax amin aminmax argmax argmin kthvalue max median min mode nanmedian"),
    "ops.reduction.nan_sums": "nanmean nansum",
    "ops.reduction.norms": "dist norm",
    "ops.reduction.quantile": "nanquantile quantile",
    "ops.reduction.sorting": (
        "argsort bincount bucketize histc msort searchsorted sort topk unique unique_consecutive"),
    "ops.reduction.spread_and_mean": "std_mean var_mean",
    "ops.reduction.vector_norm": "logsumexp",
    "ops.shape.as_strided": "adjoint alias as_strided detach resize_as_ restride",
    "ops.shape.combinations": "cartesian_prod combinations",
    "ops.shape.concat": (
        "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cat "
        "column_stack concat concatenate diag diag_embed diagflat dstack hstack meshgrid repeat "
        "repeat_interleave row_stack stack tile vstack"),
    "ops.shape.convert": "clone",
    "ops.shape.diagonals_and_sizes": "detach_ index_put_ is_same_size vander",
    "ops.shape.flip_roll": (
        "flip fliplr flipud roll rot90 tril tril_ tril_indices triu triu_ triu_indices"),
    "ops.shape.pad": "constant_pad_nd",
    "ops.shape.slicing": (
        "chunk diagonal diagonal_backward narrow narrow_copy select select_backward slice "
        "slice_backward sliding_windows split split_with_sizes tensor_split unbind "
        "unfold_backward unsafe_chunk unsafe_split unsafe_split_with_sizes"),
    "ops.shape.split_by_axis": "dsplit hsplit vsplit",
    "ops.shape.storages": "is_storage",
    "ops.shape.unfold": "channel_shuffle pixel_shuffle pixel_unshuffle",
    "ops.shape.view": (
        "broadcast_to expand expand_as flatten moveaxis movedim permute ravel reshape reshape_as "
        "squeeze squeeze_ swapaxes swapdims t t_ transpose transpose_ unflatten unsqueeze "
        "unsqueeze_ view view_as"),
}

#: Methods and properties that tensors get from layers above.
METHODS = {
    "autograd.backward": "backward",
    "autograd.variable": "volatile",
    "ops.creation.create": "new_tensor",
    "ops.creation.create_like": "new_empty new_empty_strided new_full new_ones new_zeros",
    "ops.creation.legacy": "new",
    "ops.creation.tensor_options": "layout",
    "ops.indexing.gather": (
        "gather index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_select "
        "take_along_dim"),
    "ops.indexing.index": "__getitem__ __setitem__ index_put index_put_",
    "ops.indexing.masked": (
        "argwhere masked_scatter masked_scatter_ masked_select nonzero nonzero_static put put_ "
        "take"),
    "ops.indexing.scatter": "scatter scatter_ scatter_add scatter_add_",
    "ops.indexing.scatter_reduce": "index_reduce index_reduce_ scatter_reduce scatter_reduce_",
    "ops.indexing.view_scatter": "as_strided_scatter diagonal_scatter select_scatter slice_scatter",
    "ops.info": "is_nonzero is_signed",
    "ops.linalg.addmm": "addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_",
    "ops.linalg.decompositions": "cholesky det inverse logdet qr slogdet",
    "ops.linalg.householder": "geqrf orgqr ormqr",
    "ops.linalg.lu": "lu lu_solve",
    "ops.linalg.matmul": "__matmul__ __rmatmul__ bmm dot matmul mm mv",
    "ops.linalg.products": "cross kron linalg_matrix_power matrix_power trace",
    "ops.linalg.removed": "eig lstsq solve symeig",
    "ops.linalg.renorm": "renorm renorm_",
    "ops.linalg.solve_ex": "matrix_exp",
    "ops.linalg.svd_eigh": "pinverse svd",
    "ops.linalg.triangular": "cholesky_inverse cholesky_solve triangular_solve",
    "ops.linalg.vector_products": "ger inner outer vdot",
    "ops.math.arithmetic": (
        "__add__ __iadd__ __imul__ __isub__ __itruediv__ __mul__ __neg__ __radd__ __rmul__ "
        "__sub__ __truediv__ add add_ mul mul_ multiply multiply_ neg neg_ negative negative_ sub "
        "sub_ subtract subtract_"),
    "ops.math.arithmetic_variants": (
        "__rdiv__ __rsub__ __rtruediv__ addcdiv addcdiv_ addcmul addcmul_ reciprocal reciprocal_"),
    "ops.math.bessel": "i0 i0_",
    "ops.math.clamp_where_fill": (
        "clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ copy_ fill_ lerp lerp_ "
        "masked_fill masked_fill_ where zero_"),
    "ops.math.comparison": (
        "__and__ __eq__ __ge__ __gt__ __iand__ __ilshift__ __invert__ __ior__ __irshift__ "
        "__ixor__ __le__ __lshift__ __lt__ __ne__ __or__ __rand__ __rlshift__ __ror__ __rrshift__ "
        "__rshift__ __rxor__ __xor__ allclose bitwise_and bitwise_and_ bitwise_left_shift "
        "bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift "
        "bitwise_right_shift_ bitwise_xor bitwise_xor_ eq eq_ equal ge ge_ greater greater_ "
        "greater_equal greater_equal_ gt gt_ heaviside heaviside_ isclose isfinite isinf isnan "
        "isneginf isposinf le le_ less less_ less_equal less_equal_ logical_and logical_and_ "
        "logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ lt lt_ ne ne_ "
        "not_equal not_equal_ signbit"),
    "ops.math.division": (
        "__floordiv__ __ifloordiv__ __imod__ __mod__ __rfloordiv__ __rmod__ div div_ divide "
        "divide_ floor_divide floor_divide_ fmod fmod_ remainder remainder_ true_divide "
        "true_divide_"),
    "ops.math.exp_log": "exp exp_ log log_ sigmoid sigmoid_ tanh tanh_",
    "ops.math.exp_log_variants": (
        "exp2 exp2_ expm1 expm1_ log10 log10_ log1p log1p_ log2 log2_ logaddexp logaddexp2 logit "
        "logit_ xlogy xlogy_"),
    "ops.math.fmax_fmin": "fmax fmin",
    "ops.math.integers": "frexp gcd gcd_ lcm lcm_",
    "ops.math.maximum": "maximum minimum",
    "ops.math.pow": (
        "__ipow__ __pow__ __rpow__ float_power float_power_ pow pow_ rsqrt rsqrt_ square square_"),
    "ops.math.powers": "sqrt sqrt_",
    "ops.math.python_calls": "apply_ map2_ map_",
    "ops.math.real_numbers": (
        "angle conj conj_physical conj_physical_ imag is_conj is_neg isreal real resolve_conj "
        "resolve_neg"),
    "ops.math.rounding": (
        "__abs__ __pos__ abs abs_ absolute absolute_ ceil ceil_ fix fix_ floor floor_ frac frac_ "
        "positive round round_ sgn sgn_ sign sign_ trunc trunc_"),
    "ops.math.special_functions": (
        "copysign copysign_ digamma digamma_ erf erf_ erfc erfc_ erfinv erfinv_ igamma igamma_ "
        "igammac igammac_ lgamma lgamma_ mvlgamma mvlgamma_ nan_to_num nan_to_num_ nextafter "
        "nextafter_ polygamma polygamma_"),
    "ops.math.trigonometric": (
        "acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ "
        "arctan arctan2 arctan2_ arctan_ arctanh arctanh_ asin asin_ asinh asinh_ atan atan2 "
        "atan2_ atan_ atanh atanh_ cos cos_ cosh cosh_ deg2rad deg2rad_ hypot hypot_ rad2deg "
        "rad2deg_ sin sin_ sinc sinc_ sinh sinh_ tan tan_"),
    "ops.nn.activation": "hardshrink prelu",
    "ops.nn.relu": "relu relu_",
    "ops.nn.softmax": "log_softmax softmax",
    "ops.random.distributions": "cauchy_ geometric_ log_normal_",
    "ops.random.sampling": "bernoulli bernoulli_ exponential_ multinomial normal_ random_ uniform_",
    "ops.reduction.all_or_along": "mean std sum var",
    "ops.reduction.any_all": "all any count_nonzero",
    "ops.reduction.covariance": "corrcoef cov",
    "ops.reduction.cumulative": (
        "cummax cummin cumprod cumprod_ cumsum cumsum_ diff logcumsumexp prod"),
    "ops.reduction.histogram": "histogram",
    "ops.reduction.minmax": (
        "amax amin aminmax argmax argmin kthvalue max median min mode nanmedian"),
    "ops.reduction.nan_sums": "nanmean nansum",
    "ops.reduction.norms": "dist norm",
    "ops.reduction.quantile": "nanquantile quantile",
    "ops.reduction.sorting": "argsort bincount histc msort sort topk unique unique_consecutive",
    "ops.reduction.vector_norm": "logsumexp",
    "ops.shape.as_strided": (
        "H T _node_for adjoint as_strided as_strided_ detach detach_ mH mT resize_ resize_as_ "
        "set_ swapaxes_ swapdims_"),
    "ops.shape.concat": "diag diag_embed diagflat repeat repeat_interleave sum_to_size tile",
    "ops.shape.convert": (
        "bfloat16 bool byte char clone contiguous cpu cuda double float half int is_contiguous "
        "long pin_memory short to type type_as"),
    "ops.shape.diagonals_and_sizes": "dim_order fill_diagonal_ is_pinned is_same_size",
    "ops.shape.flip_roll": "flip fliplr flipud roll rot90 tril tril_ triu triu_",
    "ops.shape.resized": "resize resize_as",
    "ops.shape.slicing": (
        "chunk diagonal narrow narrow_copy select split split_with_sizes tensor_split unbind "
        "unfold unsafe_chunk unsafe_split unsafe_split_with_sizes"),
    "ops.shape.split_by_axis": "dsplit hsplit vsplit",
    "ops.shape.storages": (
        "_make_subclass as_subclass is_shared share_memory_ storage untyped_storage"),
    "ops.shape.view": (
        "broadcast_to expand expand_as flatten moveaxis movedim permute ravel reshape reshape_as "
        "squeeze squeeze_ swapaxes swapdims t t_ transpose transpose_ unflatten unsqueeze "
        "unsqueeze_ view view_as"),
}
