package converter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
)

// command returns a converter that runs a program. The program is untrusted: its output is limited,
// and its process group is killed when the program ends or times out. A process that leaves the
// group, for example by setsid, keeps running, because only a PID namespace could prevent that, and
// many machines do not permit them. However, its output is not awaited.
func command(line string, timeout time.Duration) (engine.Converter, error) {
	args := strings.Fields(line)
	if len(args) == 0 {
		return nil, errors.New("--exec: want a program")
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		if lookup := (*exec.Error)(nil); errors.As(err, &lookup) {
			err = lookup.Err
		}
		return nil, fmt.Errorf("--exec: %s: %w", args[0], input.WithoutPath(err))
	}
	return conversion.Batched(func(ctx context.Context, review []byte) ([]byte, error) {
		timed, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		answer, err := runConverter(timed, path, args, review)
		if timed.Err() != nil && ctx.Err() == nil {
			return nil, &conversion.Error{Failure: conversion.TooSlow, Text: fmt.Sprintf("%s: no response within %s", args[0], timeout)}
		}
		return answer, err
	}), nil
}

const (
	// grace is how long to wait for output after the program has ended, if another process holds it open.
	grace = time.Second
	// maxStderr limits the bytes of error output that are shown.
	maxStderr = 2 << 10
)

func runConverter(ctx context.Context, path string, args []string, review []byte) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &input.Head{Limit: conversion.DefaultMaxBytes, OnExceeded: cancel}
	stderr := &input.Head{Limit: maxStderr}
	cmd := exec.CommandContext(ctx, path, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(review), out, stderr
	cmd.WaitDelay = grace
	ownGroup(cmd)
	err := cmd.Run()
	endGroup(cmd)
	if errors.Is(err, exec.ErrWaitDelay) { // the program has ended, but a child process holds the output open
		err = nil
	}
	switch {
	case out.Exceeded:
		return nil, fmt.Errorf("%s: the response is too large (got more than %d bytes)", args[0], out.Limit)
	case err == nil:
		return out.Bytes(), nil
	}
	if text := bytes.TrimSpace(stderr.Bytes()); len(text) > 0 {
		return nil, fmt.Errorf("%s: %w: %s", args[0], err, text)
	}
	return nil, fmt.Errorf("%s: %w", args[0], err)
}
