package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processorOf returns the CPU time of a process, including its ended threads. It does not use
// /proc, whose hundredths of a second are too coarse for an idle riskdex.
func processorOf(pid int) (time.Duration, error) {
	// The number of the clock of another process, as clock_getcpuclockid(3) returns it.
	const scheduled = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|scheduled, &t); err != nil {
		return 0, fmt.Errorf("read the CPU time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// compilersOf returns the CPU time of the compilers of a JVM, in hundredths of a second (proc(5)).
func compilersOf(pid int) (sum time.Duration, err error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return 0, err
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		_, after, _ := strings.Cut(string(text), " (")
		name, after, _ := strings.Cut(after, ") ")
		if name != "C1 CompilerThre" && name != "C2 CompilerThre" { // the kernel has 15 bytes of a name
			continue
		}
		const user, system = 11, 12 // after the name
		values := strings.Fields(after)
		if len(values) <= system {
			return 0, fmt.Errorf("%s has no CPU time: %q", task, text)
		}
		for _, value := range []string{values[user], values[system]} {
			ticks, err := strconv.Atoi(value)
			if err != nil {
				return 0, fmt.Errorf("read the CPU time in %s: %w", task, err)
			}
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum, nil
}

// spends returns the CPU time that a process takes for something.
func spends(pid int, use func()) time.Duration {
	before := must(processorOf(pid))
	use()
	return must(processorOf(pid)) - before
}

// residentMiB returns the resident set of a process, in MiB, and mostResidentMiB the largest
// that it had (proc(5)).
func residentMiB(pid int) (float64, error)     { return statusMiB(pid, "VmRSS") }
func mostResidentMiB(pid int) (float64, error) { return statusMiB(pid, "VmHWM") }

func statusMiB(pid int, name string) (float64, error) {
	text := firstValue(fmt.Sprintf("/proc/%d/status", pid), name)
	kib, err := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/%d/status does not say what is resident: %q", pid, text)
	}
	return kib / 1024, nil
}

// fsyncs measures n times how long it takes to append 4 KB to a file durably.
func fsyncs(dir string, n int) latencies {
	file := must(os.Create(filepath.Join(dir, "fsync")))
	defer os.Remove(file.Name())
	defer file.Close()
	block := make([]byte, 4096)
	each := make(latencies, n)
	for i := range each {
		began := time.Now()
		must(file.Write(block))
		check(file.Sync())
		each[i] = time.Since(began)
	}
	slices.Sort(each)
	return each
}

// machine describes this machine in one line.
func machine() string {
	return fmt.Sprintf("%s, %d cores, %.0f GiB, %s, %s", firstValue("/proc/cpuinfo", "model name"), runtime.NumCPU(),
		memoryGiB(), kernel(), runtime.Version())
}

func kernel() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	release, _, _ := strings.Cut(strings.TrimSpace(string(text)), "-")
	return "Linux " + release
}

func memoryGiB() float64 {
	kib, _, _ := strings.Cut(firstValue("/proc/meminfo", "MemTotal"), " ")
	n, _ := strconv.ParseFloat(kib, 64)
	return n / (1 << 20)
}

// firstValue returns the value of the first line "name: value" of a file.
func firstValue(path, name string) string {
	file, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// load1 returns the load average of the last minute.
func load1() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
