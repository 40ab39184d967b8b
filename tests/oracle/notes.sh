#!/bin/sh
# Renderings with notes taken of loops against those without: the unit test of the same name over
# more conversations than make check has time for, 20,900 with the shared folder's templates.
cd "$(dirname "$0")/../.." || exit 1
E3_NOTES_ROUNDS=${E3_NOTES_ROUNDS:-100} CMOCKA_MESSAGE_OUTPUT=TAP exec "$E3_BUILD/unit/test_jinja_notes"
