package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"riskdex/journal/internal/tables"
	"riskdex/journal/transfer"
)

// Endpoint is the journal in a file, for copying from or to it.
func Endpoint(path string) transfer.Endpoint {
	return transfer.Endpoint{
		Name:       path,
		OpenSource: func(ctx context.Context) (*transfer.Source, error) { return openTransferSource(ctx, path) },
		OpenTarget: func(ctx context.Context) (transfer.Target, error) { return openTransferTarget(ctx, path) },
	}
}

// openTransferSource locks a journal and opens it for reading. Nothing is created
// where there is none.
func openTransferSource(ctx context.Context, path string) (_ *transfer.Source, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if err := checkIsFile(path); err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	unlock := lock.Close
	defer func() {
		if err != nil {
			err = errors.Join(err, unlock())
		}
	}()
	for _, suffix := range []string{suspectSuffix, wholeSuffix} {
		if _, err := os.Lstat(path + suffix); !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("its last process could not write it (%s is there), and it has to be rewritten first: "+
				"start riskdex on it, and stop it again", path+suffix), err)
		}
	}
	files, err := lockFiles(path)
	if err != nil {
		return nil, err
	}
	unlock = func() error { return errors.Join(files.close(), lock.Close()) }
	noted, withoutWAL, err := checkWALBeside(ctx, path)
	if err != nil {
		return nil, err
	}
	s, err := readTransferred(ctx, path)
	if err != nil {
		return nil, err
	}
	closeFile := s.Close
	s.Close = func() error { return errors.Join(closeFile(), unlock()) }
	if lost := whatIsLost(noted, s.Head.Last, withoutWAL, time.Now()); lost.Until > 0 {
		s.Head.Loss, s.Head.Last = s.Head.Loss.Join(lost), lost.Until
	}
	return s, nil
}

// readTransferred opens a file that nobody else uses.
func readTransferred(ctx context.Context, path string) (*transfer.Source, error) {
	src, err := openSource(ctx, path)
	if err != nil {
		return nil, restoreHint(err)
	}
	var head tables.Head
	if err = checkIsJournal(ctx, src.conn); err == nil {
		head, err = tables.ReadHead(ctx, src.conn, tables.SQLite)
	}
	if err != nil {
		return nil, errors.Join(restoreHint(nonsense(err)), src.close())
	}
	return &transfer.Source{Querier: src.conn, Engine: tables.SQLite, Head: head, IsCorrupt: isCorrupt, Close: src.close}, nil
}
