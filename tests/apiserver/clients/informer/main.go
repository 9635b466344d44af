// client-go-check uses an API server the way programs built on client-go do, and fails when anything is not as with a real one.
//
//	client-go-check --kubeconfig FILE follow   informers follow every change, also across restarts of the server
//	client-go-check --kubeconfig FILE leader   three candidates, one leader at a time
//	client-go-check --kubeconfig FILE kinds    typed clients that speak protobuf, apply, scale, events, discovery
//
// follow asks for a restart of the server by the line "restart" on standard output and goes on after a line on standard input.
// Everything else it prints is for people.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/klog/v2"
)

type options struct {
	kubeconfig string
	objects    int
	restarts   int
	verbose    bool
}

func main() {
	var o options
	var patience time.Duration
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file (default: KUBECONFIG)")
	flag.IntVar(&o.objects, "objects", 2000, "objects that are there before the informers start")
	flag.IntVar(&o.restarts, "restarts", 1, "how often to ask for a restart of the server")
	flag.DurationVar(&patience, "timeout", 3*time.Minute, "give up after this long")
	flag.BoolVar(&o.verbose, "verbose", false, "print lists and watches as they go over the wire, and client-go's own log")
	flag.Parse()
	if !o.verbose {
		// What client-go has to say about a server that is being restarted is no news.
		klog.LogToStderr(false)
		klog.SetOutput(io.Discard)
	}
	checks := map[string]func(context.Context, options) error{"follow": follow, "leader": leader, "kinds": kinds}
	check, known := checks[flag.Arg(0)]
	if flag.NArg() != 1 || !known {
		fmt.Fprintln(os.Stderr, "client-go-check: expected one of follow, leader, kinds")
		os.Exit(2)
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if err := check(ctx, o); err != nil {
		fmt.Fprintf(os.Stderr, "client-go-check %s: %v\n", flag.Arg(0), err)
		os.Exit(1)
	}
}

var answers = bufio.NewScanner(os.Stdin)

// askForRestart returns when whoever started this program has restarted the server.
func askForRestart() error {
	fmt.Println("restart")
	if !answers.Scan() {
		return fmt.Errorf("nobody restarted the server")
	}
	return nil
}

// eventually waits for a condition that other goroutines bring about; the reason of the last failure is the error.
func eventually(ctx context.Context, condition func() error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := condition()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gave up: %w", err)
		case <-tick.C:
		}
	}
}
