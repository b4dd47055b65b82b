// Command celadon validates custom resources and the CEL rules of their definitions as the Kubernetes
// API server would, without a cluster.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process
	// Writing to a closed pipe returns an error, and does not end the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, name: command.Called(os.Args[0])}
	os.Exit(a.run(ctx, os.Args[1:]))
}
