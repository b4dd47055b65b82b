package repl

import (
	"context"
	"errors"

	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// fix sets the bounds that vet advises in the CRD, in all its versions: a server
// refuses it for any of them.
func fix(ctx context.Context, s *Session, _ string) (string, error) {
	st := s.state
	if st.crd == nil {
		return "", errNoCRD
	}
	r, err := vet.VetCRD(ctx, st.crd.def, vet.Config{KubeVersion: st.kube, Limits: s.limits})
	if err != nil {
		return "", err
	}
	text, err := crdedit.Parse(st.crd.doc.Text, st.crd.doc.InList, st.crd.doc.Item)
	if err != nil {
		return "", err
	}
	edited, n, err := text.Follow(r)
	switch {
	case err != nil:
		return "", err
	case n == 0 && stuck(r):
		return "", errors.New("no bounds make the rules fit: :advice says why")
	case n == 0:
		return "nothing to fix\n", nil
	}
	doc, err := st.crd.doc.convert(edited)
	if err != nil {
		return "", err
	}
	c, err := newCRD(doc, st.crd.config)
	if err != nil {
		return "", err
	}
	next := *st
	next.crd = c
	if err := s.commit(&next, next.steps); err != nil {
		return "", err
	}
	answer := printable(table(advised(r), s.Width))
	if stuck(r) {
		answer += "some rules fit with no bounds: :advice says why\n"
	}
	return answer, nil
}

// stuck is true where there are rules that no bounds make fit.
func stuck(r *vet.Report) bool {
	for i := range r.Versions {
		if !r.Versions[i].Mendable {
			return true
		}
	}
	return false
}

// advised are rows of what a report advises to set.
func advised(r *vet.Report) (rows [][]string) {
	for i := range r.Versions {
		v := &r.Versions[i]
		for _, row := range boundRows(v, "", "was") {
			if len(r.Versions) > 1 {
				row = append([]string{v.Name}, row...)
			}
			rows = append(rows, row)
		}
	}
	return rows
}
