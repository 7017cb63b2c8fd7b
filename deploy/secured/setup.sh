#!/usr/bin/env bash
# Makes what Elasticsearch and riskdex share when security is on: an authority, the
# certificate of Elasticsearch, and the user riskdex with its role and password. Once it has
# made all of it, it changes nothing.
#
#   setup.sh [FOLDER OF ELASTICSEARCH [FOLDER FOR RISKDEX]]
set -euo pipefail
umask 077
cd "${1:-/usr/share/elasticsearch}"
config=${ES_PATH_CONF:-config}/secured
secrets=${2:-/secrets}
# The users of the images; the group of Elasticsearch's is root's.
elasticsearch=${ELASTICSEARCH_OWNER:-1000:0}
riskdex=${RISKDEX_OWNER:-10001:10001}

[[ ! -e $secrets/complete || ! -e $config/complete ]] || exit 0

rm -rf "$config"
mkdir -p "$config"
bin/elasticsearch-certutil ca --silent --pem --days 3650 --out "$config/ca.zip"
unzip -q "$config/ca.zip" -d "$config"
bin/elasticsearch-certutil cert --silent --pem --days 3650 --name http \
  --dns elasticsearch,localhost --ip 127.0.0.1 \
  --ca-cert "$config/ca/ca.crt" --ca-key "$config/ca/ca.key" --out "$config/http.zip"
unzip -q "$config/http.zip" -d "$config"
mv "$config/http/http.crt" "$config/http/http.key" "$config/ca/ca.crt" "$config/"
rm -r "$config/ca" "$config/http" "$config"/*.zip # the authority's key too: it signs nothing more

password=$(head -c 24 /dev/urandom | base64 | tr '+/' '-_')
cat > "$config/../roles.yml" <<'ROLE'
riskdex:
  cluster: [monitor, manage_index_templates]
  indices:
    - names: ['cities*', 'advisories*', 'special-reports*', 'probe*', 'cluster-*']
      privileges: [read, write, manage]
ROLE
bin/elasticsearch-users userdel riskdex >/dev/null 2>&1 || true
bin/elasticsearch-users useradd riskdex -p "$password" -r riskdex

printf %s "$password" > "$secrets/password"
cp "$config/ca.crt" "$secrets/ca.crt"
chown -R "$riskdex" "$secrets"
chown -R "$elasticsearch" "$config/.."
touch "$secrets/complete" "$config/complete"
