package commit

import "riskdex/report"

// A sender that hangs up on a delivery may send a newer one, and that may be carried out
// before: requests overtake each other on their way to the queue. The older one would
// then be the newest. So a request is asked whether it is late after it was taken from the queue:
// what overtook it came after its sender hung up, and so that is known by then. What comes into
// the queue later is carried out later.

// Late tells why a request must not be carried out any more, nil where it is to be. What
// is settled, or changed by an operator, goes by versions and is never late.
func (r *Request) Late() error {
	if err := r.Ctx.Err(); err != nil {
		return err
	}
	if r.Gone != nil && r.Gone() {
		return report.ErrGone
	}
	return nil
}

// DropLate returns those of a group that are to be carried out, and answers the others.
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
