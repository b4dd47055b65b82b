package celadonvet

import (
	"errors"
	"go/token"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/markers"
	"github.com/celadon-cel/celadon/x/markers/markervet"
)

// Config holds the default values of the analyzer's flags.
type Config struct {
	// CRDs lists files and folders with generated CRDs, relative to the module's folder. If it is
	// empty, the existing folders among config/crd, manifests, and payload-manifests are read, in
	// the module or else in the repository that contains it.
	CRDs []string
	// KubeVersion is the Kubernetes minor version to emulate, for example "1.33". "" means the
	// newest supported version.
	KubeVersion string
	// WithoutLints names the lints to disable.
	WithoutLints []string
	// NoAdvice disables suggestions for bounds that would bring the rules within the cost limits.
	NoAdvice bool
}

// New returns an analyzer. Its flags override cfg.
func New(cfg Config) *analysis.Analyzer {
	v := &vetter{cfg: cfg, modules: map[string]func() ([]markervet.Finding, error){}}
	a := &analysis.Analyzer{
		Name: "celadonvet",
		Doc:  "check the CEL rules in markers against the CRDs generated from them\n\nSee docs/go-markers.md of github.com/celadon-cel/celadon.",
		URL:  "https://github.com/celadon-cel/celadon",
		Run:  v.run,
	}
	a.Flags.Var((*list)(&v.cfg.CRDs), "crd", "read generated CRDs from `PATHS`: files and folders, relative to the module, separated by commas (default config/crd,manifests,payload-manifests)")
	a.Flags.StringVar(&v.cfg.KubeVersion, "kube-version", cfg.KubeVersion, "Kubernetes `X.Y` to emulate (default: the newest supported)")
	a.Flags.Var((*list)(&v.cfg.WithoutLints), "no-lint", "disable the lints `NAMES`, separated by commas")
	a.Flags.BoolVar(&v.cfg.NoAdvice, "no-advice", cfg.NoAdvice, "do not report bounds that would make rules fit")
	return a
}

type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(text string) error {
	*l = strings.Split(text, ",")
	return nil
}

// A vetter vets each module once for all passes. It is safe for concurrent use.
type vetter struct {
	cfg Config

	mu      sync.Mutex
	modules map[string]func() ([]markervet.Finding, error)
}

func (v *vetter) run(pass *analysis.Pass) (any, error) {
	files := map[string]*token.File{}
	marked := false
	for _, tree := range pass.Files {
		f := pass.Fset.File(tree.FileStart)
		files[f.Name()] = f
		for _, g := range tree.Comments {
			for _, c := range g.List {
				marked = marked || markers.IsMarker(c.Text)
			}
		}
	}
	if !marked {
		return nil, nil
	}
	for name := range files {
		found, err := v.module(name)
		if err != nil {
			return nil, errors.New(string(untrusted.Line(err.Error())))
		}
		for i := range found {
			report(pass, files, &found[i])
		}
		break // all files of a package are in the same module
	}
	return nil, nil
}

func report(pass *analysis.Pass, files map[string]*token.File, f *markervet.Finding) {
	at := f.Position
	if at.Line == 0 {
		at = f.Near
	}
	file := files[at.File]
	if file == nil || at.Line == 0 || at.Line > file.LineCount() {
		return
	}
	start := file.LineStart(at.Line)
	text, err := pass.ReadFile(file.Name())
	if err != nil {
		return
	}
	line, _, _ := strings.Cut(string(text[min(file.Offset(start), len(text)):]), "\n")
	before := string([]rune(line)[:min(at.Column-1, len([]rune(line)))])
	d := analysis.Diagnostic{Pos: start + token.Pos(len(before)), Category: f.ID, Message: message(f)}
	if f.Write != "" {
		indent := before[:len(before)-len(strings.TrimLeft(before, " \t"))]
		edit := analysis.TextEdit{Pos: start, End: start, NewText: []byte(indent + f.Write + "\n")}
		d.SuggestedFixes = []analysis.SuggestedFix{{Message: "write " + f.Write, TextEdits: []analysis.TextEdit{edit}}}
	}
	pass.Report(d)
}

// Drivers print a message unchanged, so untrusted text in it is escaped.
func message(f *markervet.Finding) string {
	text := f.ID + ": " + strings.ReplaceAll(f.Message, "\n", " ")
	if at := f.Position; at.Line == 0 && f.Rule != "" {
		text += ": " + strings.ReplaceAll(f.Rule, "\n", " ")
	}
	if len(f.Paths) > 0 {
		text += " (" + f.Paths[0].String()
		if more := len(f.Paths) - 1; more > 0 {
			text += " and elsewhere"
		}
		text += ")"
	}
	return string(untrusted.Line(text))
}
