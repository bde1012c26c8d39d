#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""schema.py SCHEMA FILE...: does each FILE, of one JSON document or of one in each line, follow the schema?

Prints the first thing that is wrong with a file. Exit status 1: one does not follow; 77: there is no validator.
"""
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("needs python3-jsonschema 4.0 or newer", file=sys.stderr)
    sys.exit(77)


def documents(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    bad = 0
    for path in sys.argv[2:]:
        found = documents(path)
        for error in [e for d in found for e in validator.iter_errors(d)][:1]:
            print(f"{path}: {error.json_path}: {error.message[:300]}")
            bad += 1
        if not found:
            print(f"{path}: empty")
            bad += 1
    sys.exit(1 if bad else 0)


main()
