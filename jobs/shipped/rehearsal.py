"""Templates for simulated clusters: one per task type, to try out the portal without hardware. Pure data.

Nothing is computed. How long such a job lasts and how it ends is said when it is submitted, or left to the habits of
the simulated cluster it runs on. Its runtime is declared for simulated clusters only, so it can run nowhere else.
"""

from typing import Any

from jobs.shipped.template import (
    GIB,
    HOUR_MS,
    MINUTE_MS,
    NO_DEVICES,
    ONE_MEMBER,
    EndRule,
    Range,
    Runtime,
    Template,
    Words,
    choice,
    described,
    duration,
    schema,
    words,
)

DRIVER = "simulated"
PROGRAM = "rehearsal"
_RUNTIME = Runtime(python="", packages=(), driver=DRIVER)
_LIMIT = Range(24 * HOUR_MS, MINUTE_MS, 14 * 24 * HOUR_MS)
_CPU = Range(4_000, 100, 128_000)
_MEMORY = Range(16 * GIB, GIB // 2, 1_024 * GIB)
_ABOUT = words(
    "A rehearsal on simulated nodes: it holds what it is given and computes nothing.",
    "在模拟节点上演练：占用所分配的资源，不做任何计算。",
)

ENDS = choice(
    words("Ends", "结束方式"),
    habit=words("As such jobs usually do", "按该类任务的常态"),
    success=words("With success", "成功"),
    error=words("With an error of the program", "程序出错"),
    out_of_memory=words("Out of memory", "内存超限"),
    start_failed=words("It cannot be started", "无法启动"),
    never_started=words("It is never up", "始终未就绪"),
)


def _lasts(default: str) -> dict[str, Any]:
    return described(
        duration(words("Lasts", "持续时间"), default, "1s", "10d"),
        words("On the simulated cluster's clock.", "按模拟集群的时钟计。"),
    )


def _template(
    slug: str,
    task_type: str,
    title: Words,
    *,
    lasts: str,
    devices: Range = NO_DEVICES,
    members: Range = ONE_MEMBER,
    gang: bool = True,
    parallel: bool = False,
    end_rule: EndRule = "time_limit",
    limit: Range | None = _LIMIT,
    checkpoints: bool = False,
) -> Template:
    serves = end_rule == "reservation"
    own = "time_to_live" if end_rule == "time_to_live" else "lasts"
    properties: dict[str, Any] = {"ends": ENDS} if serves else {own: _lasts(lasts), "ends": ENDS}
    return Template(
        slug=slug,
        version=1,
        task_type=task_type,
        title=title,
        description=_ABOUT,
        program=PROGRAM,
        params=schema(**properties),
        cpu_milli=_CPU,
        memory_bytes=_MEMORY,
        devices=devices,
        members=members,
        gang=gang,
        parallel=parallel,
        time_limit_ms=limit,
        end_rule=end_rule,
        checkpoints=checkpoints,
        serves=serves,
        health_path="/healthz" if serves else "",
        runtime=_RUNTIME,
    )


TEMPLATES: tuple[Template, ...] = (
    _template(
        "rehearse-data-processing",
        "data_processing",
        words("Process data (rehearsal)", "数据处理（演练）"),
        lasts="20m",
        members=Range(4, 1, 64),
        gang=False,
        parallel=True,
    ),
    _template(
        "rehearse-training",
        "training",
        words("Train (rehearsal)", "训练（演练）"),
        lasts="2h",
        devices=Range(0, 0, 16),
        members=Range(1, 1, 16),
        checkpoints=True,
    ),
    _template(
        "rehearse-fine-tuning",
        "fine_tuning",
        words("Fine-tune (rehearsal)", "微调（演练）"),
        lasts="1h",
        devices=Range(0, 0, 16),
        members=Range(1, 1, 4),
        checkpoints=True,
    ),
    _template(
        "rehearse-evaluation",
        "evaluation",
        words("Evaluate (rehearsal)", "评测（演练）"),
        lasts="10m",
        devices=Range(0, 0, 8),
    ),
    _template(
        "rehearse-inference",
        "inference",
        words("Serve (rehearsal)", "推理服务（演练）"),
        lasts="",
        devices=Range(0, 0, 8),
        members=Range(1, 1, 16),
        gang=False,
        parallel=True,
        end_rule="reservation",
        limit=None,
    ),
    _template(
        "rehearse-batch",
        "batch",
        words("Run a batch (rehearsal)", "批处理（演练）"),
        lasts="15m",
        devices=Range(0, 0, 8),
        members=Range(1, 1, 64),
        gang=False,
        parallel=True,
    ),
    _template(
        "rehearse-session",
        "experiment",
        words("Hold a session (rehearsal)", "实验会话（演练）"),
        lasts="1h",
        devices=Range(0, 0, 8),
        end_rule="time_to_live",
        limit=Range(HOUR_MS, MINUTE_MS, 10 * 24 * HOUR_MS + 5 * MINUTE_MS),
    ),
)
