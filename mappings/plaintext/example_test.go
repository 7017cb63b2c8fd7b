package plaintext_test

import (
	"fmt"

	"riskdex/mappings/plaintext"
)

func Example() {
	noDates := func([]byte) bool { return false }
	for _, s := range []string{
		"<p>Avoid the <b>old town</b>&nbsp;at night.</p><p>See [the advice](https://example.org).</p>",
		"https://example.org/map.png",
		"d3b07384d113edec49eaa6238ad5ff00",
	} {
		fmt.Printf("%q\n", plaintext.AppendReadable(nil, []byte(s), noDates))
	}
	fmt.Printf("%q\n", plaintext.AppendLine(nil, []byte("<h1>London</h1>\n<p>United&nbsp;Kingdom")))
	// Output:
	// "Avoid the old town at night.\n\nSee the advice."
	// ""
	// ""
	// "London United Kingdom"
}
