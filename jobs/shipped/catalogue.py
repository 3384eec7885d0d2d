"""The templates that come with the product: one per task type, together a chain on real bytes. Pure data.

Data processing makes a data set, training a checkpoint from it, fine-tuning another from that one, evaluation
a result, inference serves; batch and experiment stand alone. They compute on the CPU; devices that a job is
given are held, and seen by it, but not used by these programs.
"""

from collections.abc import Mapping
from pathlib import Path

from jobs.shipped.template import (
    GIB,
    HOUR_MS,
    MIB,
    MINUTE_MS,
    Range,
    Runtime,
    Template,
    artifact,
    boolean,
    choice,
    described,
    duration,
    integer,
    number,
    schema,
    words,
)

_PROGRAMS = Path(__file__).parent / "programs"
PROGRAMS: Mapping[str, Path] = {
    path.stem: path for path in sorted(_PROGRAMS.glob("*.py")) if not path.stem.startswith("portal_")
}
"""Program key -> file. Its folder belongs to it: programs import the `portal_` modules beside them."""

_LARGEST_SEED = 2**31 - 1
_SEED = described(
    integer(words("Seed", "随机种子"), 42, 0, _LARGEST_SEED),
    words("The same seed gives the same result.", "相同的种子得到相同的结果。"),
)
_STEPS = words("steps", "步")
_ROWS = words("rows", "行")
_SMALL_CPU = Range(500, 100, 16_000)
_SMALL_MEMORY = Range(512 * MIB, 256 * MIB, 16 * GIB)
_UP_TO_EIGHT_DEVICES = Range(0, 0, 8)
_DATASET = artifact(words("Data set", "数据集"), "dataset")
_TRAINED = {"checkpoint": "checkpoint", "metrics": "result"}

_DESCENT = {
    "steps": integer(words("Steps", "训练步数"), 2_000, 1, 10_000_000, _STEPS),
    "batch_size": integer(words("Batch size", "批大小"), 64, 1, 65_536, _ROWS),
    "learning_rate": number(words("Learning rate", "学习率"), 0.05, 0.000001, 10.0),
    "momentum": number(words("Momentum", "动量"), 0.9, 0.0, 0.999),
    "checkpoint_every": described(
        integer(words("Checkpoint every", "断点间隔"), 200, 1, 10_000_000, _STEPS),
        words(
            "A job that is stopped or loses its node goes on from its last checkpoint.",
            "任务被停止或节点失联后，从最近的断点继续。",
        ),
    ),
    "keep_checkpoints": integer(words("Checkpoints to keep", "保留断点数"), 3, 1, 100),
    "seed": _SEED,
}

DATA_PROCESSING = Template(
    slug="make-data-set",
    version=1,
    task_type="data_processing",
    title=words("Make a data set", "生成数据集"),
    description=words(
        "Writes a seeded data set for classification with held-out rows, its parts in parallel.",
        "按随机种子并行生成分类数据集的各个分片，并留出评测数据。",
    ),
    program="data_processing",
    params=schema(
        shape=choice(
            words("Shape", "数据形态"),
            two_moons=words("Two moons", "双月形"),
            linear=words("Linear with noise", "带噪声的线性"),
        ),
        rows=integer(words("Rows", "行数"), 20_000, 16, 10_000_000, _ROWS),
        features=integer(words("Features", "特征数"), 8, 2, 256),
        noise=number(words("Noise", "噪声"), 0.2, 0.0, 10.0),
        held_out_percent=integer(words("Held out", "留出比例"), 20, 1, 90, words("%", "%")),
        seed=_SEED,
    ),
    cpu_milli=_SMALL_CPU,
    memory_bytes=_SMALL_MEMORY,
    members=Range(2, 1, 64),
    gang=False,
    parallel=True,
    time_limit_ms=Range(30 * MINUTE_MS, MINUTE_MS, 6 * HOUR_MS),
    outputs={"dataset": "dataset"},
)

TRAINING = Template(
    slug="train-network",
    version=1,
    task_type="training",
    title=words("Train a network", "训练神经网络"),
    description=words(
        "Trains a small neural network on a data set. Members share each batch; a stopped job resumes at its step.",
        "在数据集上训练小型神经网络。多个成员分担每一批数据；停止后从断点所在的步数继续。",
    ),
    program="training",
    params=schema(
        required=("dataset",),
        dataset=_DATASET,
        hidden_units=integer(words("Hidden units", "隐藏单元数"), 32, 1, 4_096),
        **_DESCENT,
    ),
    cpu_milli=_SMALL_CPU,
    memory_bytes=_SMALL_MEMORY,
    devices=_UP_TO_EIGHT_DEVICES,
    members=Range(1, 1, 8),
    time_limit_ms=Range(HOUR_MS, MINUTE_MS, 24 * HOUR_MS),
    grace_ms=30_000,
    checkpoints=True,
    outputs=_TRAINED,
)

FINE_TUNING = Template(
    slug="fine-tune-network",
    version=1,
    task_type="fine_tuning",
    title=words("Fine-tune a network", "微调神经网络"),
    description=words(
        "Trains on from a checkpoint with a rate of its own; the first layer can be frozen.",
        "从已有断点出发，用单独的学习率继续训练，可冻结第一层。",
    ),
    program="fine_tuning",
    params=schema(
        required=("checkpoint", "dataset"),
        checkpoint=artifact(words("Start from checkpoint", "起始断点"), "checkpoint"),
        dataset=_DATASET,
        freeze_first_layer=boolean(words("Freeze the first layer", "冻结第一层"), default=True),
        **_DESCENT
        | {
            "steps": integer(words("Steps", "训练步数"), 500, 1, 10_000_000, _STEPS),
            "learning_rate": number(words("Learning rate", "学习率"), 0.01, 0.000001, 10.0),
        },
    ),
    cpu_milli=_SMALL_CPU,
    memory_bytes=_SMALL_MEMORY,
    devices=_UP_TO_EIGHT_DEVICES,
    members=Range(1, 1, 8),
    time_limit_ms=Range(HOUR_MS, MINUTE_MS, 24 * HOUR_MS),
    grace_ms=30_000,
    checkpoints=True,
    outputs=_TRAINED,
)

EVALUATION = Template(
    slug="evaluate-checkpoint",
    version=1,
    task_type="evaluation",
    title=words("Evaluate a checkpoint", "评测断点"),
    description=words(
        "Measures a checkpoint on held-out data; one record links model, data, metric and consumption.",
        "用留出数据评测断点；一条记录关联模型、数据、指标与资源消耗。",
    ),
    program="evaluation",
    params=schema(
        required=("checkpoint", "dataset"),
        checkpoint=artifact(words("Checkpoint", "断点"), "checkpoint"),
        dataset=_DATASET,
        split=choice(
            words("Rows to use", "使用的数据"),
            held_out=words("Held out", "留出数据"),
            train=words("Training rows", "训练数据"),
        ),
    ),
    cpu_milli=_SMALL_CPU,
    memory_bytes=_SMALL_MEMORY,
    time_limit_ms=Range(30 * MINUTE_MS, MINUTE_MS, 6 * HOUR_MS),
    outputs={"evaluation": "result"},
)

INFERENCE = Template(
    slug="serve-checkpoint",
    version=1,
    task_type="inference",
    title=words("Serve a checkpoint", "部署推理服务"),
    description=words(
        "Answers predictions over HTTP with a health check, for callers that have the project token.",
        "通过 HTTP 提供预测并带健康检查，调用方须持有项目令牌。",
    ),
    program="inference",
    params=schema(required=("checkpoint",), checkpoint=artifact(words("Checkpoint", "断点"), "checkpoint")),
    cpu_milli=Range(500, 100, 8_000),
    memory_bytes=_SMALL_MEMORY,
    devices=_UP_TO_EIGHT_DEVICES,
    members=Range(1, 1, 16),
    gang=False,
    parallel=True,
    grace_ms=20_000,
    end_rule="reservation",
    serves=True,
    health_path="/healthz",
    outputs={"service-*": "result"},
)

BATCH = Template(
    slug="run-operation",
    version=1,
    task_type="batch",
    title=words("Run an operation", "运行批处理操作"),
    description=words(
        "Repeats one operation of a fixed list on seeded bytes and checks every answer. No shell.",
        "对按种子生成的数据反复执行固定列表中的一种操作，并核对每次结果。不经过 shell。",
    ),
    program="batch",
    params=schema(
        operation=choice(
            words("Operation", "操作"),
            word_count=words("Count words (wc)", "统计单词（wc）"),
            sha256_sum=words("SHA-256 (sha256sum)", "SHA-256（sha256sum）"),
            matrix_multiply=words("Multiply matrices", "矩阵相乘"),
        ),
        size_mib=described(
            integer(words("File size", "文件大小"), 16, 1, 1_024, words("MiB", "MiB")),
            words("For the two commands.", "用于两个命令。"),
        ),
        matrix_size=described(
            integer(words("Matrix size", "矩阵阶数"), 512, 1, 8_192),
            words("For matrices: rows and columns.", "用于矩阵：行数与列数。"),
        ),
        duration=described(
            duration(words("Repeat for", "重复时长"), "10s", "1s", "12h"),
            words("At least one pass is made.", "至少执行一次。"),
        ),
        seed=_SEED,
    ),
    cpu_milli=_SMALL_CPU,
    memory_bytes=_SMALL_MEMORY,
    members=Range(1, 1, 64),
    gang=False,
    parallel=True,
    time_limit_ms=Range(30 * MINUTE_MS, MINUTE_MS, 24 * HOUR_MS),
    runtime=Runtime(commands=("wc", "sha256sum")),
    outputs={"result-*": "result"},
)

EXPERIMENT = Template(
    slug="open-session",
    version=1,
    task_type="experiment",
    title=words("Open a session", "开启实验会话"),
    description=words(
        "Holds a place to experiment in for a limited time, with heartbeats and a notes file.",
        "在限定时间内保留一份实验资源，定时输出心跳并保存笔记。",
    ),
    program="experiment",
    params=schema(
        time_to_live=described(
            duration(words("Time to live", "存活时长"), "30m", "1s", "8h"),
            words("The session ends by itself after this time.", "到时会话自动结束。"),
        ),
        heartbeat=duration(words("Heartbeat every", "心跳间隔"), "10s", "1s", "10m"),
        note={
            "type": "string",
            "maxLength": 2_000,
            "x-multiline": True,
            "default": "",
            "x-title": words("Notes", "笔记"),
            "x-description": words("Kept with the results.", "与结果一起保存。"),
        },
    ),
    cpu_milli=Range(500, 100, 8_000),
    memory_bytes=_SMALL_MEMORY,
    devices=_UP_TO_EIGHT_DEVICES,
    time_limit_ms=Range(HOUR_MS, MINUTE_MS, 8 * HOUR_MS + 5 * MINUTE_MS),
    end_rule="time_to_live",
    runtime=Runtime(packages=()),
    outputs={"notes": "result"},
)

TEMPLATES: tuple[Template, ...] = (
    DATA_PROCESSING, TRAINING, FINE_TUNING, EVALUATION, INFERENCE, BATCH, EXPERIMENT,
)  # fmt: skip
"""In the order of the chain. A changed template gets a higher version; published ones stay as they are."""
