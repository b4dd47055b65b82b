package command

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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

// Rename replaces "celadon" by name in usage and help messages.
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
