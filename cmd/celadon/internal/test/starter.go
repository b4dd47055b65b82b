package test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/filename"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// InitOptions holds the flags of celadon test init.
type InitOptions struct {
	CRDs, Samples []string
	Policies      []string
	Out           string
	Steps         int
}

// Flags adds the flags to f.
func (o *InitOptions) Flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringArrayVar(&o.CRDs, "crd", nil, "read CRDs from `PATH`: a file, a folder, or - (repeatable)")
	f.StringArrayVar(&o.Policies, "policy", nil, "write suites of the admission policies in `PATH` instead, a file or a folder (repeatable); --crd has the CRDs of the objects")
	f.StringArrayVar(&o.Samples, "from", nil, "prefer the objects in `SAMPLES`, a file or a folder (repeatable)")
	f.StringVar(&o.Out, "out", "", "write one file per CRD version into `DIR` (default: standard output)")
	f.IntVar(&o.Steps, "steps", search.DefaultSteps, "number of objects to try for each rule")
}

// Check returns an error if the flags are invalid.
func (o *InitOptions) Check() error {
	switch all := slices.Concat(o.CRDs, o.Samples); {
	case len(o.CRDs) == 0 && len(o.Policies) == 0:
		return errors.New("no CRDs given: use --crd PATH")
	case o.Steps <= 0:
		return fmt.Errorf("--steps %d: want 1 or more", o.Steps)
	case len(slices.DeleteFunc(slices.Clone(all), func(path string) bool { return path != "-" })) > 1:
		return errors.New("- is given more than once: standard input can be read only once")
	case slices.Contains(o.Policies, "-"):
		return errors.New("--policy -: a suite refers to files: want a file or a folder")
	}
	return nil
}

// Init implements celadon test init.
func Init(ctx context.Context, s command.Streams, o *InitOptions) error {
	i := &initial{Streams: s, o: o, samples: map[string][]map[string]any{}, named: map[string]bool{}}
	if err := i.read(ctx); err != nil {
		return err
	}
	i.bar = progress.On(s.Stderr, "searching", "suites")
	err := i.startAll(ctx)
	i.bar.Done()
	if ctx.Err() != nil {
		return &command.ExitError{Code: command.Interrupted, Err: errors.New("interrupted")}
	}
	if err != nil {
		i.problems = append(i.problems, err)
	}
	for _, problem := range i.problems {
		s.Complain(problem)
	}
	switch {
	case len(i.problems) > 0:
		return &command.ExitError{Code: command.Usage}
	case i.written == 0 && len(o.Policies) > 0:
		return &command.ExitError{Code: command.Usage, Err: errors.New("no policy matches a served version of the CRDs, so there is nothing to test")}
	case i.written == 0:
		return &command.ExitError{Code: command.Usage, Err: errors.New("no served version of the CRDs has rules, so there is nothing to test")}
	}
	i.showNext()
	return nil
}

// showNext prints the command that runs the suites, if they refer to files outside of the output
// folder.
func (i *initial) showNext() {
	words, apart := []string{"celadon", "test"}, false
	add := func(paths []string, flags ...string) {
		for _, path := range paths {
			if rel, err := filepath.Rel(i.o.Out, path); path != "-" && (err != nil || !filepath.IsLocal(rel)) {
				words, apart = append(append(words, flags...), path), true
			}
		}
	}
	add(i.o.CRDs, "--crd")
	words = append(words, i.o.Out)
	if add(i.o.Policies); apart && i.o.Out != "" {
		fmt.Fprintln(i.Stderr, untrusted.Line("run the suites with: "+strings.Join(words, " ")))
	}
}

func (i *initial) startAll(ctx context.Context) error {
	if len(i.o.Policies) > 0 {
		if err := i.readPolicies(ctx); i.policies == nil {
			return err
		}
		if i.crds = i.withoutParams(); len(i.crds) == 0 {
			return i.startBuiltin(ctx)
		}
	}
	for _, d := range i.crds {
		if err := i.start(ctx, d); err != nil {
			i.problems = append(i.problems, fmt.Errorf("%s: %w", d.file, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil
}

// withoutParams returns the CRDs without those that only define the params of policies.
func (i *initial) withoutParams() (crds []*definition) {
	for _, d := range i.crds {
		if crd, err := d.decode(); err != nil || !requests.DefinesParams(i.policies.Documents, crd.Definition) {
			crds = append(crds, d)
		}
	}
	return crds
}

type initial struct {
	command.Streams
	o        *InitOptions
	crds     []*definition
	samples  map[string][]map[string]any // by apiVersion and kind
	problems []error
	named    map[string]bool
	bar      *progress.Bar
	written  int
	policies *ruletest.Policies // nil for suites of rules
	missing  []requests.Missing // objects that the policies need and lack
}

func (i *initial) read(ctx context.Context) error {
	var err error
	if i.crds, i.problems, err = readCRDs(ctx, i.Stdin, i.o.CRDs); err != nil {
		return err
	}
	return batch.Each(ctx, batch.Files(i.Stdin, i.o.Samples), func(doc *input.Document) error {
		if doc.Err != nil {
			if !errors.Is(doc.Err, input.ErrNoObject) || slices.Contains(i.o.Samples, doc.File) {
				i.problems = append(i.problems, fmt.Errorf("--from: %s: %w", doc.Location(), doc.Err))
			}
			return nil
		}
		key := fmt.Sprint(doc.Object["apiVersion"], " ", doc.Object["kind"])
		i.samples[key] = append(i.samples[key], doc.Object)
		return nil
	})
}

func (i *initial) start(ctx context.Context, d *definition) error {
	read, err := d.decode()
	if err != nil {
		return err
	}
	e, err := engine.Compile(read.Definition, engine.Config{})
	if e == nil {
		return err
	}
	for _, v := range read.Definition.Spec.Versions {
		if !v.Served {
			continue
		}
		if i.o.Out != "" {
			if err := resource.CheckNames(d.name, v.Name); err != nil {
				return err
			}
		}
		if err := i.suite(ctx, d, read, e, v.Name); err != nil {
			return err
		}
	}
	return nil
}

func (i *initial) suite(ctx context.Context, d *definition, read *ruletest.CRD, e *engine.Engine, version string) error {
	crd, path := read.Definition, i.pathTo(d.file, d.name)
	samples := i.samples[fmt.Sprint(crd.Spec.Group+"/"+version, " ", crd.Spec.Names.Kind)]
	if i.policies != nil {
		s := &ruletest.PolicyStarter{
			Definition: crd, Engine: e, Version: version, CRDPath: path, PolicyPaths: i.policyPaths(),
			Policies: i.policies, Missing: i.missing, Samples: samples, Steps: i.o.Steps,
		}
		return i.writePolicies(ctx, s, d.name+"-"+version+"-policies.testsuite.yaml")
	}
	s := &ruletest.Starter{
		Definition: crd, Engine: e, Version: version, CRDPath: path, Samples: samples,
		Search: analysis.Config{Steps: i.o.Steps, Seed: 1},
	}
	made, err := s.Suite(ctx)
	if err != nil || made == nil {
		return err
	}
	if made.Limited != "" {
		i.problems = append(i.problems, fmt.Errorf("%s: version %s: not all rules have cases: %s", d.file, version, made.Limited))
	}
	summary := fmt.Sprintf("%s: %d with a rejected object, %d of them by this rule alone; %d with an accepted object",
		phrase.Count(made.Rules, "rule"), made.Rejected, made.Alone, made.Accepted)
	return i.write(i.name(d, version), made.Text, summary)
}

// pathTo returns how a suite refers to its CRD: by the path of file relative to the output folder, or
// by name if file has no relative path.
func (i *initial) pathTo(file, name string) string {
	if file == "-" {
		return name
	}
	out, err1 := filepath.Abs(i.o.Out)
	crd, err2 := filepath.Abs(file)
	rel, err3 := filepath.Rel(out, crd)
	if err1 != nil || err2 != nil || err3 != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// name returns the name of a suite's file. Further CRDs of the same name use the name of their own
// file.
func (i *initial) name(d *definition, version string) string {
	name := d.name + "-" + version
	if i.named[name] {
		name = strings.TrimSuffix(filepath.Base(d.file), filepath.Ext(d.file)) + "-" + version
	}
	i.named[name] = true
	return name + ".testsuite.yaml"
}

func (i *initial) write(name string, text []byte, summary string) error {
	i.bar.Add(1)
	i.written++
	if i.o.Out == "" {
		if i.written > 1 {
			_, _ = io.WriteString(i.Stdout, "---\n")
		}
		untrusted.Fprintf(i.Stderr, "%s: %s\n", name, summary)
		_, err := untrusted.NewWriter(i.Stdout).Write(text)
		return err
	}
	if err := outfile.MkdirAll(i.o.Out, 0o755); err != nil {
		return err
	}
	path, err := filename.Join(i.o.Out, name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: the suite exists: remove it, or choose another folder with --out", path)
	}
	if err := outfile.Write(path, text); err != nil {
		return err
	}
	_, err = io.WriteString(i.Stdout, string(untrusted.Sprintf("%s: %s\n", path, summary)))
	return err
}

// readPolicies leaves i.policies nil if all policies lack a binding.
func (i *initial) readPolicies(ctx context.Context) error {
	kinds := namespaced(i.crds)
	read, err := policies.Read(ctx, i.Stdin, i.o.Policies, input.Selection{}, policy.Config{Namespaced: kinds})
	if err != nil {
		return fmt.Errorf("--policy: %w", err)
	}
	definitions := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(i.crds))
	for _, d := range i.crds {
		if crd, err := d.decode(); err == nil {
			definitions = append(definitions, crd.Definition)
		}
	}
	i.problems = slices.Concat(i.problems, read.Problems, read.Unbound)
	if len(read.Unbound) < len(read.Set.Policies()) { // otherwise the problems are reported
		i.policies = policiesIn(read, kinds)
	}
	if i.missing, err = requests.MissingObjects(ctx, read.Documents(), definitions); err != nil {
		return err
	}
	if err := i.choose(ctx, read.Documents()); err != nil {
		return err
	}
	for n := range i.missing {
		hint := "the suite contains an example"
		switch {
		case i.missing[n].Useless:
			hint += ", with which no accepted request was found"
		case i.missing[n].Example == nil:
			hint = "add it to the policies, or its CRD with --crd for an example"
		}
		i.Complain(fmt.Errorf("note: %s: %s", i.missing[n].String(), hint))
	}
	return nil
}

// choose improves the examples of missing objects.
func (i *initial) choose(ctx context.Context, documents []map[string]any) error {
	if i.policies == nil || len(requests.Examples(i.missing)) == 0 {
		return nil
	}
	var targets []requests.Target
	add := func(crd *apiextensionsv1.CustomResourceDefinition, kind requests.BuiltinKind) {
		e, _ := engine.Compile(crd, engine.Config{}) // an error is reported later
		for n := 0; e != nil && n < len(crd.Spec.Versions); n++ {
			version := crd.Spec.Versions[n].Name
			if kind.Versions == nil || kind.Versions[version] != nil {
				targets = append(targets, requests.Target{CRD: crd, Engine: e, Version: version, Builtin: kind.Versions[version], Subresource: kind.Subresource})
			}
		}
	}
	crds := i.withoutParams()
	for _, d := range crds {
		if crd, err := d.decode(); err == nil {
			add(crd.Definition, requests.BuiltinKind{})
		}
	}
	if len(crds) == 0 {
		kinds, err := requests.Builtins(documents, builtins.Alone(), true)
		if err != nil {
			return err
		}
		for _, kind := range kinds {
			add(kind.CRD, kind)
		}
	}
	cfg := requests.Config{Set: i.policies.Set, Documents: documents, User: policyrequest.User("", nil), Seed: 1}
	return requests.Choose(ctx, i.missing, targets, cfg, policy.Config{Namespaced: i.policies.Namespaced})
}

func (i *initial) startBuiltin(ctx context.Context) (err error) {
	s := &ruletest.PolicyStarter{CRDPath: "-", PolicyPaths: i.policyPaths(), Policies: i.policies, Missing: i.missing, Steps: i.o.Steps, Server: builtins.Alone()}
	for _, objects := range i.samples {
		for _, object := range objects {
			apiVersion, _ := object["apiVersion"].(string)
			kind, _ := object["kind"].(string)
			if policyrequest.IsBuiltin(schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()) {
				s.Samples = append(s.Samples, object)
			}
		}
	}
	if s.Builtins, err = requests.Builtins(i.policies.Documents, s.Server, true); err != nil {
		return err
	}
	if len(s.Builtins) == 0 {
		return errors.New("the policies match no built-in kind: use --crd PATH")
	}
	return i.writePolicies(ctx, s, "policies.testsuite.yaml")
}

func (i *initial) policyPaths() []string {
	paths := make([]string, len(i.o.Policies))
	for n, path := range i.o.Policies {
		paths[n] = i.pathTo(path, filepath.ToSlash(path))
	}
	return paths
}

func (i *initial) writePolicies(ctx context.Context, s *ruletest.PolicyStarter, name string) error {
	made, err := s.Suite(ctx)
	if err != nil || made == nil {
		return err
	}
	accepted := "an accepted object"
	if !made.Accepted {
		accepted = "no accepted object"
	}
	summary := fmt.Sprintf("%s; %d of %d validations with a denied object", accepted, made.Denied, made.Validations)
	return i.write(name, made.Text, summary)
}
