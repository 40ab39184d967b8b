# bash for tests of records
#
# holds FILTER [FILE...]: there is a record, and the filter is true of each; with -s before it, of all
# in one array. (jq -e looks at the last only, and is content with none.)
holds() {
	local got

	got=$(jq "$@") && [ "$(sort -u <<<"$got")" = true ] && return
	echo "holds $*: $got"
	return 1
}
