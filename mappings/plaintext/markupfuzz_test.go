package plaintext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzMarkup: reading simple markup the fast way, and plain text eight bytes at a time,
// gives the same text as the reference: the tokenizer of golang.org/x/net/html, and text
// that is written one character at a time.
func FuzzMarkup(f *testing.F) {
	for _, s := range []string{
		"<p class=\"a > b\">It&rsquo;s <B>5&nbsp;km</B></p >\r\n<br/><br />a\r\rb",
		"<a href='x' title=\"\" hidden>x</a><a href=x>y</a><a b=\"c\"d='e'>z</a><a b = 'c'>w</a>",
		"a</>b</ p>c</1>d<?xml x?>e<!doctype html>f<!-- g -->h<![CDATA[i]]>j",
		"<script>a<!--<script></script>--></script>b<style/>c</style>d</script>e",
		"&notit; &#39x &#x27;&#0;&#128;&&amp&amp;lt; &#xZ; &CounterClockwiseContourIntegral;",
		"<h1/><h1 /><h 1><h1a><blockquotes><noscript><title>a<p>b</title><plaintext>c",
		"<p a='<p>'>x<p a=\">y <p", "<p>a<", "<p>a</", "<p>a<b", "<p/ >a<p / b>", "<p a/>b<p a=''/>c",
		"<your name><p>x<your name></p>", "<x>y</x>", "1 < 2<p>", "<p a=b>b>c", "aaaaaaa \u00a0b", "aaaaaaa \u00ad\u00a0 b", "<p>&#9x27;", "<p>&amp;&nbsp;&rsquo;&lsquo;&rdquo;&ldquo;&ndash;&mdash;&quot;&#39;", "eight  by\x7ftes  and é a \u00a0b",
		"aaaaaaa bbbbbbb  ccccccc é", "a\x00b<p>c\x00d<p\x00e>f", "<textarea><b>a</textarea><K\u212a>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // text is from records that are UTF-8
		}
		for _, oneLine := range []bool{false, true} {
			fast := prose{oneLine: oneLine}
			reference := prose{oneLine: oneLine, inMarkup: true}
			fastIs, referenceIs := fast.writeMarkup([]byte(s)), reference.writeTokens([]byte(s), 0, 0)
			if fastIs != referenceIs || string(fast.buf) != string(reference.buf) || fast.pending != reference.pending {
				t.Fatalf("markup %q reads %v %q, want %v %q", s, fastIs, fast.buf, referenceIs, reference.buf)
			}
			whole, single := prose{oneLine: oneLine}, prose{oneLine: oneLine}
			whole.write([]byte(s))
			for _, c := range s {
				single.write([]byte(string(c)))
			}
			if string(whole.buf) != string(single.buf) || whole.pending != single.pending {
				t.Fatalf("text %q reads %q, want %q", s, whole.buf, single.buf)
			}
		}
	})
}

// TestUsualMarkupIsSimple: markup as editors write it is read the fast way to its end.
func TestUsualMarkupIsSimple(t *testing.T) {
	for _, s := range []string{
		"<p>a</p>", "<P>A<br>b<br/>c<br /></P>\n", `<a href="https://x.org/?a=1&amp;b=2" target='_blank'>x</a> y`,
		"<ul>\n<li>a</li>\n</ul><h2 id=\"a\">b</h2>", `<img src="x" alt=""/><td colspan="2" nowrap>1 < 2 &lt; 3</td>`,
		`<p style="color: red" data-x-y="1" xml:lang="en">a</p>`,
	} {
		var p prose
		if at, elements := p.writeSimple([]byte(s)); at != len(s) || elements == 0 {
			t.Errorf("%s is read up to %q", s, s[at:])
		}
	}
	for _, s := range []string{"<script>x", "</p", "<p a=b>", "<!-- x -->", "<your name>", "<p a='b"} {
		var p prose
		if at, _ := p.writeSimple([]byte("a" + s)); at != 1 {
			t.Errorf("%s is read up to %d", s, at)
		}
	}
}

func TestCountControls(t *testing.T) {
	for at := range 20 {
		s := []byte(strings.Repeat("é a\n", 5))
		s[at] = 1
		if got := countControls(s); got != 1 {
			t.Errorf("a control character at %d: got %d", at, got)
		}
	}
	if got := countControls([]byte("\x00\x1f\x00\r\n\t\x01\x02abc\x03 \x7f")); got != 6 {
		t.Errorf("got %d", got)
	}
}
