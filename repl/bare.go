package repl

import (
	"errors"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
)

// How it works: without a CRD, the session's location is nil, and commands that need a path in the
// schema fail. Expressions are then compiled at a bare location, where self is not declared.

// ErrNoCRD is returned for a command or an expression that needs a CRD if none is loaded.
var ErrNoCRD = errors.New("no CRD is loaded: run :load crd FILE")

// here returns the location of expressions: the session's path, or a bare location without a CRD.
func (s *Session) here() *location {
	if s.state.crd != nil {
		return s.state.location
	}
	kube := s.state.kube
	if s.bare[kube] == nil {
		help, err := assist.NewBareContext(s.config(kube))
		if err != nil {
			panic(err) // the version was checked
		}
		compiler, err := access.Compiler(help.Node)
		if err != nil {
			panic(err)
		}
		s.bare[kube] = &location{compiler: compiler, node: help.Node, help: help, root: help.Node.Decl, has: true}
	}
	return s.bare[kube]
}

// withoutCRD returns ErrNoCRD if err is the compile error of an expression that reads self or oldSelf
// and no CRD is loaded. Otherwise, it returns err.
func (s *Session) withoutCRD(err error) error {
	var bad *engine.CompileError
	if s.state.crd != nil || !errors.As(err, &bad) {
		return err
	}
	for _, name := range []string{types.Self, types.OldSelf} {
		if strings.Contains(bad.Detail, "undeclared reference to '"+name+"'") {
			return ErrNoCRD
		}
	}
	return err
}
