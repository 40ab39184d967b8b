#!/bin/sh
# Values as Python's own json module reads and writes them.
exec python3 tests/oracle/values.py "$E3_BUILD/oracle/json_echo"
