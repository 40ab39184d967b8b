#!/bin/sh
# src/jinja against Jinja2, set up as transformers does it: every template of the shared folder with
# a battery of conversations, small templates about one rule each, random ones, and the characters.
. "$(dirname "$0")/venv.sh" || exit 0
exec "$PYTHON" -B -W ignore tests/oracle/jinja.py "$E3_BUILD/oracle/jinja_render" "$E3_SHARED/templates"
