#!/bin/sh
# Has the running riskdex back up its journal into a directory on another disk, and keeps the
# newest seven backups. One of a damaged journal removes no older one.
set -eu
to=/var/backups/riskdex
journal=$(dirname "${RISKDEX_JOURNAL:-/var/lib/riskdex/riskdex.db}")
if [ "$(stat -c %d "$journal")" = "$(stat -c %d $to)" ]; then
	echo "riskdex: $to is on the disk of the journal ($journal) and would be lost with it. Mount another disk there, and restart riskdex." >&2
	exit 2
fi
riskdex backup "$to/riskdex-$(date -u +%Y%m%dT%H%M%SZ).db"
find $to -maxdepth 1 -name 'riskdex-????????T??????Z.db' | sort -r | tail -n +8 | xargs -r rm --
