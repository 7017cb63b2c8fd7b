package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Verified is what a verification has left as it was. The journal keeps it as a note, so
// that it is told after a restart and by every process.
type Verified struct {
	At    time.Time
	Wrong int // documents that differ and were not seen mended
}

// Note returns what the journal keeps.
func (v Verified) Note() string { return fmt.Sprintf("%d %d", v.At.UnixMicro(), v.Wrong) }

// VerifiedNote is the name of the note about a kind.
func VerifiedNote(kind Kind) string { return "verified:" + string(kind) }

// VerifiedIn returns what the notes of a journal say of a kind; nothing where it was not
// verified yet, or has got a new index since.
func VerifiedIn(notes map[string]string, kind Kind) (v Verified) {
	var at int64
	if _, err := fmt.Sscanf(notes[VerifiedNote(kind)], "%d %d", &at, &v.Wrong); err != nil {
		return Verified{}
	}
	v.At = time.UnixMicro(at).UTC()
	return v
}

// RebuildFailed is that a new index could not be filled. The journal keeps it as a note,
// until another rebuild of the kind begins or somebody gives it up.
type RebuildFailed struct {
	At     time.Time
	Reason string
}

// longestReason bounds what a note says, in bytes.
const longestReason = 1000

// Note returns what the journal keeps.
func (r RebuildFailed) Note() string {
	reason := r.Reason[:min(len(r.Reason), longestReason)]
	return fmt.Sprintf("%d %s", r.At.UnixMicro(), strings.ToValidUTF8(strings.ReplaceAll(reason, "\x00", ""), ""))
}

// RebuildFailedNote is the name of the note about a kind.
func RebuildFailedNote(kind Kind) string { return "rebuild_failed:" + string(kind) }

// RebuildFailedIn returns what the notes of a journal say of a kind; nothing where the last
// rebuild did not fail.
func RebuildFailedIn(notes map[string]string, kind Kind) (r RebuildFailed) {
	at, reason, _ := strings.Cut(notes[RebuildFailedNote(kind)], " ")
	if n, err := strconv.ParseInt(at, 10, 64); err == nil {
		r = RebuildFailed{time.UnixMicro(n).UTC(), reason}
	}
	return r
}

// BackupNote is the name of the note about the newest backup that riskdex has made of the
// journal, and checked.
const BackupNote = "backup"

// NoteOfBackup returns what the journal keeps of a backup that was begun at a time.
func NoteOfBackup(at time.Time) string { return strconv.FormatInt(at.UnixMicro(), 10) }

// BackupIn returns what the notes of a journal say of when its newest backup was begun; zero
// where there is none.
func BackupIn(notes map[string]string) time.Time {
	n, err := strconv.ParseInt(notes[BackupNote], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
