package plaintext

import (
	"strings"
	"testing"
	"time"
)

func TestMarkup(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain", "plain"},
		{"a  b\tc\r\nd\n\n\n e ", "a b c\nd\n\ne"},
		{"<p>a</p>\n<p>b</p>", "a\n\nb"},
		{"<p>a\n b</p>", "a b"},
		{"a<br>b<br/>\nc<br><br>d", "a\nb\nc\n\nd"},
		{"<ul><li>a</li><li>b</li></ul>", "a\n\nb"},
		{"<tr><td>a</td><td>b</td></tr>", "a b"},
		{"un<b>bro</b>ken", "unbroken"},
		{"<a href='x' title=\"a > b\">link</a>", "link"},
		{"a&amp;b &lt;c&gt; &eacute;&#39;&nbsp;d", "a&b <c> é' d"},
		{"&lt;p&gt;a&amp;amp;b&lt;/p&gt;", "a&b"},
		{"<script>var a = '<p>x</p>'</script>a<style>p{}</style>b", "a\n\nb"},
		{"<SCRIPT>x</SCRIPT>a", "a"},
		{"<!-- x -->a<!DOCTYPE html>", "a"},
		{"a <!-- never closed", "a <!-- never closed"},
		{"a < b and b > c", "a < b and b > c"},
		{"if x<y then", "if x<y then"},
		{"write to <Your Name> here", "write to <Your Name> here"},
		{"<p>write to <Your Name> here</p>", "write to <Your Name> here"},
		{"<para>a</para><o:p>b</o:p>", "a b"},
		{"<p>a <b", "a <b"},
		{"<noscript>a</noscript><title>b</title><textarea>c</textarea>", "a\n\nb\n\nc"},
		{"1 <2 and 3> 2", "1 <2 and 3> 2"},
		{"line\u2028next\u2029para", "line\nnext\n\npara"},
		{"<p></p>", ""},
		{"\ufeffa\u200bb", "ab"},
		{"a <b\x00\x00> c", "a <b> c"},
		{"<Para>a</Para>b<x y>c</x>", "a b c"},
		{"a <?xml b?>c", "a c"},
	} {
		if got := string(appendPlain([]byte("x"), []byte(c.in), false)); got != "x"+c.want {
			t.Errorf("%q reads %q, want %q", c.in, got[1:], c.want)
		}
	}
	if got := string(appendPlain(nil, []byte("<p>a</p><p>b<br>c</p>\n\nd"), true)); got != "a b c d" {
		t.Errorf("on one line it reads %q", got)
	}
}

// TestMarkupTakesLinearTime: for no text does the work grow with the square of its length.
// Each of these takes milliseconds; with the square, the test would time out.
func TestMarkupTakesLinearTime(t *testing.T) {
	const n = 1_000_000
	for name, s := range map[string]string{
		"unknown tags":  strings.Repeat("<u1>", n),
		"open brackets": strings.Repeat("<", n),
		"open tags":     strings.Repeat("<p ", n),
		"comments":      strings.Repeat("<!--", n),
		"entities":      strings.Repeat("&amp;lt;", n),
		"long runs":     strings.Repeat(strings.Repeat("a", maxRun+1)+".", n/50),
	} {
		start := time.Now()
		AppendReadable(nil, []byte(s), func([]byte) bool { return false })
		t.Logf("%s: %v for %d bytes", name, time.Since(start), len(s))
	}
}
