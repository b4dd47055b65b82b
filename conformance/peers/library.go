package main

import (
	"regexp"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/stdlib"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/types"
)

// recorder records the library calls that rules make.
type recorder struct {
	calls []func()
	muted bool
}

// recordedRules holds the rules of a schema node and the nodes below it, as cel-go programs that
// record library calls.
type recordedRules struct {
	decl     *types.Decl
	programs []recordedProgram
	fields   map[string]*recordedRules
	elem     *recordedRules // for list items or map values
}

type recordedProgram struct {
	program       cel.Program
	usesOld       bool
	optional      bool
	functionCalls bool
}

// record plans the rules of a schema node and the nodes below it. It returns nil for a schema
// without rules.
func (r *recorder) record(s *schema.Structural, d *types.Decl) *recordedRules {
	if s == nil || d == nil {
		return nil
	}
	n := &recordedRules{decl: d, fields: map[string]*recordedRules{}}
	for _, rule := range s.XValidations {
		optional := rule.OptionalOldSelf != nil && *rule.OptionalOldSelf
		if p, ok := r.program(d, optional, rule.Rule); ok {
			n.programs = append(n.programs, p)
		}
	}
	for name, prop := range s.Properties {
		if f := d.Fields[name]; f != nil {
			if below := r.record(&prop, f.Decl); below != nil {
				n.fields[name] = below
			}
		}
	}
	n.elem = r.record(s.Items, d.Elem)
	if s.AdditionalProperties != nil {
		n.elem = r.record(s.AdditionalProperties.Structural, d.Elem)
	}
	if len(n.programs) == 0 && len(n.fields) == 0 && n.elem == nil {
		return nil
	}
	return n
}

// program returns a recording program for a rule, and false if the rule makes no library calls.
func (r *recorder) program(d *types.Decl, optional bool, src string) (recordedProgram, bool) {
	newest, err := types.ParseVersion("")
	if err != nil {
		return recordedProgram{}, false
	}
	env, err := celenv.StoredRules(newest).For(d, optional)
	if err != nil {
		return recordedProgram{}, false
	}
	ast, issues := env.Compile(src)
	if issues.Err() != nil {
		return recordedProgram{}, false
	}
	p := recordedProgram{optional: optional}
	for _, ref := range ast.NativeRep().ReferenceMap() {
		p.usesOld = p.usesOld || ref.Name == types.OldSelf
	}
	p.program, err = env.Program(ast, cel.CustomDecoratorV2(func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		call, ok := i.(interpreter.InterpretableCall)
		if !ok || !isLibrary(call) {
			return i, nil
		}
		p.functionCalls = true
		apply := binding(env, call)
		return &recordedCall{call, call.Args(), apply, r}, nil
	}))
	return p, err == nil && p.functionCalls
}

// isLibrary reports whether a call is a library function rather than an operator: any function that
// is not in CEL's standard library, or a standard function that parses a string.
func isLibrary(call interpreter.InterpretableCall) bool {
	switch call.Function() {
	case overloads.Matches, overloads.TypeConvertTimestamp, overloads.TypeConvertDuration:
		return true
	}
	return !standard[call.Function()]
}

var standard = func() map[string]bool {
	names := map[string]bool{"orValue": true, "or": true, "hasValue": true, "value": true, "optional.of": true, "optional.none": true, "optional.ofNonZeroValue": true}
	for _, f := range stdlib.Functions() {
		names[f.Name()] = true
	}
	return names
}()

// recordedCall records a call with its arguments when it is evaluated. cel-go does not recognize it
// as a call, so it cannot optimize it.
type recordedCall struct {
	interpreter.InterpretableV2
	args     []interpreter.InterpretableV2
	apply    func(args []ref.Val)
	recorder *recorder
}

// Exec evaluates the arguments separately, without recording, to obtain their values for the
// recorded call.
func (c *recordedCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	if !c.recorder.muted && c.apply != nil {
		c.recorder.muted = true
		args := make([]ref.Val, len(c.args))
		fails := false
		for i, arg := range c.args {
			args[i] = arg.Exec(frame)
			fails = fails || celtypes.IsUnknownOrError(args[i])
		}
		c.recorder.muted = false
		if !fails {
			c.recorder.calls = append(c.recorder.calls, func() { c.apply(args) })
		}
	}
	return c.InterpretableV2.Exec(frame)
}

// binding returns the function that the environment binds to a call, or nil if it binds no
// function. It compiles constant patterns in advance.
func binding(env *cel.Env, call interpreter.InterpretableCall) func(args []ref.Val) {
	if re := constantPattern(call); re != nil {
		switch call.Function() {
		case overloads.Matches:
			return func(args []ref.Val) { re.MatchString(string(args[0].(celtypes.String))) }
		case "find":
			return func(args []ref.Val) { re.FindString(string(args[0].(celtypes.String))) }
		case "findAll":
			return func(args []ref.Val) { re.FindAllString(string(args[0].(celtypes.String)), -1) }
		}
	}
	bindings, err := env.Functions()[call.Function()].Bindings()
	if err != nil {
		return nil
	}
	var bound *functions.Overload
	for _, b := range bindings {
		if b.Operator == call.OverloadID() || b.Operator == call.Function() && bound == nil {
			bound = b
		}
	}
	switch n := len(call.Args()); {
	case bound == nil:
		return nil
	case n == 1 && bound.Unary != nil:
		return func(args []ref.Val) { bound.Unary(args[0]) }
	case n == 2 && bound.Binary != nil:
		return func(args []ref.Val) { bound.Binary(args[0], args[1]) }
	case bound.Function != nil:
		return func(args []ref.Val) { bound.Function(args...) }
	}
	return nil
}

// constantPattern returns the compiled second argument of a call, or nil if it is not a constant or
// not a valid pattern.
func constantPattern(call interpreter.InterpretableCall) *regexp.Regexp {
	if len(call.Args()) < 2 {
		return nil
	}
	arg, ok := call.Args()[1].(interpreter.InterpretableConst)
	if !ok {
		return nil
	}
	text, ok := arg.Value().(celtypes.String)
	if !ok {
		return nil
	}
	re, _ := regexp.Compile(string(text))
	return re
}

// libraryCalls returns the library calls of the rules for an object.
func (v *version) libraryCalls(obj, old map[string]any) []func() {
	v.recorder.calls = nil
	var correlated *common.CorrelatedObject
	if old != nil {
		correlated = common.NewCorrelatedObject(obj, old, &model.Structural{Structural: v.theirs.schema})
	}
	v.recorded.run(obj, correlated)
	return v.recorder.calls
}

func (n *recordedRules) run(value any, was *common.CorrelatedObject) {
	if n == nil || value == nil {
		return
	}
	var old any
	if was != nil {
		old = was.OldValue
	}
	for _, p := range n.programs {
		if p.usesOld && old == nil && !p.optional {
			continue
		}
		a := eval.BindOld(n.decl, value, old)
		a.SetOptional(p.optional)
		_, _, _ = p.program.Eval(a) // a failing program has also made its calls
	}
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			n.elem.run(item, was.Index(i))
		}
	case map[string]any:
		for name, v := range value {
			below := n.fields[name]
			if below == nil {
				below = n.elem
			}
			below.run(v, was.Key(name))
		}
	}
}
