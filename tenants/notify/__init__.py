"""What people are told of: which events there are, who hears of each, and its words."""
