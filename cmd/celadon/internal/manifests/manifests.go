// Package manifests implements celadon manifests, which prints Kubernetes manifests for running celadon in a cluster.
package manifests

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"text/template"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Options holds the flags of celadon manifests job.
type Options struct {
	CRDs                   []string
	Shards, Parallelism    int
	Name, Namespace, Image string
	Reports                string // name of a PersistentVolumeClaim
}

// Flags adds the flags of celadon manifests job to f.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringArrayVar(&o.CRDs, "crd", nil, "read the CRDs for the cluster's objects from `PATH`: a file, a folder, or - (repeatable)")
	f.IntVar(&o.Shards, "shards", 10, "run `N` shards, one per completion")
	f.IntVar(&o.Parallelism, "parallelism", 5, "run `N` shards at a time")
	f.StringVar(&o.Image, "image", "", "the `IMAGE` of celadon in your registry (required)")
	f.StringVar(&o.Name, "name", "celadon-check", "`NAME` of all resources")
	f.StringVar(&o.Namespace, "namespace", "celadon", "`NAMESPACE` of the resources")
	f.StringVar(&o.Reports, "reports", "celadon-reports", "`NAME` of the PersistentVolumeClaim for the reports")
}

// isImage compiles its pattern when it is called, so that other commands do not spend the time.
func isImage(name string) bool {
	return regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._:/@-]{0,510}$`).MatchString(name)
}

func (o *Options) check() error {
	switch {
	case len(o.CRDs) == 0:
		return errors.New("no CRD given: use --crd PATH with the CRDs to check against (see celadon manifests job --help)")
	case o.Shards < 1 || o.Shards > finding.MaxShards:
		return fmt.Errorf("--shards %d: want 1 to %d", o.Shards, finding.MaxShards)
	case o.Parallelism < 1 || o.Parallelism > finding.MaxShards:
		return fmt.Errorf("--parallelism %d: want 1 to %d", o.Parallelism, finding.MaxShards)
	case o.Image == "":
		return errors.New("no image given: use --image IMAGE, the name under which you pushed a release image")
	case !isImage(o.Image):
		return fmt.Errorf("--image %q: want the name of an image", o.Image)
	}
	for _, n := range []struct{ flag, name string }{{"name", o.Name}, {"namespace", o.Namespace}, {"reports", o.Reports}} {
		if bad := validation.IsDNS1123Label(n.name); len(bad) > 0 {
			return fmt.Errorf("--%s %q: %s", n.flag, n.name, bad[0])
		}
	}
	return nil
}

//go:embed job.yaml
var jobText string

type rule struct {
	Group     string
	Resources []string
}

// Job prints a Job that checks a cluster in N shards, with its permissions.
func Job(ctx context.Context, s command.Streams, o *Options) error {
	if err := o.check(); err != nil {
		return err
	}
	crds, rules, err := o.read(ctx, s)
	if err != nil {
		return err
	}
	manifest, err := template.New("job").Parse(jobText)
	if err != nil {
		return err
	}
	return manifest.Execute(untrusted.NewWriter(s.Stdout), struct {
		*Options
		Rules []rule
		Data  map[string]string
	}{o, rules, crds})
}

// read returns the CRDs as file names and contents for a ConfigMap, and the RBAC rules to list their objects.
func (o *Options) read(ctx context.Context, s command.Streams) (map[string]string, []rule, error) {
	type one struct {
		*resource.Compact
		location string
		text     []byte
	}
	crds, broken, err := resource.All(ctx, s, o.CRDs, func(doc *input.Document) (*one, error) {
		crd, err := resource.DecodeCompact(doc)
		if err != nil || crd == nil {
			return nil, err
		}
		if _, err := cluster.KindOf(crd.ForEngine()); err != nil {
			return nil, err
		}
		text, err := untrusted.YAML(resource.WithoutDescriptions(doc.Object))
		return &one{crd, doc.Location(), text}, err
	})
	if err == nil && broken {
		err = &command.ExitError{Code: command.Usage}
	}
	data, byGroup, size := map[string]string{}, map[string][]string{}, 0
	for _, crd := range crds {
		file := crd.Name + ".yaml"
		if _, twice := data[file]; twice {
			return nil, nil, fmt.Errorf("%s: %s is a duplicate", crd.location, crd.Name)
		}
		if size += len(crd.text); size > maxConfigMap {
			return nil, nil, fmt.Errorf("%s: with it, the CRDs exceed %d KiB, the limit of a ConfigMap: put them into your own image", crd.location, maxConfigMap>>10)
		}
		data[file] = resource.Indent(string(crd.text), "    ")
		byGroup[crd.Spec.Group] = append(byGroup[crd.Spec.Group], crd.Spec.Names.Plural)
	}
	var rules []rule
	for _, group := range slices.Sorted(maps.Keys(byGroup)) {
		rules = append(rules, rule{group, slices.Sorted(slices.Values(byGroup[group]))})
	}
	return data, rules, err
}

// maxConfigMap is the maximum size of the CRDs. A ConfigMap can have 1 MiB and needs the rest for other data.
const maxConfigMap = 1000 << 10
