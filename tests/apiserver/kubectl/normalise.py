"""Masks what may differ between two runs of the same command on two good servers: identities, times, addresses, chance."""

import re

MASKS = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "TIME"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4}( UTC)?( m=[+-][0-9.]+)?", "TIME"),
    (r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
    # klog: severity and date, time, process, source line
    (r"(?m)^([EWI])\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ ([\w.]+):\d+\]", r"\1 \2]"),
    (r'(resourceVersion\\?"?: ?)\\?"\d+\\?"', r"\1RV"),
    (r"\bResource ?[vV]ersion: +\d+", "Resource Version: RV"),
    # Entries are in the order of their times, and whether two share a second is chance.
    (r'\\"managedFields\\":\[[^\]]*\]', r'\\"managedFields\\":[FIELDS]'),
    (r"-----BEGIN ([A-Z ]+)-----[^-]*-----END \1-----", r"PEM \1"),
    (r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]*", "PEM"),
    (r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+", "TOKEN"),
    (r"\b10\.(9[6-9]|10\d|11[01])\.\d+\.\d+\b", "CLUSTER-IP"),
    (r"\b3[0-2]\d{3}\b", "NODE-PORT"),
    (r"\b(gen-|kube-api-access-)[bcdfghjklmnpqrstvwxz2456789]{5}\b", r"\1RANDOM"),
    (r"/(LIVE|MERGED)-\d+", r"/\1-N"),
    (r"JTI=[0-9a-f-]+", "JTI=N"),
]
MASKS = [(re.compile(pattern), mask) for pattern, mask in MASKS]
AGE = re.compile(r"(?<![\w.-])((\d+y)?(\d+d)?(\d+h)?(\d+m)?\d+s|(\d+y)?(\d+d)?\d+h(\d+m)?|(\d+y)?\d+d|\d+y)(?![\w.-])")
# Also a quantity of CPU: minutes only in a table that has ages.
MINUTES = re.compile(r"(?<![\w.-])\d+m(?![\w.-])")
TABLE_WITH_AGES = re.compile(r"\A(NAME|LAST SEEN|NAMESPACE|EVENT)\b.*(AGE|SEEN)")


def normalise(text, recording):
    text = text.replace(recording["server"], "https://SERVER").replace(recording["folder"], "FOLDER")
    text = text.replace(recording["server"].removeprefix("https://"), "SERVER")
    text = re.sub(rf"\b{recording['server'].rpartition(':')[2]}\b", "SERVER-PORT", text)
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    lines = []
    ages = TABLE_WITH_AGES.match(text) is not None
    for line in text.expandtabs(2).splitlines():
        line = AGE.sub("AGE", line)
        line = MINUTES.sub("AGE", line) if ages else line
        body = line.lstrip(" ")
        # The width of a column follows from what is masked in it.
        lines.append(line[: len(line) - len(body)] + re.sub(r" {2,}", "  ", body).rstrip())
    return lines
