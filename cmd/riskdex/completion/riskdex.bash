# Completes riskdex in bash. It asks the program itself, so that it fits its version.
_riskdex() {
	local IFS=$'\n'
	COMPREPLY=($("$1" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _riskdex riskdex
