package indexer

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/elastic/go-elasticsearch/v8"
)

// NewClient returns a client for the Elasticsearch at address. It reaches for
// the server only when it is used.
func NewClient(address string) (*elasticsearch.Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("the address of Elasticsearch is no URL: write it like http://127.0.0.1:9200")
	}
	client, err := elasticsearch.NewClient(elasticsearch.Config{
		Addresses: []string{address},
		// Its own retries come at once and multiply ours, unseen by the metrics.
		DisableRetry: true,
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConnsPerHost: 32,
			IdleConnTimeout:     90 * time.Second,
			ForceAttemptHTTP2:   true,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("make a client for Elasticsearch: %w", err)
	}
	return client, nil
}
