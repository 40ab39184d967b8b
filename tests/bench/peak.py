"""Runs a command; prints its seconds and its largest resident size."""

import resource
import subprocess
import sys
import time

start = time.monotonic()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{time.monotonic() - start:.2f} s, {used.ru_utime + used.ru_stime:.2f} s of CPU, peak {used.ru_maxrss / 1024:.1f} MiB")
