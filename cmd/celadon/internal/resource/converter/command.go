package converter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
)

// command returns a converter that runs a program. The program is not trusted: its output
// is bounded, and its process group is killed when it ends or its time is over. A process
// that left the group, for example by setsid, keeps running: only a PID namespace would hold
// it, and many machines allow none. But run does not wait for its output.
func command(line string, timeout time.Duration) (engine.Converter, error) {
	args := strings.Fields(line)
	if len(args) == 0 {
		return nil, errors.New("--exec: want a program")
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return nil, fmt.Errorf("--exec: %w", err)
	}
	return conversion.Reviews(func(ctx context.Context, review []byte) ([]byte, error) {
		timed, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		answer, err := runConverter(timed, path, args, review)
		if timed.Err() != nil && ctx.Err() == nil {
			return nil, &conversion.Error{Failure: conversion.TooSlow, Text: fmt.Sprintf("%s: no answer within %s", args[0], timeout)}
		}
		return answer, err
	}), nil
}

const (
	// grace is how long output may be held open by what outlives the program.
	grace = time.Second
	// maxSaid is how much of its complaints is shown.
	maxSaid = 2 << 10
)

func runConverter(ctx context.Context, path string, args []string, review []byte) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &bounded{most: conversion.DefaultMaxBytes, full: cancel}
	said := &bounded{most: maxSaid}
	cmd := exec.CommandContext(ctx, path, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(review), out, said
	cmd.WaitDelay = grace
	ownGroup(cmd)
	err := cmd.Run()
	endGroup(cmd)
	if errors.Is(err, exec.ErrWaitDelay) { // it has answered, and what it left behind holds the output
		err = nil
	}
	switch {
	case out.over:
		return nil, fmt.Errorf("%s: the answer is too large (got more than %d bytes)", args[0], out.most)
	case err == nil:
		return out.kept.Bytes(), nil
	}
	if text := strings.TrimSpace(said.kept.String()); text != "" {
		return nil, fmt.Errorf("%s: %w: %s", args[0], err, text)
	}
	return nil, fmt.Errorf("%s: %w", args[0], err)
}

// bounded keeps the begin of what is written. It is no bytes.Buffer, which would
// be read into without a bound.
type bounded struct {
	kept bytes.Buffer
	most int
	over bool
	full func() // called when there is more; nil: the rest is dropped
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := min(len(p), b.most-b.kept.Len())
	b.kept.Write(p[:keep])
	if keep < len(p) {
		b.over = true
		if b.full != nil {
			b.full()
		}
	}
	return len(p), nil
}
