#!/bin/sh
# Before files are removed: remove (dpkg), or how many versions are left then (rpm). In an
# upgrade riskdex runs on until the new one is there.
set -e
if [ "$1" = remove ] || [ "$1" = 0 ]; then
	if [ -d /run/systemd/system ]; then
		systemctl disable --now riskdex-backup.timer riskdex.service
	elif command -v systemctl >/dev/null; then
		systemctl disable riskdex-backup.timer riskdex.service
	fi
fi
