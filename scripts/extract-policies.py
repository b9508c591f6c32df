#!/usr/bin/env python3
"""Extracts the policies that AWS publishes from the installed moto: path, default version and document of each, by name.

    python3 scripts/extract-policies.py          # writes src/sandbox/models/policies.json.gz

Documents are kept of what a cluster, its nodes and its operators use; of the others, that they exist.
"""

import gzip
import io
import json
import re
from pathlib import Path

from moto.iam.aws_managed_policies import aws_managed_policies_data

FILE = Path(__file__).resolve().parent.parent / "src" / "sandbox" / "models" / "policies.json.gz"
USED = re.compile("EKS|EC2Container|EBSCSI|EFSCSI|SSMManagedInstance|CloudWatchAgent|^Administrator|^PowerUser|AmazonS3|AmazonFSx|"
                  "^AmazonEC2(Full|ReadOnly)|^IAM|SQSFull|EventBridgeFull|CloudWatchLogs|AutoScalingFull|ElasticLoadBalancing")

found = json.loads(aws_managed_policies_data)
kept = {}
for name, policy in sorted(found.items()):
    kept[name] = {"path": policy["Path"], "version": policy["DefaultVersionId"]}
    if USED.search(name):
        kept[name]["document"] = policy["Document"]
text = json.dumps(kept, separators=(",", ":"), sort_keys=True).encode()
packed = io.BytesIO()
with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as out:
    out.write(text)
FILE.write_bytes(packed.getvalue())
print(f"{len(kept)} policies, {len(text)} bytes, {len(packed.getvalue())} packed")
