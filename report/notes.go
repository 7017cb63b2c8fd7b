package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Verified is the result of the last verification of a kind. The journal keeps it as a note,
// so that every process reports it, and after a restart too.
type Verified struct {
	At      time.Time
	Wrong   int // documents that differ and are not known to be repaired
	Ordered int // of these, those that were still to be sent for a repair
}

// Note returns the text of the note.
func (v Verified) Note() string {
	return fmt.Sprintf("%d %d %d", v.At.UnixMicro(), v.Wrong, v.Ordered)
}

// Left returns how many documents still differ, as far as known, while so many of the kind are sent
// again. Once none is, what was ordered is repaired.
func (v Verified) Left(resending int) int {
	if resending == 0 {
		return v.Wrong - v.Ordered
	}
	return v.Wrong
}

// FollowedNote is the name of the note that says how far the riskdex that is followed was read.
const FollowedNote = "followed"

// VerifiedNote returns the name of the note about a kind.
func VerifiedNote(kind Kind) string { return "verified:" + string(kind) }

// VerifiedIn reads the note about a kind. The result is zero if the kind has not been
// verified, or has a new index since.
func VerifiedIn(notes map[string]string, kind Kind) (v Verified) {
	var at int64
	if n, _ := fmt.Sscanf(notes[VerifiedNote(kind)], "%d %d %d", &at, &v.Wrong, &v.Ordered); n < 3 {
		return Verified{}
	}
	v.At = time.UnixMicro(at).UTC()
	return v
}

// PlaceNote returns the name of the note that says where the index of a kind is to which the
// journal sends: everything that counts as settled is settled there, and nowhere else.
func PlaceNote(kind Kind) string { return "place:" + string(kind) }

// ReadingNote returns the name of the note that says how the records of a kind are read, as their values
// have told.
func ReadingNote(kind Kind) string { return "reading:" + string(kind) }

// PlaceIn reads the place of a kind from its note; empty if none is known.
func PlaceIn(notes map[string]string, kind Kind) string {
	place, _, _ := strings.Cut(notes[PlaceNote(kind)], " ")
	return place
}

// RebuildFailed records that a new index could not be filled. The journal keeps it as a note
// until another rebuild of the kind begins or somebody abandons the failed one.
type RebuildFailed struct {
	At     time.Time
	Reason string
}

// longestReason bounds the reason in a note, in bytes.
const longestReason = 1000

// Note returns the text of the note.
func (r RebuildFailed) Note() string {
	reason := r.Reason[:min(len(r.Reason), longestReason)]
	return fmt.Sprintf("%d %s", r.At.UnixMicro(), strings.ToValidUTF8(strings.ReplaceAll(reason, "\x00", ""), ""))
}

// RebuildFailedNote returns the name of the note about a kind.
func RebuildFailedNote(kind Kind) string { return "rebuild_failed:" + string(kind) }

// RebuildFailedIn reads the note about a kind. The result is zero if the last rebuild did
// not fail.
func RebuildFailedIn(notes map[string]string, kind Kind) (r RebuildFailed) {
	at, reason, _ := strings.Cut(notes[RebuildFailedNote(kind)], " ")
	if n, err := strconv.ParseInt(at, 10, 64); err == nil {
		r = RebuildFailed{time.UnixMicro(n).UTC(), reason}
	}
	return r
}

// BackupNote is the name of the note about the newest backup of the journal that riskdex has
// made and checked.
const BackupNote = "backup"

// NoteOfTime returns the text of a note that is a time.
func NoteOfTime(at time.Time) string { return strconv.FormatInt(at.UnixMicro(), 10) }

// BackupIn reads from the notes when the newest backup began. The result is zero if there is
// none.
func BackupIn(notes map[string]string) time.Time { return timeIn(notes, BackupNote) }

func timeIn(notes map[string]string, name string) time.Time {
	n, err := strconv.ParseInt(notes[name], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// HistoryCutNote is the name of the note that says when entries of the history were last dropped
// because of its size; its text is that of NoteOfTime.
const HistoryCutNote = "history_cut"

// HistoryCutIn reads it from the notes. The result is zero if none ever were.
func HistoryCutIn(notes map[string]string) time.Time { return timeIn(notes, HistoryCutNote) }

// LossNotes begins the names of notes about losses that somebody has acknowledged.
const LossNotes = "loss:"

// AcknowledgedLossNote returns the name of the note about a loss that somebody has acknowledged.
func AcknowledgedLossNote(l Loss) string {
	return LossNotes + strconv.FormatInt(l.Until.UnixMicro(), 10)
}

// NoteOfLoss returns the text of that note.
func NoteOfLoss(l Loss) string {
	if l.Since.IsZero() {
		return "0"
	}
	return strconv.FormatInt(l.Since.UnixMicro(), 10)
}

// AcknowledgedIn reads from the notes the losses that somebody has acknowledged, in any order.
func AcknowledgedIn(notes map[string]string) (list []Loss) {
	for name, text := range notes {
		until, isLoss := strings.CutPrefix(name, LossNotes)
		if !isLoss {
			continue
		}
		end, err := strconv.ParseInt(until, 10, 64)
		since, err2 := strconv.ParseInt(text, 10, 64)
		if err != nil || err2 != nil {
			continue
		}
		l := Loss{Until: time.UnixMicro(end).UTC()}
		if since > 0 {
			l.Since = time.UnixMicro(since).UTC()
		}
		list = append(list, l)
	}
	return list
}
