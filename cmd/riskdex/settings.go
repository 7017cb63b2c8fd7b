package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"
	"time"

	"riskdex/internal/logsink"
	"riskdex/internal/requestid"
	"riskdex/internal/reread"
	"riskdex/internal/sanitize"
	"riskdex/mappings"
	"riskdex/receiver"
	"riskdex/report"
)

// mappings loads the mappings and the gazetteer.
func (s indexSettings) mappings() (*mappings.Set, error) {
	folder := mappings.Files()
	if s.Mappings != "" {
		folder = os.DirFS(s.Mappings)
	}
	gazetteer := mappings.Gazetteer{Off: s.Gazetteer == "off"}
	if s.Gazetteer != "" && !gazetteer.Off {
		gazetteer.Folder = os.DirFS(s.Gazetteer)
	}
	set, err := mappings.LoadKnowing(folder, gazetteer)
	if err != nil {
		return nil, fmt.Errorf("load the mappings in %s with the gazetteer in %s: %w", cmp.Or(s.Mappings, "the program"), cmp.Or(s.Gazetteer, "the program"), err)
	}
	return set, nil
}

// namesSettings say where a record states the id or the code of its document.
type namesSettings struct {
	IDs   map[string]string `name:"ids" env:"RISKDEX_IDS" placeholder:"KIND=POINTER,…;…" help:"JSON pointers to the id of a record, tried in order, such as cities=/id,/code;advisories=/ref. By default the usual names."`
	Codes []string          `name:"codes" env:"RISKDEX_CODES" placeholder:"POINTER" help:"JSON pointers to a city's three-letter code. By default the usual names."`
}

func (s namesSettings) addTo(cfg *receiver.Config) (err error) {
	if len(s.Codes) > 0 {
		cfg.Codes = s.Codes
	}
	cfg.IDs, err = byKind("--ids", s.IDs)
	return err
}

// payloadSettings say how payloads are read.
type payloadSettings struct {
	namesSettings
	Records map[string]string `name:"records" env:"RISKDEX_RECORDS" placeholder:"KIND=POINTER,…;…" help:"JSON pointers to the records in an unusual envelope, such as advisories=/countries."`
}

func (s payloadSettings) addTo(cfg *receiver.Config) error {
	err := s.namesSettings.addTo(cfg)
	if err != nil {
		return err
	}
	cfg.Records, err = byKind("--records", s.Records)
	return err
}

// receiverSettings say where deliveries arrive and how payloads are read.
type receiverSettings struct {
	Listen     string  `name:"listen" env:"RISKDEX_LISTEN" default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address for deliveries."`
	Prefix     string  `name:"prefix" env:"RISKDEX_PREFIX" placeholder:"PATH" help:"Path before /cities, /advisories and /special-reports."`
	MaxBody    size    `name:"max-body" env:"RISKDEX_MAX_BODY" default:"64MiB" placeholder:"SIZE" help:"Largest body after decompression."`
	BodyMemory size    `name:"body-memory" env:"RISKDEX_BODY_MEMORY" placeholder:"SIZE" help:"Memory for all bodies above 16 KiB together: delivered, shown and edited; at least twice --max-body. By default a third of GOMEMLIMIT, or 512MiB, or that least."`
	MaxRate    float64 `name:"max-rate" env:"RISKDEX_MAX_RATE" default:"0" placeholder:"N" help:"Deliveries per second from one credential, or else address; 0 is unlimited."`
	payloadSettings
}

func (s receiverSettings) config() (receiver.Config, error) {
	cfg := receiver.DefaultConfig()
	cfg.Prefix, cfg.MaxBody, cfg.BodyMemory = s.Prefix, int64(s.MaxBody), int64(s.BodyMemory)
	cfg.MaxRate = s.MaxRate
	return cfg, s.addTo(&cfg)
}

func byKind(flag string, stated map[string]string) (map[report.Kind][]string, error) {
	lists := map[report.Kind][]string{}
	for name, pointers := range stated {
		kind, err := report.ParseKind(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		lists[kind] = strings.Split(pointers, ",")
	}
	return lists, nil
}

// logSettings say what is logged and how.
type logSettings struct {
	LogLevel  string `name:"log-level" env:"RISKDEX_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" placeholder:"LEVEL" help:"debug, info, warn or error."`
	LogFormat string `name:"log-format" env:"RISKDEX_LOG_FORMAT" enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json, which has durations in seconds."`
}

func (s logSettings) logger(to io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // which is checked, or empty
	opts, w := &slog.HandlerOptions{Level: level, ReplaceAttr: withoutEmpty}, sanitize.LogWriter{Writer: to}
	if s.LogFormat == "json" {
		opts.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
			if v := a.Value.Resolve(); v.Kind() == slog.KindDuration {
				return slog.Float64(a.Key, v.Duration().Seconds())
			}
			return withoutEmpty(groups, a)
		}
		return slog.New(requestid.InLog(slog.NewJSONHandler(w, opts)))
	}
	return slog.New(requestid.InLog(slog.NewTextHandler(w, opts)))
}

// lastLines bounds how long the end waits until the last lines of the log are taken.
const lastLines = time.Second

// unheld runs what must not be held up by whoever reads its log: it gets a logger to a sink, and
// the sink. A failure is the last line, so that it comes in order and cannot hold up the end. What
// it opens in the group is reread at SIGHUP; only SIGINT, SIGTERM and SIGQUIT end it.
func (s logSettings) unheld(io streams, run func(*slog.Logger, *logsink.Sink, *reread.Group) error) error {
	// A reader of the log that has gone must not end what goes on without it, nor a stray signal.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM)
	lines := logsink.New(io.err, func(lines int) []byte {
		var said bytes.Buffer
		s.logger(&said).Error("lines of the log were dropped here: nothing took them in time", "lines", lines)
		return said.Bytes()
	}, time.Now)
	defer lines.Close(lastLines)
	log := s.logger(lines)
	slog.SetDefault(log) // for what logs by itself, such as the client of net/http
	files := new(reread.Group)
	defer rereadAtHangup(files, log)()
	err := run(log, lines, files)
	if err == nil || errors.Is(err, errNegative) {
		return err
	}
	fmt.Fprintln(lines, "riskdex:", sanitize.Lines(err.Error()))
	return errFailed
}

// rereadAtHangup reads files again at each SIGHUP, until stop is called.
func rereadAtHangup(files *reread.Group, log *slog.Logger) (stop func()) {
	hangups, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-hangups:
			}
			var changed, same, failed []string
			for _, o := range files.Again() {
				switch {
				case o.Err != nil:
					failed = append(failed, o.What)
				case o.Changed:
					changed = append(changed, o.What)
				default:
					same = append(same, o.What)
				}
			}
			log.Info("SIGHUP: secrets and certificates were reread", "changed", strings.Join(changed, ", "),
				"unchanged", strings.Join(same, ", "), "failed", strings.Join(failed, ", "))
		}
	}()
	return func() { close(done) } // the signal stays caught: it ends nothing, at the end either
}

// withoutEmpty drops attributes with an empty text, which are unknown or do not apply.
func withoutEmpty(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.MessageKey {
		return a
	}
	v := a.Value.Resolve()
	empty := v.Kind() == slog.KindString && v.String() == ""
	if v.Kind() == slog.KindAny { // such as a kind or an id
		text := reflect.ValueOf(v.Any())
		empty = text.Kind() == reflect.String && text.Len() == 0
	}
	if empty {
		return slog.Attr{}
	}
	return a
}
