"""What would have happened: recorded jobs replayed through the cycle itself, on another fleet or by other rules."""
