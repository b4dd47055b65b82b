// Package converter selects how commands convert objects between the versions of a CRD: by a
// webhook, or by a program that they start.
package converter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
)

const (
	timeout = 10 * time.Second
	// Patience is how many times a command waits for a converter that has never responded.
	Patience = 3
	// maxWaiting limits the conversions that wait at the same time in a server, so that it can serve other requests.
	maxWaiting = 64
	maxCA      = 1 << 20
)

// Flags select a webhook. Without them, no webhook is called, whatever the CRD contains.
type Flags struct{ URL, CA string }

// Add adds the flags to a set.
func (f *Flags) Add(fs *pflag.FlagSet) {
	fs.StringVar(&f.URL, "convert", "", "https `URL` of the conversion webhook to call for CRDs that convert with one; the URL in the CRD is never called")
	fs.StringVar(&f.CA, "convert-ca", "", "with --convert: `FILE` with the certificate authorities to trust, in PEM (default: the system's)")
}

// Open returns a converter, or nil if no webhook is selected. maxTimeouts is how many times a webhook that has never
// responded may time out before calls to it stop; 0 means no limit and is for servers.
func (f *Flags) Open(maxTimeouts int64) (engine.Converter, error) {
	if f.URL == "" {
		if f.CA != "" {
			return nil, errors.New("--convert-ca: use it with --convert URL")
		}
		return nil, nil
	}
	return f.open(timeout, maxTimeouts)
}

func (f *Flags) open(timeout time.Duration, maxTimeouts int64) (engine.Converter, error) {
	w := conversion.Webhook{URL: f.URL, Timeout: timeout, Patience: maxTimeouts}
	if maxTimeouts == 0 {
		w.MaxWaiting = maxWaiting
	}
	if f.CA != "" {
		var err error
		if w.CA, err = input.ReadFile(f.CA, maxCA); err != nil {
			return nil, fmt.Errorf("--convert-ca: %w", err)
		}
		if len(w.CA) == 0 {
			return nil, fmt.Errorf("--convert-ca: %s: the file is empty: want certificates in PEM", f.CA)
		}
	}
	c, err := w.Converter()
	if err != nil {
		return nil, fmt.Errorf("--convert: %w", err)
	}
	return c, nil
}

// OrCommand are the flags of a command that can also convert by a program.
type OrCommand struct {
	Flags
	Exec    string
	Timeout time.Duration
}

// Add adds the flags to a set.
func (f *OrCommand) Add(fs *pflag.FlagSet) {
	f.Flags.Add(fs)
	fs.StringVar(&f.Exec, "exec", "", "run `COMMAND` with its arguments instead, without a shell; it reads a ConversionReview with one or more objects from standard input")
	fs.DurationVar(&f.Timeout, "timeout", timeout, "time limit for each conversion")
}

// Open returns a converter, or nil if neither a webhook nor a program is selected.
func (f *OrCommand) Open() (engine.Converter, error) {
	switch {
	case f.Timeout <= 0:
		return nil, fmt.Errorf("--timeout %s: want more than 0", f.Timeout)
	case f.Exec != "" && (f.URL != "" || f.CA != ""):
		return nil, errors.New("--exec and --convert: want only one of them")
	case f.Exec != "":
		return command(f.Exec, f.Timeout)
	case f.URL == "":
		return f.Flags.Open(Patience)
	}
	return f.open(f.Timeout, Patience)
}

// command returns a converter that runs a program. The program is untrusted: its output is limited, and on Unix, its
// process group is killed when the program ends or times out. A process that leaves the group, for example by setsid,
// keeps running, because only a PID namespace could prevent that, and many machines do not permit them. Its output is
// awaited only for the time grace.
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
	grace     = time.Second
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
