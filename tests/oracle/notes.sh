#!/bin/sh
# Renderings with notes taken of loops against those without: the unit test of the same name over
# more conversations than make check has time for: E3_NOTES_ROUNDS (40) a template, with the shared
# folder's 8,360 in all.
cd "$(dirname "$0")/../.." || exit 1
E3_NOTES_ROUNDS=${E3_NOTES_ROUNDS:-40} CMOCKA_MESSAGE_OUTPUT=TAP exec "$E3_BUILD/unit/test_jinja_notes"
