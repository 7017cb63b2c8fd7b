package otlp

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// object is an OTLP message in JSON: ids in hex, 64-bit integers as strings, enums as numbers.
type object map[string]any

// encode returns the request with spans, grouped by resource and instrumentation scope.
func encode(spans []sdktrace.ReadOnlySpan) ([]byte, error) {
	type origin struct {
		resource attribute.Distinct
		scope    instrumentation.Scope
	}
	groups := map[origin][]sdktrace.ReadOnlySpan{}
	for _, s := range spans {
		from := origin{s.Resource().Equivalent(), s.InstrumentationScope()}
		groups[from] = append(groups[from], s)
	}
	var all []object
	for from, group := range groups {
		made := make([]object, len(group))
		for i, s := range group {
			made[i] = span(s)
		}
		resource, scope := group[0].Resource(), from.scope
		all = append(all, object{
			"resource":  object{"attributes": keyValues(resource.Attributes())},
			"schemaUrl": resource.SchemaURL(),
			"scopeSpans": []object{{
				"scope":     object{"name": scope.Name, "version": scope.Version, "attributes": keyValues(scope.Attributes.ToSlice())},
				"schemaUrl": scope.SchemaURL,
				"spans":     made,
			}},
		})
	}
	return json.Marshal(object{"resourceSpans": all})
}

func span(s sdktrace.ReadOnlySpan) object {
	// Status codes have other numbers in the SDK than in OTLP; span kinds have the same.
	state := map[codes.Code]int{codes.Ok: 1, codes.Error: 2}[s.Status().Code]
	out := identified(s.SpanContext(), s.Parent().IsRemote(), object{
		"name": s.Name(), "kind": s.SpanKind(), "status": object{"code": state, "message": s.Status().Description},
		"startTimeUnixNano": unixNano(s.StartTime()), "endTimeUnixNano": unixNano(s.EndTime()),
		"attributes": keyValues(s.Attributes()), "droppedAttributesCount": s.DroppedAttributes(),
		"droppedEventsCount": s.DroppedEvents(), "droppedLinksCount": s.DroppedLinks(),
	})
	if parent := s.Parent().SpanID(); parent.IsValid() {
		out["parentSpanId"] = parent.String()
	}
	events := make([]object, len(s.Events()))
	for i, e := range s.Events() {
		events[i] = object{
			"timeUnixNano": unixNano(e.Time), "name": e.Name,
			"attributes": keyValues(e.Attributes), "droppedAttributesCount": e.DroppedAttributeCount,
		}
	}
	links := make([]object, len(s.Links()))
	for i, l := range s.Links() {
		links[i] = identified(l.SpanContext, l.SpanContext.IsRemote(), object{
			"attributes": keyValues(l.Attributes), "droppedAttributesCount": l.DroppedAttributeCount,
		})
	}
	out["events"], out["links"] = events, links
	return out
}

// identified adds the identity c to the span or link out, and returns out. Remote reports whether
// the span's parent, or the linked span, is in another process.
func identified(c trace.SpanContext, remote bool, out object) object {
	const known, isRemote = 1 << 8, 1 << 9 // OTLP's flags above the eight of W3C
	flags := uint32(c.TraceFlags()) | known
	if remote {
		flags |= isRemote
	}
	out["traceId"], out["spanId"], out["traceState"], out["flags"] = c.TraceID().String(), c.SpanID().String(), c.TraceState().String(), flags
	return out
}

func unixNano(t time.Time) string { return strconv.FormatInt(max(0, t.UnixNano()), 10) }

func keyValues(attributes []attribute.KeyValue) []object {
	out := make([]object, len(attributes))
	for i, a := range attributes {
		out[i] = object{"key": a.Key, "value": anyValue(a.Value.AsInterface())}
	}
	return out
}

// anyValue returns the AnyValue message for a result of attribute.Value.AsInterface.
func anyValue(v any) object {
	switch v := v.(type) {
	case nil:
		return object{}
	case bool:
		return object{"boolValue": v}
	case int64:
		return object{"intValue": strconv.FormatInt(v, 10)}
	case float64:
		if text, ok := map[float64]string{math.Inf(1): "Infinity", math.Inf(-1): "-Infinity"}[v]; ok {
			return object{"doubleValue": text}
		} else if math.IsNaN(v) {
			return object{"doubleValue": "NaN"}
		}
		return object{"doubleValue": v}
	case string:
		return object{"stringValue": v}
	case []byte:
		return object{"bytesValue": v}
	case attribute.Value:
		return anyValue(v.AsInterface())
	case []attribute.KeyValue:
		return object{"kvlistValue": object{"values": keyValues(v)}}
	}
	slice := reflect.ValueOf(v) // the only other results are slices of these types
	values := make([]object, slice.Len())
	for i := range values {
		values[i] = anyValue(slice.Index(i).Interface())
	}
	return object{"arrayValue": object{"values": values}}
}
