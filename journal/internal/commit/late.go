package commit

import "riskdex/report"

// A sender that hangs up on a delivery may send a newer one, and the newer one may be queued
// first: requests overtake each other on their way to the queue. The older one would then
// become the newest. So each request is checked after it was taken from the queue: whatever
// overtook it was sent after its sender had hung up, and by then that is known. Whatever is
// queued later is carried out later.

// Late returns why a request must not be carried out any more, or nil. Settlements and what
// operators change go by versions and are never late.
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
