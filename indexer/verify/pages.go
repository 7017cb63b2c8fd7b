package verify

import "context"

// eachPage passes pages to visit, in order, until read says that there are no more. While one
// is visited, the next is read: the journal and Elasticsearch work side by side. read is called
// from another goroutine, which has ended when eachPage returns.
func eachPage[P any](ctx context.Context, read func(context.Context) (page P, ok bool, err error), visit func(P) error) error {
	type result struct {
		page P
		ok   bool
		err  error
	}
	reading, stop := context.WithCancel(ctx)
	start := func() <-chan result {
		done := make(chan result, 1)
		go func() {
			page, ok, err := read(reading)
			done <- result{page, ok, err}
		}()
		return done
	}
	next := start()
	defer func() {
		stop()
		if next != nil {
			<-next
		}
	}()
	for {
		r := <-next
		if next = nil; r.err != nil || !r.ok {
			return r.err
		}
		next = start()
		if err := visit(r.page); err != nil {
			return err
		}
	}
}
