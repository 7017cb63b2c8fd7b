#compdef riskdex
# Completes riskdex in zsh. It asks the program itself, so that it fits its version.
_riskdex() {
	local line
	local -a found
	for line in "${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		[[ -n $line ]] && found+=("${line/$'\t'/:}")
	done
	if (( ${#found} )); then
		_describe riskdex found
	else
		_files
	fi
}
if [[ $funcstack[1] == _riskdex ]]; then
	_riskdex "$@"
else
	compdef _riskdex riskdex
fi
