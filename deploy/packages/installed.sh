#!/bin/sh
# After files were unpacked: configure and the version before (dpkg), or how many versions
# are installed now (rpm).
set -e
systemd-sysusers riskdex.conf
systemd-tmpfiles --create riskdex.conf
if [ "$1" = configure ] && [ -z "$2" ] || [ "$1" = 1 ]; then
	echo "riskdex: the settings are in /etc/riskdex/riskdex.env. Start it: systemctl enable --now riskdex"
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart riskdex.service # the new version, if the old one runs
fi
