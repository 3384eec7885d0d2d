"""Templates for Kubernetes clusters, published once such a cluster is attached. Pure data.

They run in the image of a runtime that is declared for Kubernetes, by a fixed command that needs a POSIX shell only.
"""

from jobs.shipped.template import GIB, HOUR_MS, MINUTE_MS, Range, Runtime, Template, schema, words

DRIVER = "kubernetes"
# Each line is a fact an operator wants to see of a node before jobs of others run there.
_CHECK = """set -eu
echo "member $PORTAL_INDEX of $PORTAL_COUNT"
uname -srm
id
echo "writes" > "$PORTAL_OUTPUT_DIR/check" && cat "$PORTAL_OUTPUT_DIR/check"
for name in nvidia-smi npu-smi rocm-smi cnmon hy-smi mx-smi; do
  if command -v "$name" > /dev/null 2>&1; then "$name" || exit 1; fi
done
ls /dev
"""

TEMPLATES: tuple[Template, ...] = (
    Template(
        slug="check-container",
        version=1,
        task_type="batch",
        title=words("Check nodes in a container", "在容器中检查节点"),
        description=words(
            "Starts a container on the nodes, shows what it finds there, and ends. Devices it was given are listed by "
            "their vendor's own tool where the image has it.",
            "在节点上启动容器，显示其所见，然后结束。若镜像带有厂商工具，则列出所分配的设备。",
        ),
        program="",
        command=("sh", "-c", _CHECK),
        params=schema(),
        cpu_milli=Range(500, 100, 4_000),
        memory_bytes=Range(GIB // 2, GIB // 8, 8 * GIB),
        devices=Range(0, 0, 16),
        members=Range(1, 1, 64),
        gang=False,
        parallel=True,
        time_limit_ms=Range(10 * MINUTE_MS, MINUTE_MS, HOUR_MS),
        runtime=Runtime(python="", packages=(), driver=DRIVER),
    ),
)
