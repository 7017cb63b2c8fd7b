package push

import (
	"fmt"
	"io"
	"os"
	"time"

	"riskdex/internal/sanitize"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// plainEvery is how often a Display prints a line if it is not on a terminal.
const plainEvery = 5 * time.Second

// Display shows how far a push has come: as a bar on a terminal, as a line every few
// seconds elsewhere, such as in a log. It does not report the result, which is up to the
// caller. It is not safe for concurrent use.
type Display struct {
	out   io.Writer
	bar   *progressbar.ProgressBar // nil if out is not a terminal
	now   func() time.Time
	shown time.Time // when the last plain line was printed
}

// NewDisplay returns a display on out for requests whose bodies have so many bytes; -1 if
// that is not known. A bar has colours unless the environment sets NO_COLOR.
func NewDisplay(out io.Writer, bytes int64) *Display {
	d := newPlain(out, time.Now)
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		d.bar = newBar(out, bytes, os.Getenv("NO_COLOR") == "")
	}
	return d
}

// Size returns how many bytes the bodies of requests have.
func Size(requests []Request) (bytes int64) {
	for _, r := range requests {
		bytes += int64(len(r.Body))
	}
	return bytes
}

func newPlain(out io.Writer, now func() time.Time) *Display {
	return &Display{out: out, now: now, shown: now()}
}

func newBar(out io.Writer, total int64, colour bool) *progressbar.ProgressBar {
	theme := progressbar.Theme{Saucer: "=", SaucerHead: ">", SaucerPadding: " ", BarStart: "[", BarEnd: "]"}
	if colour {
		theme.Saucer, theme.SaucerHead = "[green]=[reset]", "[green]>[reset]"
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetTheme(theme),
		progressbar.OptionEnableColorCodes(colour),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowCount(),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetRenderBlankState(true),
	)
}

// Update shows how many requests have their final answer, of a total that is 0 if it is not
// known. It can be used as
// Pusher.Progress.
func (d *Display) Update(done, total int, bytes int64) {
	if d.bar != nil {
		// An error in drawing must not stop the push.
		d.bar.Describe(fmt.Sprintf("%d%s deliveries", done, of(total)))
		_ = d.bar.Set64(bytes)
		return
	}
	if now := d.now(); done != total && now.Sub(d.shown) >= plainEvery {
		d.shown = now
		fmt.Fprintf(d.out, "%d%s deliveries sent, %s\n", done, of(total), humanize.IBytes(uint64(bytes)))
	}
}

// Waiting shows why there will be another attempt and when. It can be used as
// Pusher.Waiting.
func (d *Display) Waiting(r Request, err error, wait time.Duration) {
	if d.bar != nil {
		_ = d.bar.Clear()
	}
	fmt.Fprintf(d.out, "%s %s: %s; trying again in %s\n", r.Method, r.Path, sanitize.OneLine(err.Error()), wait.Round(100*time.Millisecond))
}

// Close ends the line of a bar, finished or not.
func (d *Display) Close() {
	if d.bar != nil {
		_ = d.bar.Exit()
		fmt.Fprintln(d.out)
	}
}
