#!/bin/sh
# After files were removed. Only dpkg knows purge; with rpm the journal stays. Backups always do, and
# so does the user, who owns them.
set -e
if [ "$1" = purge ]; then
	rm -rf /var/lib/riskdex /etc/riskdex
fi
if [ "$1" = purge ] || [ "$1" = 0 ]; then
	rmdir --ignore-fail-on-non-empty -- /etc/riskdex/credentials /etc/riskdex /var/backups/riskdex 2>/dev/null || :
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
