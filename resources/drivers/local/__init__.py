"""The driver for one machine: real processes, isolated by namespaces, adopted again after a restart."""
