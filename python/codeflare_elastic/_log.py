import sys

_said = set()


def log(text):
    print(f"codeflare_elastic: {text}", file=sys.stderr, flush=True)


def log_once(text):
    if text not in _said:
        _said.add(text)
        log(text)
