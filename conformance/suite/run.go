package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	defaultTimeout = 10 * time.Second
	// maxRestarts limits how often an implementation is started again.
	maxRestarts = 5
)

// Config configures a run.
type Config struct {
	// Command starts the implementation.
	Command []string
	// Minors and Groups select cases; all if empty.
	Minors, Groups []string
	// Timeout limits the wait for a response. It is ten seconds if zero.
	Timeout time.Duration
	Known   Known
}

// ErrNothing is the error of a run that compares no response.
var ErrNothing = errors.New("no answer was compared")

// Run runs the cases of a suite. It always returns a report, also with an error. The error is ErrNothing if
// no response was compared.
func (s *Suite) Run(ctx context.Context, cfg Config) (*Report, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	r := &run{suite: s, cfg: cfg, report: newReport(s.Groups)}
	if err := r.check(); err != nil {
		return r.report, err
	}
	defer r.stop(stopTimeout)
	if err := r.start(ctx); err != nil {
		return r.report, err
	}
	err := r.all(ctx)
	if err == nil && r.report.compared == 0 {
		err = ErrNothing
	}
	if len(cfg.Minors)+len(cfg.Groups) == 0 && err == nil {
		r.report.stale = cfg.Known.stale()
	}
	return r.report, err
}

type run struct {
	suite    *Suite
	cfg      Config
	report   *Report
	process  *process
	hello    *Answer
	restarts int
}

func (r *run) check() error {
	if len(r.cfg.Command) == 0 {
		return errors.New("no command: want the command that starts the implementation")
	}
	for _, minor := range r.cfg.Minors {
		if !slices.ContainsFunc(r.suite.Minors, func(m Minor) bool { return m.Minor == minor }) {
			return fmt.Errorf("unknown minor version %q", minor)
		}
	}
	for _, group := range r.cfg.Groups {
		if !slices.ContainsFunc(r.suite.Groups, func(g Group) bool { return g.Name == group }) {
			return fmt.Errorf("unknown group %q", group)
		}
	}
	return nil
}

func (r *run) start(ctx context.Context) (err error) {
	if r.process, err = start(ctx, r.cfg.Command); err != nil {
		return err
	}
	hello, err := r.process.exchange(ctx, Hello(), r.cfg.Timeout)
	if err != nil {
		return fmt.Errorf("hello: %w", r.withStderr(err))
	}
	if len(hello.Levels) == 0 {
		return errors.New("hello: the answer has no levels")
	}
	for _, level := range hello.Levels {
		if !slices.Contains(Levels(), level) {
			return fmt.Errorf("hello: unknown level %q (want some of %s)", shorten(level, 100), strings.Join(Levels(), ", "))
		}
	}
	r.hello, r.report.name = hello, hello.Name
	return nil
}

func (r *run) stop(timeout time.Duration) (stderr string) {
	if r.process != nil {
		stderr = r.process.stop(timeout)
		r.process = nil
	}
	return stderr
}

// withStderr stops the implementation.
func (r *run) withStderr(err error) error {
	if stderr := r.stop(0); stderr != "" {
		return fmt.Errorf("%w; its standard error ends with:\n%s", err, stderr)
	}
	return err
}

func (r *run) all(ctx context.Context) error {
	for _, m := range r.suite.Minors {
		if !selected(r.cfg.Minors, m.Minor) || !selected(r.hello.Minors, m.Minor) {
			continue
		}
		for i := range r.suite.Cases {
			c := &r.suite.Cases[i]
			want := c.Expected(m.Minor)
			if want == nil || !selected(r.cfg.Groups, c.Group) {
				continue
			}
			if err := r.one(ctx, c, &want.Response, r.suite.Request(c, m.Minor)); err != nil {
				return err
			}
		}
	}
	return nil
}

func selected(names []string, name string) bool {
	return len(names) == 0 || slices.Contains(names, name)
}

// If the response is invalid or missing, each level fails, and the implementation is started again.
func (r *run) one(ctx context.Context, c *Case, want *Response, req *Request) error {
	got, err := r.process.exchange(ctx, req, r.cfg.Timeout)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && got.Unsupported != "" {
		r.report.unsupported(c.Group)
		return nil
	}
	for _, level := range r.hello.Levels {
		if !compared(level, want) {
			continue
		}
		detail := ""
		if err != nil {
			detail = "no valid answer: " + err.Error()
		} else {
			detail = difference(level, want, &got.Response)
		}
		r.report.add(c.Group, level, req.Minor, c.ID, detail, r.cfg.Known)
	}
	if err == nil {
		return nil
	}
	if err = r.withStderr(err); r.restarts == maxRestarts {
		return fmt.Errorf("%s: the implementation failed %d times: %w", req.ID, maxRestarts+1, err)
	}
	r.restarts++
	return r.start(ctx)
}
