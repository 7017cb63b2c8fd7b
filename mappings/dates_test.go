package mappings

import (
	"testing"
	"time"
)

// TestWrittenDates: dates as people write them.
func TestWrittenDates(t *testing.T) {
	for text, want := range map[string]string{
		"Tue, 18 Oct 2022 02:09:00 GMT": "2022-10-18T02:09:00Z", "24 June 2025, 5:52 am BST": "2025-06-24T04:52:00Z", "14/09/2026 - 15:46 BST": "2026-09-14T14:46:00Z",
		"Monday, 14th September 2026": "2026-09-14T00:00:00Z", "26.11.2026 03:15:00": "2026-11-26T03:15:00Z", "09-Feb-2026": "2026-02-09T00:00:00Z", "July 30, 2026": "2026-07-30T00:00:00Z",
		"30 de julio de 2026": "2026-07-30T00:00:00Z", "30. Juli 2026": "2026-07-30T00:00:00Z", "1er mai 2026": "2026-05-01T00:00:00Z", "2026年7月30日": "2026-07-30T00:00:00Z",
		"2025年8月9日 17時05分": "2025-08-09T17:05:00Z", "令和8年2月28日": "2026-02-28T00:00:00Z", "2026年7月30日 下午3时30分": "2026-07-30T15:30:00Z", "2026年7月30日午前9時": "2026-07-30T09:00:00Z", "2026年7月30日 晚上9时": "", "2026년 7월 30일 오후 3시 30분": "2026-07-30T15:30:00Z", "2026년 7월 30일 9시 5분": "2026-07-30T09:05:00Z", "民國115年7月30日": "2026-07-30T00:00:00Z",
		"Tue, 02 Jun 2026 11:00:00 +0100": "2026-06-02T10:00:00Z", "2026-04-04T18:08-04:00": "2026-04-04T22:08:00Z", "Dec 24, 2026 at 7:15 PM EST": "2026-12-25T00:15:00Z",
		"28/02/2026 12:00:00.5": "2026-02-28T12:00:00Z", "5 pm 3 June 2026": "2026-06-03T17:00:00Z", "12:30 am, 3 June 2026": "2026-06-03T00:30:00Z", "20260730": "2026-07-30T00:00:00Z",
		"07/08/2026": "", "1 May": "", "June 2026": "", "12 Maybe 2026": "", "31 June 2026": "", "3.5.12": "", "1,234,5678": "", "192.168.1.2026": "", "4 out of 5": "", "3 June 2026 10:00 XYZ": "", "25:00 3 June 2026": "",
		"room 12 on 3 May 2026": "", "3 May 2026 was the last time": "",
	} {
		got, _, ok := parseDate([]byte(text))
		if ok != (want != "") || ok && got.Format(time.RFC3339) != want {
			t.Errorf("%q is %v, %v; want %q", text, got, ok, want)
		}
	}
	if got, ok := dateOf("07/08/2026 10:00", dayFirst); !ok || got.Format(time.RFC3339) != "2026-08-07T10:00:00Z" {
		t.Errorf("with the day first: %v, %v", got, ok)
	}
	if got, ok := dateOf("07/08/2026", monthFirst); !ok || got.Format(time.DateOnly) != "2026-07-08" {
		t.Errorf("with the month first: %v, %v", got, ok)
	}
	if _, ok := dateOf("13/08/2026", monthFirst); ok {
		t.Error("there is no month 13")
	}
}
