package samplefeed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// record is a JSON object of a delivery.
type record = map[string]any

// encode returns v as JSON and leaves < and > as they are, as most publishers do.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a sample record: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// day returns a date of the feed, counted in days from its first delivery.
func day(n int) time.Time {
	return time.Date(2026, time.January, 5, 6, 30, 0, 0, time.UTC).AddDate(0, 0, n)
}

// label returns the word for a risk level from 1 to 5.
func label(level int) string {
	return []string{"Low", "Moderate", "Medium", "High", "Extreme"}[level-1]
}

// pdf returns a small, complete PDF with a page that says text. Only ASCII
// letters survive, since the page uses a built-in font.
func pdf(text string) []byte {
	safe := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`()\`, r) {
			return ' '
		}
		return r
	}, text)
	var content strings.Builder
	content.WriteString("BT /F1 9 Tf 40 800 Td 11 TL\n")
	for len(safe) > 0 {
		n := min(100, len(safe))
		fmt.Fprintf(&content, "(%s) '\n", safe[:n])
		safe = safe[n:]
	}
	content.WriteString("ET")
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", content.Len(), content.String()),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	var b, xref strings.Builder
	b.WriteString("%PDF-1.4\n")
	for i, o := range objects {
		fmt.Fprintf(&xref, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n",
		len(objects)+1, xref.String(), len(objects)+1, start)
	return []byte(b.String())
}
