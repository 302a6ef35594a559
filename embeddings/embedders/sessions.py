"""How ONNX Runtime is run here."""

import onnxruntime


def session_options() -> onnxruntime.SessionOptions:
    """One thread: the worker processes are the parallelism, and a waiting session must not burn a core."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_mem_pattern = False  # a plan is kept for every length of input
    options.log_severity_level = 3
    return options
