"""A fake kubelet: it plays the nodes and pods that annotations describe, and runs nothing."""
