package plaintext

import (
	"encoding/binary"
	"math/bits"
)

// Most text consists of ASCII words with single spaces between them. plainWords looks for
// anything else, eight bytes at a time. A mask has the top bit of every byte that it
// reports; if several are set, only the lowest is certain.
const (
	tops   = 0x8080808080808080
	ones   = 0x0101010101010101
	spaces = ones * ' '
)

// controls returns the mask of the control characters below the space.
func controls(w uint64) uint64 { return (w - spaces) &^ w & tops }

// plainWords returns how many bytes at the start of s can stay as they are: printable ASCII
// in which every space has another printable character before and after it. The first byte
// must be such a character. The result may miss up to seven bytes at the end of s.
func plainWords(s []byte) int {
	n := 0
	for ; n+8 <= len(s); n += 8 {
		w := binary.LittleEndian.Uint64(s[n:])
		bad := (w | (w + ones) | (w - spaces)) & tops // beyond ASCII, DEL, controls
		space := (tops - (w ^ spaces)) & tops         // 0 becomes 0x80, up to 0x7f becomes less
		next := (space | bad) >> 8
		if n+8 == len(s) || s[n+8] <= ' ' || s[n+8] >= 0x7f {
			next |= 1 << 63
		}
		if stop := bad | space&next; stop != 0 {
			return n + bits.TrailingZeros64(stop)/8
		}
	}
	return n
}
