package policyvet

type results uint8

const (
	isTrue results = 1 << iota
	isFalse
	isNull  // the root that is null
	isOther // any other value
	isError
	isLiteralNull
	isBool   = isTrue | isFalse
	anything = isBool | isOther
)

type result struct {
	set  results
	text string
	// elem is the result for any element of a list literal.
	elem *result
	// empty is set if the value is the empty string.
	empty bool
	// none is set if the value is an optional without a value.
	none bool
}

var (
	unknown = result{set: anything}
	yes     = result{set: isTrue}
	no      = result{set: isFalse}
)

// value returns the set without errors, and with isNull for both kinds of null.
func (r result) value() results {
	if r.set&isLiteralNull != 0 {
		r.set |= isNull
	}
	return r.set &^ (isError | isLiteralNull)
}

func boolResult(b bool) result {
	if b {
		return yes
	}
	return no
}

func not(v result) result {
	set := v.set & isError
	if v.set&isTrue != 0 {
		set |= isFalse
	}
	if v.set&isFalse != 0 {
		set |= isTrue
	}
	return result{set: set}
}

// and returns the conjunction. If an operand is false, so is the conjunction, even if the other operand fails.
func and(a, b result) (v result) {
	if (a.set|b.set)&isFalse != 0 {
		v.set |= isFalse
	}
	if a.set == isFalse || b.set == isFalse {
		return v
	}
	if a.set&isTrue != 0 && b.set&isTrue != 0 {
		v.set |= isTrue
	}
	v.set |= (a.set | b.set) & isError
	return v
}

func conditional(cond result, then, otherwise func() result) result {
	out := result{set: cond.set & isError}
	switch cond.set & isBool {
	case isTrue:
		v := then()
		v.set |= out.set
		return v
	case isFalse:
		v := otherwise()
		v.set |= out.set
		return v
	case isBool:
		out.set |= then().set | otherwise().set
	}
	return out
}

func equal(a, b result) result {
	out := result{set: (a.set | b.set) & isError}
	a.set, b.set = a.value(), b.value()
	switch {
	case a.set == 0 || b.set == 0:
	case a.set == isNull && b.set == isNull:
		out.set |= isTrue
	case a.set&b.set == 0:
		out.set |= isFalse
	case a.set == b.set && (a.set == isTrue || a.set == isFalse):
		out.set |= isTrue
	case a.text != "" && b.text != "":
		out.set |= boolResult(a.text == b.text).set
	case a.text != "" && b.empty || a.empty && b.text != "":
		out.set |= isFalse
	default:
		out.set |= isBool
	}
	return out
}
