"""A cluster that only pretends: nodes, devices and workloads whose whole course follows from what was asked and when.

Nothing ticks. What a workload does is settled when it is applied (`behaviour`), bent by stops and `faults`, laid out
on a line of time (`timeline`) and read off that line at any moment (`world`). `store` keeps what was asked, in memory
or on disk; `driver` is the adapter. All but the stores and the loading of a fleet is pure.
"""
