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

// Config says where the receiver is and how it reads payloads. The shape of payloads is not
// known for certain, so all of it can be stated; what is nil has the defaults of
// DefaultConfig.
type Config struct {
	// Prefix is the path before every collection, such as `/api/v1`, or empty.
	Prefix string

	// MaxBody is the largest body in bytes, after decompression.
	MaxBody int64

	// BodyMemory is how many bytes the bodies of all requests may take together, counting
	// only what each has beyond 16 KiB: at least twice MaxBody. 0 is the default.
	BodyMemory int64

	// IDs are, by kind, the JSON pointers at which a record's id is searched, in order;
	// the first with a number or a non-empty text wins. A kind without any has the usual
	// ones, and a city without an id there goes by the text at the usual ones of its code.
	IDs map[report.Kind][]string

	// Codes are the JSON pointers of a city's three-letter code; the usual ones if it
	// is nil.
	Codes []string

	// Records are, by kind, JSON pointers to the records in a payload, tried before
	// anything else. Without them, the receiver recognises the usual envelopes.
	Records map[report.Kind][]string

	// MaxRate is how many deliveries a second each sender may make; 0 is no bound.
	// Senders are told apart by their credentials, or else by their addresses.
	MaxRate float64

	// Tracer, if not nil, makes a span for every request, and the changes of the delivery
	// carry its trace.
	Tracer trace.Tracer

	// Authenticator decides whose deliveries are accepted; everybody's if it is nil.
	Authenticator *auth.Authenticator

	// Await, if not nil, is called with durable changes whose sender prefers to wait until a
	// search shows them (RFC 7240).
	Await Await

	// Observe, if not nil, is called with every answer, concurrently, and delays it.
	Observe func(report.Answered)
}

// DefaultConfig handles every shape that comparable feeds have published.
func DefaultConfig() Config {
	return Config{
		MaxBody:    64 << 20,
		BodyMemory: 256 << 20,
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
