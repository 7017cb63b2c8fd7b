package postgres

import "fmt"

// documentBytes is the size that a document counts for in addition to its body.
const documentBytes = 500

// sumDocuments is for a journal whose documents were copied.
var sumDocuments = fmt.Sprintf(`INSERT INTO totals AS t (slot, kind, bytes)
	SELECT 0, kind, coalesce(sum(length(body)), 0) + %d * count(*) FROM documents GROUP BY kind
	ON CONFLICT (slot, kind) DO UPDATE SET bytes = excluded.bytes`, documentBytes)
