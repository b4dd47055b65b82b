// Command celadon answers, without a cluster, what a Kubernetes API server
// would say of custom resources and of the CEL rules of their definitions.
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
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends us at once
	// A closed pipe is an error of writing, not the end of the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, name: command.Called(os.Args[0])}
	os.Exit(a.run(ctx, os.Args[1:]))
}
