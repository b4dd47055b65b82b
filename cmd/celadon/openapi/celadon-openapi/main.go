// Command celadon-openapi prints the OpenAPI documents that a Kubernetes API server publishes for
// CRDs.
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
	s := command.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}.Guarded()
	os.Exit(command.Execute(ctx, s, newCommand(s), os.Args[1:]))
}
