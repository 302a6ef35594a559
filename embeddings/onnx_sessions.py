"""How a local model's graph is run: embedders, rerankers and readers alike."""

import onnxruntime


def session_options() -> onnxruntime.SessionOptions:
    """Allow one thread: worker processes are the parallelism, and a waiting session must not burn a core."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Without VNNI, products of 8 bits overflow their 16, and vectors come out otherwise than elsewhere.
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.enable_mem_pattern = False  # a plan is kept for every length of input
    options.log_severity_level = 3
    return options
