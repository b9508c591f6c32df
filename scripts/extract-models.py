#!/usr/bin/env python3
"""Extracts the shapes of the AWS operations that the sandbox answers from the installed botocore, without any prose.

    python3 scripts/extract-models.py            # writes src/sandbox/models/models.json.gz
    python3 scripts/extract-models.py --check    # exits 1 when the file does not name the operations of operations.txt

What is kept of a shape is what a server needs to read a request, check it, and build an answer.
"""

import gzip
import io
import json
import sys
from pathlib import Path

import botocore
from botocore.loaders import Loader

FOLDER = Path(__file__).resolve().parent.parent / "src" / "sandbox" / "models"
KEPT_OF_SHAPE = ("type", "required", "enum", "pattern", "min", "max", "flattened", "payload", "timestampFormat",
                 "streaming", "exception", "xmlNamespace", "wrapper")
KEPT_OF_MEMBER = ("shape", "location", "locationName", "queryName", "flattened", "streaming", "xmlNamespace", "xmlAttribute",
                  "timestampFormat", "idempotencyToken", "jsonvalue")
PROTOCOLS = ("ec2", "query", "json", "rest-json", "rest-xml")


def member(reference):
    return {key: reference[key] for key in KEPT_OF_MEMBER if key in reference}


def shape(whole):
    kept = {key: whole[key] for key in KEPT_OF_SHAPE if key in whole}
    if "members" in whole:
        kept["members"] = {name: member(reference) for name, reference in whole["members"].items()}
    if whole["type"] == "list":
        kept["member"] = member(whole["member"])
    if whole["type"] == "map":
        kept["key"], kept["value"] = member(whole["key"]), member(whole["value"])
    error = whole.get("error", {})
    for key in ("code", "httpStatusCode", "senderFault"):
        if key in error:
            kept.setdefault("error", {})[key] = error[key]
    return kept


def references(whole):
    for reference in whole.get("members", {}).values():
        yield reference["shape"]
    for key in ("member", "key", "value"):
        if key in whole:
            yield whole[key]["shape"]


def protocol(metadata):
    if metadata["protocol"] in PROTOCOLS:
        return metadata["protocol"]
    return next(name for name in metadata["protocols"] if name in PROTOCOLS)


def service(name, operations):
    model = Loader().load_service_model(name, "service-2")
    metadata = model["metadata"]
    out = {
        "protocol": protocol(metadata),
        "apiVersion": metadata["apiVersion"],
        "endpointPrefix": metadata["endpointPrefix"],
        "signingName": metadata.get("signingName", metadata["endpointPrefix"]),
        "operations": {},
        "shapes": {},
    }
    for key in ("targetPrefix", "jsonVersion", "xmlNamespace"):
        if key in metadata:
            out[key] = metadata[key]
    todo = []
    for operation in operations:
        whole = model["operations"][operation]
        kept = {"method": whole["http"]["method"], "uri": whole["http"]["requestUri"]}
        if "responseCode" in whole["http"]:
            kept["status"] = whole["http"]["responseCode"]
        for side in ("input", "output"):
            if side in whole:
                kept[side] = whole[side]["shape"]
                todo.append(whole[side]["shape"])
                for key in ("resultWrapper", "locationName", "xmlNamespace"):
                    if key in whole[side]:
                        kept[side + key[0].upper() + key[1:]] = whole[side][key]
        errors = [error["shape"] for error in whole.get("errors", [])]
        if errors:
            kept["errors"] = errors
            todo.extend(errors)
        out["operations"][operation] = kept
    while todo:
        name = todo.pop()
        if name not in out["shapes"]:
            whole = model["shapes"][name]
            out["shapes"][name] = shape(whole)
            todo.extend(references(whole))
    out["shapes"] = dict(sorted(out["shapes"].items()))
    return out


def wanted():
    """`service: Operation Operation …`, one service a line; a line that begins with a blank goes on."""
    services = {}
    name = None
    for line in (FOLDER / "operations.txt").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line[0].isspace():
            name, line = line.split(":", 1)
        services.setdefault(name, []).extend(line.split())
    return {name: sorted(set(operations)) for name, operations in sorted(services.items())}


def main():
    path = FOLDER / "models.json.gz"
    services = wanted()
    if sys.argv[1:] == ["--check"]:
        have = json.loads(gzip.decompress(path.read_bytes()))["services"]
        missing = [f"{s}:{o}" for s, ops in services.items() for o in ops if o not in have.get(s, {}).get("operations", {})]
        extra = [f"{s}:{o}" for s, m in have.items() for o in m["operations"] if o not in services.get(s, [])]
        if missing or extra:
            sys.exit(f"{path.name} is stale: missing {missing}, extra {extra}")
        return
    models = {"botocore": botocore.__version__,
              "services": {name: service(name, operations) for name, operations in services.items()}}
    text = json.dumps(models, separators=(",", ":"), sort_keys=True).encode()
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, filename="", compresslevel=9) as out:
        out.write(text)
    path.write_bytes(buffer.getvalue())
    print(f"{sum(len(o) for o in services.values())} operations, {len(text)} bytes, {path.stat().st_size} compressed")


main()
