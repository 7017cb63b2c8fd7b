package elasticserver_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
)

// parentRole makes this program start a server and wait to be killed.
const parentRole = "RISKDEX_ELASTIC_TEST_PARENT"

func TestMain(m *testing.M) {
	if home := os.Getenv(parentRole); home != "" {
		os.Exit(startAndWait(home))
	}
	os.Exit(elastictest.Main(m))
}

func startAndWait(home string) int {
	s, err := elasticserver.Start(context.Background(), elasticserver.Options{Home: home, Heap: elasticserver.TestHeap, FastStart: true, Log: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(s.URL(), s.Home())
	<-s.Done()
	fmt.Fprintln(os.Stderr, s.Err())
	return 1
}
