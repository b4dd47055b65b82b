// Validate validates the objects in a folder against the CRDs in another, as an API server would when
// they are created: validate CRDS OBJECTS. The exit code is 1 if any object is rejected.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: validate CRDS OBJECTS")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	rejected, err := validate(ctx, os.Stdout, os.DirFS(os.Args[1]), os.DirFS(os.Args[2]))
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case rejected > 0:
		os.Exit(1)
	}
}

// validate prints why objects are rejected and returns their number.
func validate(ctx context.Context, out io.Writer, crds, objects fs.FS) (rejected int, err error) {
	all, err := catalog.ReadFS(crds)
	if err != nil {
		return 0, err
	}
	c := catalog.New(catalog.Config{})
	if err := c.Apply(all, nil); err != nil {
		return 0, err
	}
	err = catalog.WalkFS(objects, func(name string, data []byte) error {
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
		for {
			object, err := documents.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			var reasons []string
			if err == nil {
				reasons, err = check(ctx, c, object)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			for _, reason := range reasons {
				fmt.Fprintf(out, "%s: %s\n", name, reason)
			}
			rejected += min(len(reasons), 1)
		}
	})
	return rejected, err
}

// check returns the reasons why an object is rejected.
func check(ctx context.Context, crds *catalog.Catalog, object []byte) ([]string, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(object, &kind); err != nil {
		return nil, err
	}
	e := crds.Engine(kind.GroupVersionKind())
	if e == nil {
		return nil, nil // not a custom resource, or not of these CRDs
	}
	res, err := e.ValidateYAML(ctx, object, nil)
	var undecided *engine.WorkLimitError // a rule needs too much work for any server
	switch {
	case errors.As(err, &undecided):
		return []string{err.Error()}, nil
	case err != nil:
		return nil, err
	case res.Allowed:
		return nil, nil
	}
	return []string{res.Failure.Message}, nil
}
