package journal

import (
	"encoding/binary"
	"hash/crc32"

	"riskdex/report"
)

// checksum is the CRC-32C of everything that is stored of a change and given out
// again. Each text is preceded by its length, so that no two records with
// different fields have the same input. The state of a document is no part of
// it: settling leaves the checksum as it is.
func checksum(c report.Change) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	head := make([]byte, 0, 128)
	for _, s := range []string{string(c.Kind), string(c.ID), string(c.Op), c.Code} {
		head = binary.BigEndian.AppendUint64(head, uint64(len(s)))
		head = append(head, s...)
	}
	head = binary.BigEndian.AppendUint64(head, uint64(c.Version))
	head = binary.BigEndian.AppendUint64(head, uint64(c.AcceptedAt.UnixMicro()))
	return crc32.Update(crc32.Checksum(head, table), table, c.Body)
}
