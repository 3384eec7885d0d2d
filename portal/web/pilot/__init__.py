"""The smallest pilot (R-46): one pool, one team with two projects, a training and an inference template."""

from portal.web.pilot.apply import Applied, apply_pilot, planned
from portal.web.pilot.plan import Pilot, Step

__all__ = ["Applied", "Pilot", "Step", "apply_pilot", "planned"]
