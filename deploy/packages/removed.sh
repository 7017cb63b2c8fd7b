#!/bin/sh
# After files were removed. Only dpkg knows purge; with rpm the journal stays.
set -e
if [ "$1" = purge ]; then
	rm -rf /var/lib/private/riskdex /var/lib/riskdex /etc/riskdex
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
