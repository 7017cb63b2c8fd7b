package push

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/internal/address"
)

// Pusher sends requests to one receiver. Its fields are set before Run and not changed
// afterwards. A Pusher may be used by several goroutines, but requests for one document
// belong in one Run, because only a Run keeps their order.
type Pusher struct {
	// URL of the receiver, with its path prefix if it has one.
	URL string

	// Client sends the requests; nil means one that gives up an attempt after
	// five minutes. Redirects are never followed: a receiver has none, and
	// following one can turn a POST into a GET.
	Client *http.Client

	// RetryFor, if not 0, is for how long a receiver is tried that has not answered yet: nobody may
	// be at URL. Once it has, only the context ends the attempts, for what is sent must not be lost.
	RetryFor time.Duration

	// Header is added to every request.
	Header http.Header

	// Wait, if not 0, is how long the receiver should wait with each answer until a search
	// shows the documents of the request. It counts in seconds.
	Wait time.Duration

	// Show, if set, adds to every attempt what authenticates it. id is new for every
	// request, and the same for all attempts of it.
	Show func(h http.Header, id string, body []byte)

	// Progress, if set, is called whenever a request has its final answer, with how many
	// have one, how many requests there are, and the bytes of the bodies so far.
	Progress func(done, total int, bytes int64)

	// Answered, if set, is called with the status and the detail of every final answer. unknown
	// says that there was nothing to delete.
	Answered func(r Request, status int, detail string, unknown bool)

	// Waiting, if set, is called before every wait for another attempt.
	Waiting func(r Request, err error, wait time.Duration)

	// Tests replace these: backOff returns the waits between attempts, timer waits, and now
	// is what a Retry-After date is compared with. nil means the real one.
	backOff func() backoff.BackOff
	timer   backoff.Timer
	now     func() time.Time
}

// Summary is what became of the requests of a Run.
type Summary struct {
	Sent         int       // requests that have their final answer, failures included
	Accepted     int       // documents that the receiver says it accepted
	Refused      []Refusal // documents that it refused within a delivery, as far as it lists them, the first maxListed
	RefusedTotal int       // all that it refused within deliveries
	Searchable   int       // of Accepted, those that a search showed within Wait
	NotWaited    int       // of Accepted, those for which the receiver did not wait, though Wait asks for it
	Deliveries   []string  // the names of the deliveries, the first maxListed
	Failed       []Failure // requests that it refused as a whole, the first maxListed
	FailedTotal  int       // all of them
	Bytes        int64     // of the bodies of the requests in Sent
	Elapsed      time.Duration
}

// maxListed bounds Refused, Deliveries and Failed, because an export can have any number of lines.
const maxListed = 1000

// Refusal is one document that the receiver did not take.
type Refusal struct {
	Request  Request // without its body
	Position int     // of the record in the delivery, from 0
	ID       string
	Reason   string
}

// Failure is a request whose answer is neither success nor a reason to try again.
type Failure struct {
	Request       Request // without its body
	Status        int
	Title, Detail string // of the problem document, or what is known without one
}

// Run sends the requests one after the other, each only when the one before has its final
// answer. It deliberately does not send several at once: a city answers to its id and to
// its code, so that only the receiver knows which requests are for the same document.
//
// An attempt that the receiver answers with 429 or 503, or that gets no answer, is repeated
// with growing, jittered waits, never before the answer's Retry-After, until ctx ends, or RetryFor
// with [ErrNobodyThere]; a delivery that arrives twice is harmless. The answers 401 and 403 end the run with a
// *[DeniedError]. An error that would recur with every attempt, such as a certificate that
// is not trusted, ends it too. Any other answer outside 2xx is added to Failed, and the
// next request is sent.
//
// The error is nil if every request has its final answer, even if some of those are
// failures. Otherwise it says which request ended the run, and the summary has what came
// before it.
func (p *Pusher) Run(ctx context.Context, requests []Request) (Summary, error) {
	return p.RunSeq(ctx, len(requests), Each(requests))
}

// Each returns requests as a sequence for [Pusher.RunSeq].
func Each(requests []Request) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		for _, r := range requests {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Size returns how many bytes the bodies of requests have.
func Size(requests []Request) (bytes int64) {
	for _, r := range requests {
		bytes += int64(len(r.Body))
	}
	return bytes
}

// RunSeq is Run for requests that are not in memory all at once. total is how many there are,
// or 0 if that is not known. An error in place of a request ends the run.
func (p *Pusher) RunSeq(ctx context.Context, total int, requests iter.Seq2[Request, error]) (sum Summary, err error) {
	start := p.clock()()
	s, err := p.sender()
	if err != nil {
		return sum, err
	}
	defer func() { sum.Elapsed = p.clock()().Sub(start) }()
	for r, err := range requests {
		if err != nil {
			return sum, err
		}
		a, err := p.sendUntilAnswered(ctx, s, r)
		if err != nil {
			return sum, fmt.Errorf("send %s %s, number %d%s: %w", r.Method, r.Path, sum.Sent+1, of(total), err)
		}
		sum.add(r, a, p.Wait > 0)
		if p.Answered != nil {
			p.Answered(r, a.status, a.Detail, len(a.Unknown) > 0)
		}
		if p.Progress != nil {
			p.Progress(sum.Sent, total, sum.Bytes)
		}
	}
	return sum, nil
}

// of returns a total in words, or nothing if it is not known.
func of(total int) string {
	if total == 0 {
		return ""
	}
	return fmt.Sprintf(" of %d", total)
}

// sendUntilAnswered repeats a request until it has its final answer or ctx ends.
func (p *Pusher) sendUntilAnswered(ctx context.Context, s *sender, r Request) (answer, error) {
	var a answer
	id := "msg_" + rand.Text()
	until := p.clock()().Add(p.RetryFor)
	waits := &boundedWait{BackOff: p.policy()}
	var last error
	attempt := func() error {
		var err error
		a, err = s.send(ctx, r, id)
		if again, ok := errors.AsType[*retryError](err); ok {
			waits.atLeast, waits.atMost = again.after, maxRetryAfter
			if p.RetryFor > 0 && !s.there {
				waits.atMost = until.Sub(p.clock()())
			}
			if ctx.Err() == nil {
				last = err
			}
			return err
		}
		if err != nil {
			return backoff.Permanent(err)
		}
		return nil
	}
	notify := func(err error, wait time.Duration) {
		if p.Waiting != nil {
			p.Waiting(r, err, wait)
		}
	}
	err := backoff.RetryNotifyWithTimer(attempt, backoff.WithContext(waits, ctx), notify, p.timer)
	if err != nil && ctx.Err() != nil && last != nil {
		return a, fmt.Errorf("%w; the last attempt: %w", err, last)
	}
	if _, again := errors.AsType[*retryError](err); again {
		return a, fmt.Errorf("%w within %s: %w", ErrNobodyThere, p.RetryFor, err)
	}
	return a, err
}

// ErrNobodyThere ends a run in which no receiver answered for RetryFor.
var ErrNobodyThere = errors.New("no receiver answered")

// boundedWait is a policy that waits at least as long as the receiver asked for, and ends when
// there is no time left.
type boundedWait struct {
	backoff.BackOff
	atLeast, atMost time.Duration
}

func (p *boundedWait) NextBackOff() time.Duration {
	if p.atMost <= 0 {
		return backoff.Stop
	}
	return min(max(p.BackOff.NextBackOff(), p.atLeast), p.atMost)
}

func (p *Pusher) policy() backoff.BackOff {
	if p.backOff != nil {
		return p.backOff()
	}
	return backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(250*time.Millisecond),
		backoff.WithMaxInterval(15*time.Second),
		backoff.WithMaxElapsedTime(0), // the context ends it, or RetryFor
	)
}

func (p *Pusher) clock() func() time.Time {
	if p.now != nil {
		return p.now
	}
	return time.Now
}

// sender checks the settings and returns what makes single attempts.
func (p *Pusher) sender() (*sender, error) {
	u, err := address.Parse(p.URL, "http://127.0.0.1:8080")
	if err != nil {
		return nil, fmt.Errorf("the receiver's address: %w", err)
	}
	for name, values := range p.Header {
		// net/http would refuse it at every attempt, as if the receiver could not be
		// reached.
		if strings.ContainsAny(strings.Join(values, ""), "\r\n\x00") {
			return nil, fmt.Errorf("the value of the header %s has a line break in it: remove it", name)
		}
	}
	client := http.Client{Timeout: 5 * time.Minute}
	if p.Client != nil {
		client = *p.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	header := p.Header.Clone()
	if p.Wait > 0 {
		if header == nil {
			header = http.Header{}
		}
		header.Set("Prefer", fmt.Sprintf("wait=%d", int(p.Wait.Seconds())))
	}
	return &sender{base: u.String(), client: &client, header: header, show: p.Show, now: p.clock()}, nil
}

func (s *Summary) add(r Request, a answer, waits bool) {
	s.Sent++
	s.Bytes += int64(len(r.Body))
	s.Accepted += a.Accepted
	if a.Delivery != "" && len(s.Deliveries) < maxListed {
		s.Deliveries = append(s.Deliveries, a.Delivery)
	}
	if a.Searchable != nil {
		s.Searchable += *a.Searchable
	} else if waits {
		s.NotWaited += a.Accepted
	}
	s.RefusedTotal += max(a.RefusedTotal, len(a.Refused)) // an older riskdex lists all of them and states no total
	r.Body = nil                                          // the lists need not keep it
	for _, refused := range a.Refused {
		if len(s.Refused) < maxListed {
			s.Refused = append(s.Refused, Refusal{Request: r, Position: refused.Position, ID: asText(refused.ID), Reason: refused.Reason})
		}
	}
	if a.status < 200 || a.status > 299 {
		if s.FailedTotal++; len(s.Failed) < maxListed {
			s.Failed = append(s.Failed, Failure{Request: r, Status: a.status, Title: a.Title, Detail: a.Detail})
		}
	}
}
