// Package command provides the streams, exit codes, flags, and errors that all subcommands share.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Exit codes, in the style of kubectl diff.
const (
	OK          = 0
	Findings    = 1
	Usage       = 2 // usage error, unreadable input, an undecided object, or nothing checked
	Bug         = 3
	Interrupted = 130
)

// Streams holds a command's input and outputs, so that tests can run it in-process.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Name is the command's name in messages; "" means celadon.
	Name string
}

// Complain writes err to stderr. Lines after the first are indented, so untrusted text in err cannot forge a message.
func (s Streams) Complain(err error) {
	text := strings.Replace(err.Error(), "(see "+own+" ", "(see "+s.called()+" ", 1)
	untrusted.Fprintf(s.Stderr, "%s: %s\n", s.called(), untrusted.Lines(text, "  "))
}

// An ExitError ends the command with Code. If Err is not nil, it is written to stderr, unless it is the error
// of a closed pipe.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Guarded returns s with a Stderr that neutralizes untrusted text.
func (s Streams) Guarded() Streams {
	if _, ok := s.Stderr.(*untrusted.Writer); !ok {
		s.Stderr = untrusted.NewWriter(s.Stderr)
	}
	return s
}

// Execute runs root with args and returns the exit code. A panic is reported as an internal error
// without a stack trace. root's commands must have been created with s.
func Execute(ctx context.Context, s Streams, root *cobra.Command, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			s.Complain(fmt.Errorf("internal error, please report it: %v", p))
			code = Bug
		}
	}()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	var exit *ExitError
	if err != nil && cmd == root && root.HasSubCommands() && !errors.As(err, &exit) {
		err = SeeHelp(cmd, err) // no such command
	}
	return s.Exit(ctx, err)
}

// Exit returns the exit code for err, and writes its message, if any, to stderr.
func (s Streams) Exit(ctx context.Context, err error) int {
	if err == nil {
		return OK
	}
	var exit *ExitError
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		exit = &ExitError{Interrupted, errors.New("interrupted")}
	case errors.As(err, &exit):
	default:
		exit = &ExitError{Usage, err}
	}
	if exit.Err != nil && !errors.Is(exit.Err, syscall.EPIPE) { // a closed pipe needs no message
		s.Complain(exit.Err)
	}
	return exit.Code
}

// SeeHelp returns err as a usage error whose first line refers to cmd's help.
func SeeHelp(cmd *cobra.Command, err error) *ExitError {
	text, more, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	if more = strings.TrimSpace(more); more != "" { // suggested names
		more = "\n  " + strings.ReplaceAll(more, "\n\t", "\n    ")
	}
	return &ExitError{Usage, fmt.Errorf("%s (see %s --help)%s", text, cmd.CommandPath(), more)}
}

// NoArguments is the Args function of a command without arguments other than subcommands.
func NoArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasSubCommands():
		return SeeHelp(cmd, fmt.Errorf("%q: no such command: want %s", args[0], phrase.Or(names(cmd))))
	}
	return SeeHelp(cmd, fmt.Errorf("%q: %s takes no arguments", args[0], cmd.CommandPath()))
}

// Version returns the module version of this build, or "devel" if it is unknown.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// Versions returns a line for each of the versions of Celadon, the Kubernetes libraries, and cel-go,
// and a line for the commit if go built a checkout. All come from the build information (see `go
// version -m`), so builds need no linker flags.
func Versions() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	var kube, cel string
	for _, dep := range info.Deps {
		switch dep.Path {
		case "k8s.io/apiextensions-apiserver":
			kube = dep.Version
		case "github.com/google/cel-go":
			cel = dep.Version
		}
	}
	return fmt.Sprintf("celadon %s\n%skubernetes libraries %s\ncel-go %s\n", Version(), commit(info.Settings), cmp.Or(kube, "unknown"), cmp.Or(cel, "unknown"))
}

func commit(settings []debug.BuildSetting) string {
	var revision, date, changed string
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.time":
			date, _, _ = strings.Cut(s.Value, "T")
		case "vcs.modified":
			if s.Value == "true" {
				changed = ", with changes"
			}
		}
	}
	if revision == "" {
		return ""
	}
	return fmt.Sprintf("commit %s of %s%s\n", revision, date, changed)
}

const (
	own     = "celadon"
	plugin  = "kubectl-celadon" // the file name that kubectl looks for in $PATH
	kubectl = "kubectl celadon" // the name to show when run by kubectl
)

// Called returns the command's name to show to users. program is os.Args[0].
func Called(program string) string {
	if strings.TrimSuffix(filepath.Base(program), ".exe") == plugin {
		return kubectl
	}
	return own
}

func (s Streams) called() string {
	if s.Name == "" {
		return own
	}
	return s.Name
}

// Rename replaces "celadon" by name in the usage of root and, before the name of a command, in descriptions,
// examples, and flags.
func Rename(root *cobra.Command, name string) {
	if name == "" || name == own {
		return
	}
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	commands := regexp.MustCompile(`\b` + own + ` (` + strings.Join(names(root), "|") + `)\b`)
	renamed(root, func(text string) string { return commands.ReplaceAllString(text, name+" $1") })
}

func renamed(cmd *cobra.Command, rename func(string) string) {
	cmd.Long, cmd.Example = rename(cmd.Long), rename(cmd.Example)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = rename(f.Usage) })
	for _, sub := range cmd.Commands() {
		renamed(sub, rename)
	}
}
