package main

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// line is one report. Memory in bytes, time in seconds; counts since the start of the program.
type line struct {
	Event   string `json:"event"`
	Objects int    `json:"objects"`

	// RSS after a full collection that returned free pages to the system: what the objects really need.
	RSS int64 `json:"rss_bytes"`
	// RSS as the program ran, garbage included: what an operator of the program pays for.
	RSSBefore int64 `json:"rss_before_gc_bytes"`
	RSSPeak   int64 `json:"rss_peak_bytes"`
	Heap      int64 `json:"heap_bytes"`

	// CPU of the whole program, user and system, the forced collections of earlier reports not included.
	CPU     float64 `json:"cpu_seconds"`
	Seconds float64 `json:"seconds"`

	Adds    int64 `json:"adds"`
	Updates int64 `json:"updates"`
	Deletes int64 `json:"deletes"`
}

// spentMeasuring is the CPU used by the forced collections so far: they belong to the measurement, not to client-go.
var spentMeasuring float64

func measure() line {
	var l line
	cpu := cpuSeconds()
	l.CPU = cpu - spentMeasuring
	status := procStatus()
	l.RSSBefore, l.RSSPeak = status["VmRSS"], status["VmHWM"]
	runtime.GC()
	debug.FreeOSMemory()
	l.RSS = procStatus()["VmRSS"]
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	l.Heap = int64(memory.HeapAlloc)
	spentMeasuring += cpuSeconds() - cpu
	return l
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

// procStatus holds the fields of /proc/self/status that are given in kB, in bytes.
func procStatus() map[string]int64 {
	fields := map[string]int64{}
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return fields
	}
	defer file.Close()
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		name, value, found := strings.Cut(scanner.Text(), ":")
		number, isKB := strings.CutSuffix(strings.TrimSpace(value), " kB")
		if !found || !isKB {
			continue
		}
		if kb, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64); err == nil {
			fields[name] = kb * 1024
		}
	}
	return fields
}
