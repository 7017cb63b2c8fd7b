package report

// WrongAlias says that the alias which apps search is not exactly the one index that the journal
// fills: they find what is not so, or miss what is.
type WrongAlias struct {
	Kind   Kind   `json:"kind"`
	Alias  string `json:"alias"`
	Detail string `json:"detail"` // what it leads to
	Remedy string `json:"remedy"` // the request to Elasticsearch that puts it right
}

func (w *WrongAlias) Error() string { return w.Detail + "; put it right in Elasticsearch: " + w.Remedy }
