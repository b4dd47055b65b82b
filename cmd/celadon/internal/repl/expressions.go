package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// An expressionReport is the result of an expression in the format of -o json, which is a published contract.
type expressionReport struct {
	File       string `json:"file"`
	Line       int    `json:"line,omitempty"`
	Path       string `json:"path"`
	Expression string `json:"expression"`
	Device     string `json:"device,omitempty"`
	Object     string `json:"object,omitempty"`
	Policy     string `json:"policy,omitempty"`
	Binding    string `json:"binding,omitempty"`
	Params     string `json:"params,omitempty"`
	Value      any    `json:"value,omitempty"`
	Error      string `json:"error,omitempty"`
}

const maxShown = 1000

func (e *evaluation) expressions(ctx context.Context) error {
	if e.Cluster.On || len(e.Objects) == 0 || e.At != "" || e.Version != "" || e.Inputs.Name != "" {
		return errors.New("--expressions: use it with --object PATH, and without --cluster, --at, --version, and --name")
	}
	documents, err := e.objects(ctx, e.Expressions)
	if err != nil {
		return err
	}
	inputs, err := e.objects(ctx, e.Objects...)
	if err != nil {
		return err
	}
	if hasPolicies(documents) {
		if i := slices.IndexFunc(documents, func(doc *input.Document) bool { return builtin.Input(doc.Object) != "" }); i >= 0 {
			return fmt.Errorf("--expressions: %s: a %s next to policies: use a file of its own", documents[i].Location(), documents[i].Identity().Kind)
		}
		return e.policies(ctx, documents, inputs)
	}
	if e.CRD != "" || e.Old != "" || e.Subresource != "" {
		return errors.New("--crd, --old, and --subresource: use them with --expressions only for policies")
	}
	found, failed, isFalse := false, false, false
	for _, doc := range documents {
		if builtin.Input(doc.Object) == "" {
			continue
		}
		found = true
		for _, in := range inputs {
			results, err := builtin.Evaluate(ctx, doc.Object, in.Object)
			if err != nil {
				return fmt.Errorf("--object: %s: %w", in.Location(), err)
			}
			for i := range results {
				failed, isFalse = failed || results[i].Err != nil, isFalse || results[i].Value == false
				if err := e.printExpression(doc, &results[i]); err != nil {
					return err
				}
			}
		}
	}
	switch {
	case !found:
		return fmt.Errorf("--expressions: %s: no policy, DeviceClass, ResourceClaim, ResourceClaimTemplate, "+
			"AuthenticationConfiguration, or AuthorizationConfiguration", e.Expressions)
	case failed:
		return &command.ExitError{Code: command.Usage}
	case e.ExitStatus && isFalse:
		return &command.ExitError{Code: command.Findings}
	}
	return nil
}

func (e *evaluation) objects(ctx context.Context, paths ...string) (docs []*input.Document, err error) {
	if err := command.CheckPaths(e.given, paths...); err != nil {
		return nil, err
	}
	err = batch.Each(ctx, e.files(paths...), func(doc *input.Document) error {
		docs = append(docs, doc)
		if doc.Err != nil {
			return fmt.Errorf("%s: %w", doc.Location(), doc.Err)
		}
		return nil
	})
	return docs, err
}

func (e *evaluation) printExpression(doc *input.Document, r *builtin.Evaluation) error {
	rep := expressionReport{File: doc.File, Path: r.Path, Expression: r.Expression, Device: r.Device, Value: r.Value}
	rep.Line = doc.Locate([]string{r.Path})[0].Line
	if r.Err != nil {
		rep.Error = r.Err.Error()
	}
	return e.print(&rep)
}

func (e *evaluation) print(rep *expressionReport) error {
	if e.Output == "json" {
		return print.Encoder(untrusted.NewWriter(e.Stdout)).Encode(rep)
	}
	text := fmt.Sprintf("%s:%d: %s", rep.File, rep.Line, rep.Path)
	switch {
	case rep.Device != "":
		text += ": device " + rep.Device
	case rep.Params != "":
		text += ": " + rep.Object + ", params " + rep.Params
	case rep.Object != "":
		text += ": " + rep.Object
	}
	if rep.Error != "" {
		first, _, _ := strings.Cut(rep.Error, "\n")
		text += ": error: " + first
	} else {
		text += ": " + preview.JSON(rep.Value, maxShown)
	}
	_, err := fmt.Fprintln(untrusted.NewWriter(e.Stdout), untrusted.Line(text))
	return err
}
