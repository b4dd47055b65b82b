package repl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/apply"
)

// If a CRD has the status subresource, a write to the object does not change its status. On a
// create, rules see no status; on an update, they see the old status. A session that evaluates such
// a write adds a note to the reply if an expression or rule reads the status. It can also evaluate
// a write to the status instead (:as status).

const statusName = "status"

// A StatusNote reports that rules do not see the status of the session's object.
type StatusNote struct {
	// Reason describes why they do not. Command is the command that makes rules see the status.
	Reason, Command string
}

func (n *StatusNote) String() string { return n.Reason + "; " + n.Command }

func (c *crd) hasStatus(version string) bool {
	i := c.version(version)
	return i >= 0 && c.def.Spec.Versions[i].Subresources != nil && c.def.Spec.Versions[i].Subresources.Status != nil
}

func (st *state) request() engine.Request { return st.write(st.object.value, st.oldValue()) }

func (st *state) oldValue() map[string]any {
	if st.old == nil {
		return nil
	}
	return st.old.value
}

// write returns the write of an object as the session evaluates it. A write to the status without an old object
// uses the object itself as the old object.
func (st *state) write(object, old map[string]any) engine.Request {
	req := engine.Request{Object: object, OldObject: old, Subresource: st.subresource}
	if old == nil && st.subresource != "" {
		req.OldObject = object
	}
	return req
}

// sent returns a write as the tool that applies the object sends it.
func (st *state) sent(ctx context.Context, req engine.Request) (engine.Request, error) {
	if st.apply.Kind == "" || st.crd.builtins != nil {
		return req, nil
	}
	sent, err := st.crd.writer.Request(ctx, req, st.apply)
	switch {
	case err != nil:
		return req, err
	case sent.Result == nil:
		return sent.Request, nil
	case !sent.Result.Allowed:
		return req, errors.New(sent.Result.Failure.Message)
	}
	req.Object = sent.Result.Object
	return req, nil
}

func (st *state) hiddenStatus() *StatusNote {
	if st.object == nil || st.subresource != "" || st.here() == nil || !st.crd.hasStatus(st.version) {
		return nil
	}
	given, ok := st.object.value[statusName]
	if !ok || reflect.DeepEqual(given, st.object.prepared[statusName]) {
		return nil
	}
	n := &StatusNote{Reason: "the API server drops the object's status on create (the CRD has the status subresource)", Command: "use :as status to evaluate a write of the status"}
	if st.old != nil {
		n.Reason = "the API server keeps the old object's status on update (the CRD has the status subresource)"
	}
	return n
}

// readsStatus reports whether an expression at steps reads the status of the object, alone or as part of self.
func readsStatus(x *expr.Expr, steps []engine.Step) bool {
	if len(steps) > 0 {
		return steps[0].Name == statusName && expr.Mentions(x.AST(), types.Self)
	}
	return len(ast.MatchDescendants(ast.NavigateAST(x.AST().NativeRep()), func(e ast.NavigableExpr) bool {
		if e.Kind() != ast.IdentKind || e.AsIdent() != types.Self {
			return false
		}
		parent, ok := e.Parent()
		return !ok || parent.Kind() != ast.SelectKind || parent.AsSelect().FieldName() == statusName
	})) > 0
}

// noteStatus returns the note on a hidden status if x reads the status. withNote then adds the note to the reply.
func (s *Session) noteStatus(x *expr.Expr, steps []engine.Step) *StatusNote {
	if x == nil || !readsStatus(x, steps) {
		return nil
	}
	return s.statusIsRead()
}

func (s *Session) statusIsRead() *StatusNote {
	n := s.state.hiddenStatus()
	s.readStatus = s.readStatus || n != nil
	return n
}

func (s *Session) withNote(reply Reply) Reply {
	n := s.state.hiddenStatus()
	if s.readStatus && n != nil && !s.statusNoted {
		reply.Text += termwidth.Fold("note: "+n.String()+"\n", s.Width, 2)
		s.statusNoted = true
	}
	s.readStatus = false
	return reply
}

var errWrite = errors.New("want status, object, apply [client|server], or user NAME [GROUP…]")

func writeAs(_ context.Context, s *Session, arg string) (string, error) {
	next := *s.state
	if words := strings.Fields(arg); len(words) > 1 && words[0] == "user" {
		if next.user = words[1:]; words[1] == "-" {
			next.user = nil
		}
		return "", s.commit(&next, next.steps)
	}
	switch arg = strings.Join(strings.Fields(arg), " "); arg {
	case "":
		switch {
		case next.subresource != "":
			return "a write of the status\n", nil
		case next.apply.Kind != "":
			return "kubectl apply of the object (" + string(next.apply.Kind) + ")\n", nil
		case next.old != nil:
			return "an update of the object\n", nil
		}
		return "a create of the object\n", nil
	case statusName:
		next.subresource, next.apply = statusName, apply.Write{}
	case "object":
		next.subresource, next.apply = "", apply.Write{}
	default:
		how, ok := next.applyAs(arg)
		if !ok {
			return "", fmt.Errorf(":as %s: %w", arg, errWrite)
		}
		next.subresource, next.apply = "", how
	}
	s.statusNoted = false
	return "", s.commit(&next, next.steps)
}

// For "apply" alone, applyAs chooses the kind of write from the objects, as celadon check does.
func (st *state) applyAs(arg string) (how apply.Write, ok bool) {
	switch arg {
	case "apply":
		if st.object != nil && st.old != nil {
			how = apply.Choose(st.object.value, st.old.value)
		}
		if how.Kind == "" || how.Unknown {
			how = apply.Write{Kind: apply.Client, Manager: apply.Kubectl}
		}
	case "apply client", "apply server":
		how = apply.Write{Kind: apply.Kind(strings.TrimPrefix(arg, "apply ")), Manager: apply.Kubectl}
	}
	return how, how.Kind != ""
}
