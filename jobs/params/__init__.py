"""Typed parameters of job templates: a JSON-Schema subset, its validation and its form. See README.md."""
