package schema

import (
	"fmt"
	"slices"

	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// in is the location of values in kube-openapi's errors.
const in = "body"

// A report collects the errors of a value. Its checks return the number of passed checks, which determines the errors
// of anyOf and oneOf. The numbers must equal the API server's, including its oddities.
type report struct {
	errs []error
	// thorough is set if the passed checks of valid values must be counted. Otherwise valid values are skipped.
	thorough bool
	bytes    int // total length of the error messages
	*meter
}

// Limits on the errors reported for a value: a list with a million invalid items must not need gigabytes of memory.
const (
	MaxErrors = 10_000
	maxBytes  = 16 << 20
)

// Errors are only dropped together with all later errors, so a full report keeps at least one error.
func (r *report) full() bool { return len(r.errs) >= MaxErrors || r.bytes >= maxBytes }

func (r *report) add(errs ...error) {
	for _, err := range errs {
		if r.full() {
			return
		}
		r.errs = append(r.errs, err)
		r.bytes += len(err.Error())
	}
}

func (r *report) found(err *openapierrors.Validation) bool {
	if err != nil {
		r.add(err)
	}
	return err != nil
}

func (r *report) value(n *node, v any, at *errorPath, was oldValue) (passed int) {
	r.spend(perReported)
	if r.skips(n, v) || r.full() && !r.thorough {
		return 0
	}
	return r.suspect(n, v, at, was)
}

// Without logic in the schema, skips does not check the fields of an object, because deep values would then be
// checked again at each level.
func (r *report) skips(n *node, v any) bool {
	if r.thorough {
		return false
	}
	if _, ok := v.(map[string]any); ok && n.logic == nil {
		return n.free
	}
	return n.valid(v, r.meter)
}

func (r *report) suspect(n *node, v any, at *errorPath, was oldValue) (passed int) {
	start, bytes := len(r.errs), r.bytes
	passed = r.checks(n, v, at, was)
	if len(r.errs) > start && was.known && Same(n, v, was.value) {
		clear(r.errs[start:])
		r.errs, r.bytes = r.errs[:start], bytes
	}
	return passed
}

func (r *report) checks(n *node, v any, at *errorPath, was oldValue) (passed int) {
	if v == nil {
		passed = r.kind(n, v, at)
		r.enum(n, v, at)
		return passed
	}
	passed = 1
	if len(n.types) > 0 || n.format != "" {
		passed += r.kind(n, v, at) + 1
	}
	passed += r.logic(n.logic, v, at) + 1
	switch v := v.(type) {
	case string:
		passed += r.text(n, v, at)
	case int64, float64:
		passed += r.number(n.number, v, at) + 1
	case []any:
		passed += r.array(n, v, at, was) + 1
	}
	r.enum(n, v, at)
	passed++
	if v, ok := v.(map[string]any); ok {
		passed += r.object(n, v, at, was) + 1
	}
	return passed
}

func (r *report) kind(n *node, v any, at *errorPath) (passed int) {
	k := kindOf(v)
	if k == 0 {
		r.add(openapierrors.InvalidType(at.String(), in, n.typeNames(), fmt.Sprintf("%T", v)))
		return 0
	}
	if want, got, bad := n.mistyped(k); bad {
		r.add(openapierrors.InvalidType(at.String(), in, want, got))
		return 0
	}
	return 1
}

func (r *report) enum(n *node, v any, at *errorPath) {
	if n.enum != nil && (v == nil || !n.enum.has(v, r.meter)) {
		r.add(openapierrors.EnumFail(at.String(), in, v, n.enum.values))
	}
}

// Like the API server, text reports at most one error for the string's length and pattern.
func (r *report) text(n *node, s string, at *errorPath) (passed int) {
	t := n.text
	if t == nil {
		t = &text{}
	}
	switch {
	case t.maxLength != nil && t.tooLong(s):
		r.add(openapierrors.TooLong(at.String(), in, *t.maxLength, s))
	case t.minLength != nil && t.tooShort(s):
		r.add(openapierrors.TooShort(at.String(), in, *t.minLength, s))
	case t.pattern != nil && !t.pattern.match(s, r.meter):
		r.add(openapierrors.FailedPattern(at.String(), in, t.pattern.name(), s))
	}
	if t.format == nil {
		return 1
	}
	if !t.formatted(s, r.meter) {
		r.add(openapierrors.InvalidType(at.String(), in, n.format, s))
	}
	return 2
}

func (p *pattern) name() string {
	if p.err != nil {
		return fmt.Sprintf("%s, but pattern is invalid: %s", p.text, p.err)
	}
	return p.text
}

func (r *report) number(c *number, v any, at *errorPath) (passed int) {
	if c == nil {
		return 1
	}
	path := at.String()
	f, ok := v.(float64)
	if !ok {
		f = float64(v.(int64))
	}
	r.inRange(c, v, "Checked", path)
	if m := c.multipleOf; m != nil {
		if r.inRange(c, *m, "MultipleOf", path) {
			r.found(validate.MultipleOfNativeType(path, in, v, *m))
		} else {
			r.found(validate.MultipleOf(path, in, f, *m))
		}
	}
	if m := c.min; m != nil {
		if r.inRange(c, *m, "Minimum boundary", path) {
			r.found(validate.MinimumNativeType(path, in, v, *m, c.exclusiveMin))
		} else {
			r.found(validate.Minimum(path, in, f, *m, c.exclusiveMin))
		}
	}
	if m := c.max; m != nil {
		if r.inRange(c, *m, "Maximum boundary", path) {
			r.found(validate.MaximumNativeType(path, in, v, *m, c.exclusiveMax))
		} else {
			r.found(validate.Maximum(path, in, f, *m, c.exclusiveMax))
		}
	}
	return 1
}

func (r *report) inRange(c *number, v any, subject, path string) bool {
	err := validate.IsValueValidAgainstRange(v, c.typeName, c.format, subject, path)
	if err != nil {
		r.add(err)
	}
	return err == nil
}

func (r *report) array(n *node, items []any, at *errorPath, was oldValue) (passed int) {
	a := n.array
	if a == nil {
		a = &array{}
	}
	if n.items != nil {
		before := was.list(n)
		here := errorPath{up: at, step: item}
		for i, v := range items {
			here.index = i
			passed += r.value(n.items, v, &here, oldItem(before.Get(v)))
		}
	}
	size := int64(len(items))
	if a.min != nil {
		r.found(validate.MinItems(at.String(), in, size, *a.min))
	}
	if a.max != nil {
		r.found(validate.MaxItems(at.String(), in, size, *a.max))
	}
	if a.unique && !unique(items) {
		r.add(openapierrors.DuplicateItems(at.String(), in))
	}
	return passed + 1
}

func (r *report) object(n *node, fields map[string]any, at *errorPath, was oldValue) (passed int) {
	o := n.object
	if o == nil {
		o = &object{}
	}
	size := int64(len(fields))
	if o.min != nil && size < *o.min {
		r.add(openapierrors.TooFewProperties(at.String(), in, *o.min, size))
	}
	if o.max != nil && size > *o.max {
		r.add(openapierrors.TooManyProperties(at.String(), in, *o.max, size))
	}
	here := errorPath{up: at}
	var buffer [16]string
	for _, name := range r.suspects(buffer[:0], n, o, fields) {
		here.name, here.step = name, property
		child, ok := n.properties[name]
		if !ok {
			if o.forbidden {
				r.add(openapierrors.PropertyNotAllowed(at.String(), in, name))
				continue
			}
			child, here.step = n.additional, additional
		}
		passed += r.suspect(child, fields[name], &here, was.field(name, at))
	}
	for _, name := range o.required {
		if _, ok := fields[name]; !ok {
			r.add(openapierrors.Required(at.String()+"."+name, in))
		}
	}
	return passed
}

func (r *report) suspects(names []string, n *node, o *object, fields map[string]any) []string {
	for name, v := range fields {
		child, ok := n.properties[name]
		if !ok {
			child = n.additional
		}
		if !ok && o.forbidden || child != nil && !r.skips(child, v) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
