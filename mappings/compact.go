package mappings

import "bytes"

// appendCompact appends the valid JSON text src without the white space between
// its tokens. Strings and numbers stay byte for byte as they were.
func appendCompact(dst, src []byte) []byte {
	from := 0 // start of what is not copied yet
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case ' ', '\t', '\r', '\n':
			dst = append(dst, src[from:i]...)
			from = i + 1
		case '"':
			i = stringEnd(src, i)
		}
	}
	return append(dst, src[from:]...)
}

// stringEnd returns the index of the closing quote of the string at src[start].
func stringEnd(src []byte, start int) int {
	i := start + 1
	for {
		i += bytes.IndexByte(src[i:], '"')
		backslashes := 0
		for src[i-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i
		}
		i++
	}
}
