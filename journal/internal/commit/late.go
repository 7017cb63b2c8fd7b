package commit

import "riskdex/report"

// A sender that hangs up on a delivery may send a newer one, and that may be queued first, because
// requests overtake each other on their way to the queue. Then the older one would become the
// newest. So each request is checked after it was taken from the queue: if a newer delivery has
// overtaken it, its sender has hung up before, which is known by then. Deliveries of its kind that are
// queued later are executed later.

// Late returns why a request must no longer be executed, or nil. Settlements and changes by
// operators go by versions: they are late only if their caller has left.
func (r *Request) Late() error {
	if err := r.Ctx.Err(); err != nil {
		return err
	}
	if r.Gone != nil && r.Gone() {
		return report.ErrGone
	}
	return nil
}

// DropLate answers the late requests of a group, and returns the others.
func DropLate(group []*Request, late func(*Request) error) (rest []*Request) {
	for _, r := range group {
		if err := late(r); err != nil {
			r.Answer(err)
		} else {
			rest = append(rest, r)
		}
	}
	return rest
}
