package repl

import (
	"context"
	"errors"

	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// fix implements :fix. It sets the bounds that vet advises in all versions of the CRD, because a
// server rejects the CRD for any of its versions.
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
		return "", errors.New("no bounds make the rules fit: run :advice for details")
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
		answer += "no bounds make some of the rules fit: run :advice for details\n"
	}
	return answer, nil
}

// stuck reports whether r has rules that exceed their limit whatever the bounds are.
func stuck(r *vet.Report) bool {
	for i := range r.Versions {
		if !r.Versions[i].Fixable {
			return true
		}
	}
	return false
}

// advised returns table rows of the bounds that r advises.
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
