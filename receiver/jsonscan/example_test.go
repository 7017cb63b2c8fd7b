package jsonscan_test

import (
	"fmt"

	"riskdex/receiver/jsonscan"
)

func Example() {
	body := []byte(`{"cities": [{"id": 130, "code": "LON"}]}`)
	if err := jsonscan.Check(body); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", jsonscan.Lookup(body, "/cities/0/id"))
	for city := range jsonscan.Elements(jsonscan.Lookup(body, "/cities")) {
		for _, m := range jsonscan.Members(city) {
			fmt.Printf("%s: %s\n", m.Name, m.Value)
		}
	}
	fmt.Println(jsonscan.Check([]byte(`{"id": 1, "id": 2}`)))
	// Output:
	// 130
	// id: 130
	// code: "LON"
	// a member appears twice in the same object, at byte 10 within "/id"
}
