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

// Config says where the receiver stands and how it reads payloads. Nothing of a
// payload's shape is certain, so all of it can be stated; what is left nil has
// the defaults of DefaultConfig.
type Config struct {
	// Prefix is the path before every collection, such as `/api/v1`, or empty.
	Prefix string

	// MaxBody is the largest body in bytes, after decompression.
	MaxBody int64

	// BodyMemory is how many bytes the bodies of all requests may take together, as
	// far as each is larger than 16 KiB: at least twice MaxBody. 0 is the default.
	BodyMemory int64

	// IDs are, by kind, the JSON pointers at which a record's id is looked for,
	// in order; the first that holds a number or a text that is not empty wins. A
	// kind that is not in it has the usual ones, and a city without an id there goes
	// by the text at the usual ones of its code.
	IDs map[report.Kind][]string

	// Codes are the JSON pointers of a city's three-letter code; the usual ones if it
	// is nil.
	Codes []string

	// Records are, by kind, JSON pointers to where the records are in a
	// payload. Where they are stated they are tried before anything else;
	// otherwise the receiver recognises the usual envelopes by itself.
	Records map[report.Kind][]string

	// MaxRate is how many deliveries a second each sender may make; 0 is no bound.
	// Senders are told apart by their credentials, or else by their addresses.
	MaxRate float64

	// Tracer, if not nil, makes a span for every request, which the changes of a
	// delivery name as their trace.
	Tracer trace.Tracer

	// Door decides whose deliveries are let in; everyone's if it is nil.
	Door *auth.Door

	// Observe, if not nil, is told of every answer. It is called concurrently, and
	// the sender waits for it.
	Observe func(Answered)
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
