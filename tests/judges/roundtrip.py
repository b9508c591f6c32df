#!/usr/bin/env python3
"""Sends one request an operation to the sandbox, serialised by AWS's own client library from AWS's own model.

    python3 tests/judges/roundtrip.py http://127.0.0.1:4566 [PREFIX…]     # PREFIX like `ec2:Describe`

Every operation of operations.txt is asked twice: with the least that its model requires, and with every member filled. The
sandbox may refuse what makes no sense, but it must know the operation, find nothing against the model, and answer in a form
that the library reads. Exits 1 when it does not.
"""

import datetime
import random
import re
import sys
from pathlib import Path
from re import _parser as sre

import botocore.session
from botocore.config import Config
from botocore.exceptions import ClientError

OPERATIONS = Path(__file__).resolve().parents[2] / "src" / "sandbox" / "models" / "operations.txt"
DEPTH = 4
# Refusals that say the sandbox does not know the operation …
UNKNOWN = {"InvalidAction", "UnknownOperationException", "UnknownOperation", "NotImplemented"}
# … or does not read what the library writes.
UNREAD = {"UnknownParameter", "MalformedInput", "SerializationException", "InternalFailure", "InternalError"}
AGAINST_THE_MODEL = re.compile(r"is not one of:|does not match the pattern|has the wrong type|must not be null"
                               r"|is below the minimum|is above the maximum")


def operations():
    service = None
    for line in OPERATIONS.read_text().splitlines():
        if line.startswith("#"):
            continue
        for word in line.split():
            if word.endswith(":"):
                service = word[:-1]
            else:
                yield service, word


def matching(pattern, chance):
    """A text that a pattern admits, by walking its parse tree."""

    def walk(tree):
        return "".join(step(op, argument) for op, argument in tree)

    def step(op, argument):
        name = str(op)
        if name == "LITERAL":
            return chr(argument)
        if name in ("ANY", "NOT_LITERAL"):
            return "a" if name == "ANY" or argument != ord("a") else "b"
        if name == "IN":
            return one_of(argument)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, inner = argument
            most = low + 3 if high == sre.MAXREPEAT else high
            return "".join(walk(inner) for _ in range(min(max(low, 1), most)))
        if name == "SUBPATTERN":
            return walk(argument[3])
        if name == "BRANCH":
            return walk(chance.choice(argument[1]))
        return ""

    def one_of(choices):
        found = []
        negated = False
        for op, argument in choices:
            name = str(op)
            if name == "NEGATE":
                negated = True
            elif name == "LITERAL":
                found.append(chr(argument))
            elif name == "RANGE":
                found.extend(chr(c) for c in range(argument[0], min(argument[1], argument[0] + 30) + 1))
            elif name == "CATEGORY":
                found.extend({"CATEGORY_DIGIT": "0123", "CATEGORY_WORD": "abc1", "CATEGORY_SPACE": " "}
                             .get(str(argument), "abcXYZ123-"))
        if negated:
            return chance.choice([c for c in "abcxyz0123-_/" if c not in found] or ["~"])
        plain = [c for c in found if c.isascii() and c.isalnum()]
        return chance.choice(plain or found)

    return walk(sre.parse(pattern))


def readable(pattern):
    try:
        re.compile(pattern)
    except re.error:
        return None
    return pattern


def text(shape, chance):
    if getattr(shape, "enum", None):
        return shape.enum[0]
    pattern, low = shape.metadata.get("pattern"), shape.metadata.get("min", 0)
    high = shape.metadata.get("max", 1 << 20)
    # Java's names of character classes, which Python does not have; what else it can't read is left to the sandbox.
    pattern = pattern and readable(re.sub(r"\\p\{[A-Za-z]+\}", "a", pattern))
    candidates = ["a" * max(low, 1), "abc-123", "1", "arn:aws:iam::123456789012:role/abc"]
    for attempt in range(200):
        candidate = candidates[attempt] if attempt < len(candidates) else matching(pattern, chance) if pattern else None
        if candidate is None:
            break
        if low <= len(candidate) <= high and (not pattern or re.fullmatch(pattern, candidate)):
            return candidate
    return candidates[0]


def value(shape, full, chance, depth=0):
    kind = shape.type_name
    if kind == "structure":
        members = shape.members.items()
        if getattr(shape, "is_tagged_union", False):
            members = list(members)[:1]
        wanted = {name for name, _ in members} if full and depth < DEPTH else set(shape.required_members)
        if getattr(shape, "is_tagged_union", False):
            wanted = {name for name, _ in members}
        return {name: value(member, full, chance, depth + 1) for name, member in members if name in wanted}
    if kind == "list":
        return [value(shape.member, full, chance, depth + 1) for _ in range(max(1, shape.metadata.get("min", 1)))]
    if kind == "map":
        return {value(shape.key, full, chance, depth + 1): value(shape.value, full, chance, depth + 1)}
    if kind == "boolean":
        return False
    if kind in ("integer", "long"):
        return int(shape.metadata.get("min", min(5, shape.metadata.get("max", 5))))
    if kind in ("float", "double"):
        return float(shape.metadata.get("min", 1))
    if kind == "timestamp":
        return datetime.datetime(2026, 12, 1, tzinfo=datetime.timezone.utc)
    if kind == "blob":
        return b"x"
    return text(shape, chance)


def judge(client, model, name, full):
    operation = model.operation_model(name)
    chance = random.Random(f"{model.service_name} {name} {full}")
    parameters = value(operation.input_shape, full, chance) if operation.input_shape else {}
    method = next(python for python, wire in client.meta.method_to_api_mapping.items() if wire == name)
    try:
        getattr(client, method)(**parameters)
    except ClientError as refusal:
        code, message = refusal.response["Error"].get("Code", ""), refusal.response["Error"].get("Message", "")
        status = refusal.response["ResponseMetadata"]["HTTPStatusCode"]
        if code in UNKNOWN:
            return "unknown", code
        if code in UNREAD or status >= 500 or AGAINST_THE_MODEL.search(message):
            return "misread", f"{code}: {message}"
        return "refused", f"{code}: {message}"
    except Exception as error:  # whatever the library can't send or read is what this script looks for
        return "misread", f"{type(error).__name__}: {error}"
    return "answered", ""


def main():
    endpoint, prefixes = sys.argv[1], sys.argv[2:]
    session = botocore.session.get_session()
    session.set_credentials("AKIAIOSFODNN7EXAMPLE", "secret")
    config = Config(retries={"max_attempts": 0}, s3={"addressing_style": "path"}, read_timeout=20,
                    inject_host_prefix=False)
    clients, counts, wrong = {}, {}, 0
    for service, name in operations():
        if prefixes and not any(f"{service}:{name}".startswith(prefix) for prefix in prefixes):
            continue
        if service not in clients:
            clients[service] = session.create_client(service, region_name="us-west-2", endpoint_url=endpoint,
                                                     config=config)
        for full in (False, True):
            verdict, why = judge(clients[service], session.get_service_model(service), name, full)
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict in ("unknown", "misread"):
                wrong += 1
                print(f"{verdict}: {service}:{name} ({'everything' if full else 'the least'}): {why}")
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
