package indexer_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
	"riskdex/search"
)

// largest is the default of --max-body.
const largest = 64 << 20

// filled returns a record of about n bytes with a title and a text of its own, and a
// member that is filled with elements.
func filled(n int, name, open string, element func(i int) string, end string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"title":"needle %s","introduction":"opening%s words",%s`, name, name, open)
	for i := 0; b.Len() < n-200; i++ {
		if i > 0 && end != `"}` {
			b.WriteByte(',')
		}
		b.WriteString(element(i))
	}
	b.WriteString(end)
	return b.String()
}

// TestLargeDocumentsKillNoServer: documents of the largest accepted size, in every shape
// that is expensive to index, harm neither a small Elasticsearch nor each other, and are
// found by their title and by their first words.
func TestLargeDocumentsKillNoServer(t *testing.T) {
	t.Parallel()
	server := elastictest.Start(t, elasticserver.Options{Heap: "512m"})
	set, err := mappings.Builtin() // whose analysis takes memory
	require.NoError(t, err)
	r := assembleOf(t, indexertest.Quick(), indexertest.Parts{Elasticsearch: server.URL(), Set: set})
	r.Run()
	deep := strings.Repeat("[", 900) + strings.Repeat("]", 900)
	pdf := strings.Repeat("JVBERi0xLjQKJcfsj6IKNSAwIG9iago8PC9MZW5ndGggNiAwIFIvRmls", 1<<10)
	shapes := map[string]string{
		"longtext": filled(largest, "longtext", `"text":"`, func(i int) string { return fmt.Sprintf("word%x ", i*7919) }, `"}`),
		"strings":  filled(largest, "strings", `"a":[`, func(i int) string { return fmt.Sprintf(`"string %d"`, i) }, `]}`),
		"aliases":  filled(17<<20, "aliases", `"aliases":[`, func(i int) string { return fmt.Sprintf(`"n%d"`, i) }, `]}`),
		"split":    filled(17<<20, "split", `"aliases":"`, func(i int) string { return fmt.Sprintf("m%d|", i) }, `"}`),
		"places":   filled(largest, "places", `"places":[`, func(i int) string { return fmt.Sprintf(`{"name":"place %d","lat":%d.5,"lng":1}`, i, i%90) }, `]}`),
		"deep":     filled(largest, "deep", `"a":[`, func(int) string { return deep }, `]}`),
		"wide":     filled(largest, "wide", `"a":{`, func(i int) string { return fmt.Sprintf(`"f%d":%d`, i, i) }, `}}`),
		"file":     filled(largest, "file", `"file":"`, func(int) string { return pdf }, `"}`),
	}
	for i := range 2 { // the largest that are kept whole, one after the other
		name := fmt.Sprintf("kept%d", i)
		shapes[name] = filled(4<<20-1000, name, `"a":{`, func(i int) string { return fmt.Sprintf(`"f%d":%d`, i, i) }, `}}`)
	}
	for name, body := range shapes {
		r.Append(indexertest.Index(report.Cities, name, body))
		r.Append(indexertest.Index(report.Cities, "beside "+name, `{"title":"small"}`), indexertest.Index(report.Advisories, "beside "+name, `{"title":"small"}`))
	}
	for deadline := time.Now().Add(5 * time.Minute); r.Stats().Kinds[report.Cities].Pending > 0 && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}
	r.Drained()
	r.WantCities(2*len(shapes), 0)
	for name := range shapes {
		for _, words := range []string{"needle " + name, "opening" + name} {
			body, err := r.Indices.Set.SearchBody(words, search.Query{})
			require.NoError(t, err)
			found, err := indices.Search(t.Context(), r.Indices.Client, []string{r.Indices.Alias(report.Cities)}, body)
			require.NoError(t, err)
			if len(found.Hits) == 0 || string(found.Hits[0].ID) != name {
				t.Errorf("%q finds %d documents, not %s first", words, len(found.Hits), name)
			}
		}
	}
	for _, field := range []string{"names", "places", "text", "source"} {
		if n := r.Metric("riskdex_fields_left_out_total", "kind", "cities", "field", field); n == 0 {
			t.Errorf("nothing says that %s was left out", field)
		}
	}
	// A search for everything returns it.
	response, err := http.Get(server.URL() + "/" + r.Indices.Alias(report.Cities) + "/_search?q=title:needle&size=20")
	require.NoError(t, err)
	defer response.Body.Close()
	n, err := io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("all documents at once: %d, %d bytes", response.StatusCode, n)
	}
	t.Logf("all documents at once: %d, %d MiB; %v attempts failed", response.StatusCode, n>>20, r.Metric("riskdex_failures_total"))
	select {
	case <-server.Done():
		t.Errorf("the server has died: %v", server.Err())
	default:
	}
}
