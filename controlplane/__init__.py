"""A real Kubernetes control plane on loopback, with fake nodes and scripted faults: for tests and for trying things.

No part of the product: nothing in the portal imports it.
"""
