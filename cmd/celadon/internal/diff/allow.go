package diff

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/gitrevision"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

// An allowance accepts a breaking or unproved change.
type allowance struct {
	crd, version, path, subject, reason string
	location                            string
	used                                bool
}

const maxAllowances = 1000

// allowances reads the file of --allow. With --base, it reads the file's version at the base, because a
// change must not allow itself. Without --base, the file may not be among the new CRDs.
func allowances(ctx context.Context, o *Options, paths []string) (list []*allowance, err error) {
	if o.Allow == "" {
		return nil, nil
	}
	var docs []*input.Document
	each := func(chunk input.Chunk) bool {
		return chunk.Each(func(doc *input.Document) bool { docs = append(docs, doc); return true })
	}
	if o.Base != "" {
		err = gitrevision.Read(ctx, o.Base, []string{o.Allow}, func(chunk input.Chunk) error { each(chunk); return nil })
		if err == nil && len(docs) == 0 {
			err = fmt.Errorf("the file does not exist at %s", o.Base)
		}
	} else if worktree.Inside(paths[1], o.Allow) {
		err = errors.New("is among the new CRDs: use a file that the change cannot modify")
	} else {
		input.Selection{}.Scan(nil, []string{o.Allow}, func() {}, each)
	}
	for _, doc := range docs {
		if err == nil {
			list, err = allowed(doc, list)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("--allow %s: %w", o.Allow, err)
	}
	return list, nil
}

func allowed(doc *input.Document, list []*allowance) ([]*allowance, error) {
	if doc.Err != nil {
		return nil, doc.Err
	}
	entries, ok := doc.Object["allow"].([]any)
	if !ok || len(doc.Object) != 1 {
		return nil, errors.New("want only a list named allow")
	}
	for i, entry := range entries {
		fields, ok := entry.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("allow[%d]: want crd, path, what, and reason", i)
		}
		a := &allowance{location: fmt.Sprintf("allow[%d]", i)}
		for name, value := range fields {
			to, known := map[string]*string{"crd": &a.crd, "version": &a.version, "path": &a.path, "what": &a.subject, "reason": &a.reason}[name]
			text, isText := value.(string)
			if !known || !isText {
				return nil, fmt.Errorf("allow[%d].%s: want strings for crd, version, path, what, and reason", i, name)
			}
			*to = text
		}
		switch {
		case a.crd == "" || a.subject == "":
			return nil, fmt.Errorf("allow[%d]: want crd and what, as in the report", i)
		case a.reason == "":
			return nil, fmt.Errorf("allow[%d]: want a reason", i)
		}
		if list = append(list, a); len(list) > maxAllowances {
			return nil, fmt.Errorf("more than %d", maxAllowances)
		}
	}
	return list, nil
}

// allow marks the accepted changes of crd.
func allow(list []*allowance, crd *CRD) {
	for _, c := range crd.Changes {
		if !c.Effect.Breaks() && c.Effect != compare.Unknown && !c.unproved() {
			continue
		}
		permits := permitsOf(list, crd.Name, c)
		for _, a := range permits {
			a.used = true
		}
		if len(permits) > 0 {
			c.Allowed = permits[0].reason
		}
	}
}

// permitsOf returns the allowances that cover c in every version, or nil if any version is not covered.
func permitsOf(list []*allowance, crd string, c *Change) (permits []*allowance) {
	for _, version := range append([]string{c.Version}, c.Also...) {
		i := slices.IndexFunc(list, func(a *allowance) bool {
			return a.crd == crd && a.subject == c.Subject && a.path == c.Path && (a.version == "" || a.version == version)
		})
		if i < 0 {
			return nil
		}
		permits = append(permits, list[i])
	}
	return permits
}
