package elasticserver

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

func TestStartNamesATakenPort(t *testing.T) {
	l, err := net.Listen("tcp", address(0))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	_, err = Start(t.Context(), Options{Home: t.TempDir(), Port: port})
	if !errors.Is(err, ErrPortTaken) || !strings.Contains(err.Error(), fmt.Sprint(port)) || !strings.Contains(err.Error(), PortVariable) {
		t.Errorf("Start returned %v, want ErrPortTaken that names the port", err)
	}
}

// TestAPortThatIsFreedIsTaken: the listener on the port ends while the port is tried.
func TestAPortThatIsFreedIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", address(0))
	if err != nil {
		t.Fatal(err)
	}
	freed := time.AfterFunc(portTimeout/20, func() { l.Close() })
	defer freed.Stop()
	if err := checkPort(t.Context(), l.Addr().(*net.TCPAddr).Port); err != nil {
		t.Error(err)
	}
}

func TestStartWantsAHome(t *testing.T) {
	if _, err := Start(t.Context(), Options{}); err == nil {
		t.Error("Start succeeded without a home")
	}
}

func TestHeapFromTheEnvironmentWins(t *testing.T) {
	t.Setenv(HeapVariable, "")
	if got := (Options{}).heap(); got != DefaultHeap {
		t.Errorf("the default heap is %s", got)
	}
	if got := (Options{Heap: "600m"}).heap(); got != "600m" {
		t.Errorf("the heap is %s", got)
	}
	t.Setenv(HeapVariable, "2g")
	if got := (Options{Heap: "600m"}).heap(); got != "2g" {
		t.Errorf("the heap is %s, want that of the environment", got)
	}
}

func TestDeveloperPort(t *testing.T) {
	for text, want := range map[string]int{"": defaultPort, "1": 1, "65535": 65535, "0": 0, "65536": 0, "-1": 0, "http": 0} {
		t.Setenv(PortVariable, text)
		got, err := developerPort()
		if got != want && err == nil || (want == 0) != (err != nil) {
			t.Errorf("%q gives port %d, %v", text, got, err)
		}
	}
}

func TestSettingsCannotMoveTheServer(t *testing.T) {
	yml := home{"/h"}.serverConfig(Options{Port: 9, Settings: map[string]string{
		"http.port":                          "1",
		"path.data":                          "/else",
		"xpack.security.enabled":             "true",
		"cluster.max_shards_per_node.frozen": "7",
	}})
	for _, want := range []string{
		`http.port: "9"`, `path.data: "/h/data"`, `xpack.security.enabled: "true"`, `cluster.max_shards_per_node.frozen: "7"`,
	} {
		if !bytes.Contains(yml, []byte(want+"\n")) {
			t.Errorf("no %s in:\n%s", want, yml)
		}
	}
}

func TestConsoleKeepsTheEndWithoutStackFrames(t *testing.T) {
	c, err := openConsole(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 5000 {
		fmt.Fprintf(c, "line %d\n\tat some.Frame(File.java:1)\n\t... 3 more\n\n", i)
	}
	lines := strings.Split(c.tail(), "\n")
	if len(lines) != 20 || lines[0] != "line 4980" || lines[19] != "line 4999" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}
