package receiver

import (
	"errors"
	"fmt"
	"net/http"

	"riskdex/receiver/body"
)

const busyDetail = "Too many large deliveries come at once. Nothing of this one was accepted; send it again later, or in parts."

// unread returns the answer to a delivery whose body could not be read.
func (r *Receiver) unread(err error) *problem {
	var encoding *body.EncodingError
	var noGzip *body.GzipError
	switch {
	case errors.As(err, &encoding):
		return newProblem(http.StatusUnsupportedMediaType, reasonEncoding,
			fmt.Sprintf("Content-Encoding %q is not understood: send the body as it is, or with gzip.", encoding.Encoding))
	case errors.Is(err, body.ErrTooLarge):
		return newProblem(http.StatusRequestEntityTooLarge, reasonTooLarge,
			fmt.Sprintf("The body is larger than %d bytes after decompression. Send it in parts, or let the operator raise --max-body.", r.maxBody))
	case errors.Is(err, body.ErrBusy):
		return newProblem(http.StatusServiceUnavailable, reasonBusy, busyDetail)
	case errors.Is(err, body.ErrTooSlow):
		return newProblem(http.StatusRequestTimeout, reasonTooSlow,
			fmt.Sprintf("The body came too slowly: %d bytes a second are the least. Nothing of it was accepted; send it again.", body.LeastPace))
	case errors.Is(err, body.ErrNotGzip):
		return newProblem(http.StatusBadRequest, reasonGzip,
			"The body is not gzip, though Content-Encoding says so: "+err.Error()+". Compress it, or leave Content-Encoding out.")
	case errors.As(err, &noGzip):
		return newProblem(http.StatusBadRequest, reasonGzip,
			"The body is not valid gzip, though Content-Encoding says so: "+err.Error()+". Sending it again as it is does not help.")
	}
	return newProblem(http.StatusBadRequest, reasonTruncated,
		"The body could not be read to its end: "+err.Error()+". Nothing of it was accepted; send it again.")
}

// noMemory returns the answer to a delivery whose body was read, where there is no memory
// for what would be made of it.
func noMemory(err error) *problem {
	if errors.Is(err, body.ErrOverBudget) {
		return newProblem(http.StatusRequestEntityTooLarge, reasonTooMany,
			"The payload holds more records than there is memory for. Send it in parts, or let the operator raise --body-memory.")
	}
	return newProblem(http.StatusServiceUnavailable, reasonBusy, busyDetail)
}
