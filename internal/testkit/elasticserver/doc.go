// Package elasticserver runs a real Elasticsearch on this machine, for development and
// tests, without a container engine.
//
// The server is the one that Elastic publishes on Maven Central. It comes with few
// modules, so a small plugin (folder plugin) adds the text analysis of a released
// Elasticsearch that riskdex uses; it is compiled for each version. When an index is created, the plugin refuses
// everything that it does not support.
//
// Everything fetched, unpacked and built is kept in .local at the root of the module, and
// made only once, even if several processes need it at the same time. Each server has a
// home folder with its data, configuration and log, so that many can run side by side.
//
// Elasticsearch refuses to run as root. For root it runs as another account, and folders
// that this account cannot reach, as in a clone that only root may enter, are replaced by
// folders in /var/tmp.
package elasticserver
