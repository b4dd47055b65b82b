package command

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
)

// FollowFlag names the flag that lets a command read operands through links out of the work tree.
const FollowFlag = "follow"

// operandKey annotates the flags whose values are paths that a command reads.
const operandKey = "celadon_operand"

// Operands declares which flags of cmd hold paths that it reads, and whether its arguments do. It adds
// --follow and, if the arguments are paths, -f, which adds an argument. It is called after RunE is set.
// Before cmd runs without --follow, each of these paths that goes through a link out of its git work tree is
// rejected: any author of a commit can add such a link, and cmd would print the content of its target.
func Operands(cmd *cobra.Command, arguments bool, flags ...string) {
	f := cmd.Flags()
	f.Bool(FollowFlag, false, "also follow symbolic links that lead out of the git work tree")
	var more []string
	run := cmd.RunE
	if arguments {
		f.StringArrayVarP(&more, "filename", "f", nil, "read `PATH`, like an argument (repeatable)")
		_ = f.MarkHidden("filename")
		flags = append(flags, "filename")
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd, slices.Concat(args, more)) }
	}
	for _, flag := range flags {
		if err := f.SetAnnotation(flag, operandKey, nil); err != nil {
			panic(err) // cmd has no such flag
		}
	}
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if !arguments {
			args = nil
		}
		return CheckOperands(cmd.Flags(), args)
	}
}

// OneStdin returns an error if several of paths are standard input.
func OneStdin(paths ...string) error {
	if len(paths)-len(input.WithoutStdin(paths)) > 1 {
		return errors.New("- is given more than once: standard input can be read only once")
	}
	return nil
}

// AddTo adds arguments to the values of a flag.
func AddTo(cmd *cobra.Command, flag string, arguments []string) {
	for _, value := range arguments {
		_ = cmd.Flags().Set(flag, value)
	}
}

// Also lets another name and shorthand set a flag that Operands has declared. note is printed when it is used, unless it
// is "".
func Also(cmd *cobra.Command, flag, name, shorthand, note string) {
	also := *cmd.Flags().Lookup(flag)
	also.Name, also.Shorthand, also.Deprecated, also.Hidden = name, shorthand, note, true
	cmd.Flags().AddFlag(&also)
}

// IsOperand reports whether the values of a flag are paths that its command reads.
func IsOperand(f *pflag.Flag) bool {
	_, ok := f.Annotations[operandKey]
	return ok
}

// CheckOperands returns an error if any of paths, or any operand in flags, goes through a link out of its git work
// tree, unless --follow is set.
func CheckOperands(flags *pflag.FlagSet, paths []string) error {
	if err := CheckPaths(flags, paths...); err != nil {
		return err
	}
	var first error
	flags.Visit(func(f *pflag.Flag) {
		if first != nil || !IsOperand(f) {
			return
		}
		if err := CheckPaths(flags, flagValues(f)...); err != nil {
			first = fmt.Errorf("--%s %w", f.Name, err)
		}
	})
	return first
}

func flagValues(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// ReadFile reads a regular file of at most limit bytes. It returns an error if path goes through a link out of its git
// work tree, unless --follow is set in flags. Errors wrap the system's error, such as fs.ErrNotExist.
func ReadFile(flags *pflag.FlagSet, path string, limit int64) ([]byte, error) {
	if err := CheckPaths(flags, path); err != nil {
		return nil, err
	}
	data, err := input.ReadFile(path, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// CheckPaths returns an error if any of paths goes through a link out of its git work tree, unless
// --follow is set in flags. flags may be nil.
func CheckPaths(flags *pflag.FlagSet, paths ...string) error {
	if flags != nil {
		if follow, err := flags.GetBool(FollowFlag); follow && err == nil {
			return nil
		}
	}
	err := worktree.CheckLinks(paths...)
	if escape := new(worktree.EscapeError); errors.As(err, &escape) {
		return fmt.Errorf("%w: not read: remove the link, or pass --%s", err, FollowFlag)
	}
	return err
}
