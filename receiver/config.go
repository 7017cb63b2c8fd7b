package receiver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/trace"

	"riskdex/receiver/auth"
	"riskdex/report"
)

// Config says under which paths the receiver accepts deliveries, how it reads payloads, and its
// limits. Begin with [DefaultConfig]: MaxBody has no other default.
type Config struct {
	// Prefix is the path before every collection, such as `/api/v1`, or empty.
	Prefix string

	// MaxBody is the largest body in bytes, after decompression.
	MaxBody int64

	// BodyMemory is the memory for all bodies together, in bytes; the first 16 KiB of each request
	// do not count. It is at least twice MaxBody; 0 means what the process may take (body.DefaultSize).
	BodyMemory int64

	// IDs are the JSON pointers to the id of a record, by kind, in the order in which they are
	// tried: the first with a number or a non-empty text is used. For kinds without any, the
	// usual pointers are tried, and for a city without an id there, those to its code.
	IDs map[report.Kind][]string

	// Codes are the JSON pointers to a city's three-letter code; nil means the usual ones.
	Codes []string

	// Records are JSON pointers to the records in a payload, by kind. They are tried first;
	// otherwise the receiver looks where the content is.
	Records map[report.Kind][]string

	// MaxRate is the number of deliveries per second that a sender may make; 0 means no limit.
	// Senders are distinguished by their credentials, or else by their addresses.
	MaxRate float64

	// Tracer, if not nil, makes a span for every request. The changes of the delivery carry its
	// trace.
	Tracer trace.Tracer

	// Authenticator decides whose deliveries are accepted; nil means everybody's.
	Authenticator *auth.Authenticator

	// Ready, if not nil, returns why deliveries cannot be accepted now, and nil if they can. /readyz
	// is answered from it.
	Ready func() error

	// Await, if not nil, is called for deliveries whose sender prefers to wait until a search
	// shows them (RFC 7240).
	Await Await

	// Observe, if not nil, is called with every answer before it is sent. It may be called
	// concurrently.
	Observe func(report.Answered)
}

// DefaultConfig returns a Config with the default limits, which finds records, ids and codes where
// comparable feeds have them.
func DefaultConfig() Config {
	return Config{
		MaxBody: 64 << 20,
	}
}

// usualIDs are the pointers at which comparable feeds have an id.
func usualIDs(kind report.Kind) []string {
	own := map[report.Kind][]string{
		report.Cities:         {"/city_id", "/cityId"},
		report.Advisories:     {"/advisory_id", "/advisoryId"},
		report.SpecialReports: {"/special_report_id", "/specialReportId", "/report_id", "/reportId"},
	}
	return slices.Concat([]string{"/id", "/_id", "/uuid", "/guid"}, own[kind], []string{"/attributes/id"})
}

// usualCodes are those at which they have the code of a city.
func usualCodes() []string {
	return []string{
		"/code", "/city_code", "/cityCode", "/iata_code", "/iataCode", "/iata", "/attributes/code",
	}
}

// parsePointers returns texts as JSON pointers (RFC 6901), or an error that says which is none
// or points to the whole.
func parsePointers(texts []string) ([]jsontext.Pointer, error) {
	parsed := make([]jsontext.Pointer, 0, len(texts))
	for _, text := range texts {
		if text == "" || !jsontext.Pointer(text).IsValid() {
			return nil, fmt.Errorf("%q is not a JSON pointer to a member: write it like /id or /data/id (RFC 6901)", text)
		}
		parsed = append(parsed, jsontext.Pointer(text))
	}
	return parsed, nil
}

// parsePrefix returns the path prefix without a slash at its end, in the
// encoding that canonicalPath gives to the paths of requests.
func parsePrefix(prefix string) (string, error) {
	trimmed := strings.Trim(prefix, "/")
	if trimmed == "" {
		return "", nil
	}
	canonical, err := canonicalPath("/" + trimmed)
	if err != nil || strings.ContainsAny(canonical, ":*?#") {
		return "", fmt.Errorf("the path prefix %q is not a plain path: write it like /api/v1", prefix)
	}
	return canonical, nil
}
