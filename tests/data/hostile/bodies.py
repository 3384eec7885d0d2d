"""What is no request body."""

from tests.data.hostile.case import Hostile

JSON = (
    Hostile(b"", "empty body"),
    Hostile(b"{", "ends too early"),
    Hostile(b"[]", "a list instead of an object"),
    Hostile(b"null", "null instead of an object"),
    Hostile(b'"text"', "text instead of an object"),
    Hostile(b"1", "number instead of an object"),
    Hostile(b"{'a': 1}", "single quotes"),
    Hostile(b'{"a": NaN}', "NaN"),
    Hostile(b'{"a": Infinity}', "Infinity"),
    Hostile(b'{"a": 1,}', "trailing comma"),
    Hostile(b'{"a": ' + b"9" * 5_000 + b"}", "5,000 digits: int() refuses with ValueError"),
    Hostile(b'{"a": "\xff\xfe"}', "not UTF-8"),
    Hostile(b"\xff\xfe{\x00}\x00", "UTF-16"),
    Hostile(b'{"a": "\\ud800"}', "lone surrogate: parses, cannot be stored"),
    Hostile(b'{"a": "\\u0000"}', "escaped NUL: parses, PostgreSQL refuses it"),
    Hostile(b"[" * 100_000 + b"]" * 100_000, "100,000 lists deep: RecursionError in the parser"),
    Hostile(b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "10,000 objects deep"),
    Hostile(b'{"a": "' + b"x" * 2_000_000 + b'"}', "2 MB"),
    Hostile(b"a: &a [x]\nb: [*a, *a]", "YAML with an alias"),
    Hostile(b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "XML with an entity"),
)
