package admin_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/testkit/child"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"

	"golang.org/x/net/websocket"
)

// chromium is a tab of a headless Chromium, driven over its DevTools protocol.
type chromium struct {
	t       *testing.T
	conn    *websocket.Conn
	last    int
	session string // of the tab
}

// browserTimeout bounds a whole test with a browser, generously for slow machines.
const browserTimeout = 3 * time.Minute

// openChromium starts a browser for the test. more are further flags of it.
func openChromium(t *testing.T, more ...string) *chromium {
	t.Helper()
	program := needs.Program(t, "chromium", "apt-get install -y --no-install-recommends chromium")
	ctx, cancel := context.WithTimeout(t.Context(), browserTimeout)
	t.Cleanup(cancel)
	profile, err := os.MkdirTemp("", "riskdex-chromium-") // not t.TempDir, whose cleanup would fail, as Chromium writes until it ends
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(profile) })
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--no-first-run", "--disable-background-networking", "--user-data-dir=" + profile, "--remote-debugging-port=0", "--remote-allow-origins=*"}, more...)
	cmd := exec.CommandContext(ctx, program, append(args, "about:blank")...)
	cmd.SysProcAttr = child.WithParent(&syscall.SysProcAttr{Setpgid: true})
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // with its child processes
		_ = cmd.Wait()
	})
	c := &chromium{t: t}
	c.dial(ctx, profile)
	t.Cleanup(func() { _ = c.conn.Close() })
	return c
}

// dial waits for the browser and connects to its tab.
func (c *chromium) dial(ctx context.Context, profile string) {
	c.t.Helper()
	for {
		text, err := os.ReadFile(filepath.Join(profile, "DevToolsActivePort"))
		if port, path, ok := strings.Cut(string(text), "\n"); err == nil && ok && path != "" {
			c.conn, err = websocket.Dial("ws://127.0.0.1:"+port+strings.TrimSpace(path), "", "http://127.0.0.1")
			require.NoError(c.t, err)
			break
		}
		select {
		case <-ctx.Done():
			c.t.Fatalf("Chromium did not start: %v", errors.Join(ctx.Err(), err))
		case <-time.After(20 * time.Millisecond):
		}
	}
	deadline, _ := ctx.Deadline()
	require.NoError(c.t, c.conn.SetDeadline(deadline))
	var tabs struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	require.NoError(c.t, c.call("", "Target.getTargets", nil, &tabs))
	for _, tab := range tabs.TargetInfos {
		if tab.Type == "page" {
			var attached struct{ SessionID string }
			require.NoError(c.t, c.call("", "Target.attachToTarget", map[string]any{"targetId": tab.TargetID, "flatten": true}, &attached))
			c.session = attached.SessionID
			// The test fires the page's timer.
			c.do("Page.enable", nil, nil)
			c.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "window.setInterval = function (f) { window.tick = f }"}, nil)
			return
		}
	}
	c.t.Fatal("Chromium has no tab")
}

// do makes a call of the protocol on the tab.
func (c *chromium) do(method string, params map[string]any, result any) {
	c.t.Helper()
	require.NoError(c.t, c.call(c.session, method, params, result))
}

func (c *chromium) call(session, method string, params map[string]any, result any) error {
	c.t.Helper()
	c.last++
	require.NoError(c.t, websocket.JSON.Send(c.conn, map[string]any{"id": c.last, "sessionId": session, "method": method, "params": params}))
	for {
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		require.NoError(c.t, websocket.JSON.Receive(c.conn, &answer))
		switch {
		case answer.ID != c.last: // an event
		case answer.Error != nil:
			return fmt.Errorf("Chromium: %s: %s", method, answer.Error.Message)
		case result != nil:
			return json.Unmarshal(answer.Result, result)
		default:
			return nil
		}
	}
}

// eval returns the result of a script on the page, or "" while another page is being loaded.
func (c *chromium) eval(script string) string {
	c.t.Helper()
	var out struct {
		Result struct{ Value any }
	}
	if err := c.call(c.session, "Runtime.evaluate", map[string]any{"expression": "String(" + script + ")"}, &out); err != nil {
		return ""
	}
	text, _ := out.Result.Value.(string)
	return text
}

// open loads a page and waits until it is complete.
func (c *chromium) open(url string) {
	c.t.Helper()
	c.do("Page.navigate", map[string]any{"url": url}, nil)
	c.until(`document.readyState == "complete" && location.href`, url)
}

// until waits until a script returns want.
func (c *chromium) until(script, want string) {
	c.t.Helper()
	for {
		if c.eval(script) == want {
			return
		}
		time.Sleep(20 * time.Millisecond) // the deadline of the connection ends this
	}
}

// look sets the size of the window and the preferred colour scheme.
func (c *chromium) look(width, height int, phone bool, colours string) {
	c.t.Helper()
	c.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}, nil)
	c.do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": colours}}}, nil)
}

// screenshotsVariable is the environment variable with the folder in which to keep
// pictures, if any.
const screenshotsVariable = "RISKDEX_TEST_SCREENSHOTS"

// picture takes a screenshot of the whole page.
func (c *chromium) picture(name string) []byte {
	c.t.Helper()
	var shot struct{ Data string }
	c.do("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(c.t, err)
	if dir := os.Getenv(screenshotsVariable); dir != "" {
		require.NoError(c.t, os.MkdirAll(dir, 0o755))
		require.NoError(c.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
	}
	return png
}
