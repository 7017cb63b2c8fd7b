// Package elasticserver runs a real Elasticsearch on this machine, for development
// and tests, without a container engine.
//
// The server is the one that Elastic publishes on Maven Central. It comes with
// few modules, so a small plugin (folder plugin) supplies the text analysis
// that a released Elasticsearch has and that riskdex uses; what the plugin does
// not know is refused when an index is created, never done differently.
//
// What is fetched, unpacked and built is kept in .local at the root of the
// module and made once, also where several processes want it at the same time.
// Each server has a home folder with its data, configuration and log, so that
// many can run side by side.
//
// Elasticsearch refuses to run as root. For root it runs as another account, and
// folders that this account cannot reach, as in a clone that only root may
// enter, are replaced by folders in /var/tmp.
package elasticserver
