# Completes riskdex in fish. It asks the program itself, so that it fits its version.
function __riskdex_complete
	set -l words (commandline -opc) "$(commandline -ct)"
	$words[1] complete -- $words[2..-1] 2>/dev/null
end
complete -c riskdex -n 'count (__riskdex_complete) >/dev/null' -f -a '(__riskdex_complete)'
