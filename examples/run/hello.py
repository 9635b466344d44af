"""A job that says who it is: codeflare run --dir examples/run -- python3 hello.py"""

import os

print(f"hello from rank {os.environ.get('RANK', 0)} of {os.environ.get('WORLD_SIZE', 1)}")
