"""The detached process that owns one member of a workload from its start to its exit record.

It lives on when the portal dies. Standard library only and run with `python -I -S`, so that it starts fast and
depends on nothing that an upgrade of the portal may change under it.
"""
